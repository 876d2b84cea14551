//! Chooses the positions of prompt cache breakpoints, on wires where a request states them.
//!
//! A mark before the first view in sight is worth most. When that view is retired, everything
//! before it can still be read from the cache, if the request that retires it marks the position
//! again. Otherwise the cache is read at the end of the previous request. The end of this request
//! is marked for the next one, unless the next one is expected to change what precedes it.

use super::Chosen;
use super::ledger::Ledger;
use crate::profile::Profile;
use crate::survey::Survey;
use crate::transcript::MediaId;

/// The positions to mark.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marks {
    /// The first view in sight. What precedes it is worth keeping.
    pub(crate) first_view: MediaId,
    /// The message of the first view that the previous request had in sight, if it is another view.
    /// The cache still holds what precedes it.
    pub(crate) former: Option<usize>,
    /// `true` to mark the end of this request, because the next one is expected to begin with it.
    pub(crate) tail: bool,
}

/// Chooses the positions to mark. Returns `None` if no mark is worthwhile.
pub(super) fn places(
    survey: &Survey,
    profile: &Profile,
    now: &Chosen,
    before: Option<&Chosen>,
    ledger: &Ledger,
) -> Option<Marks> {
    // The first request may be the only one. Below the minimum the endpoint keeps nothing.
    let goes_on = survey.requests.len() > 1 && ledger.tokens >= profile.cache.min_tokens;
    let first = |choice: &Chosen| {
        let views = choice.views.iter().enumerate();
        let mut views = views.filter(|(index, _)| !choice.keeper.is_attached(*index));
        views.find(|(_, id)| choice.fates[**id].is_shown()).map(|(_, id)| *id)
    };
    let first_view = first(now).filter(|_| goes_on)?;
    let former = before.and_then(first).filter(|&former| former != first_view);
    let former = former.map(|id| survey.sightings[id].message);
    let tail = !profile.cache.marks_tail && !now.keeper.retires_next();
    Some(Marks { first_view, former, tail })
}
