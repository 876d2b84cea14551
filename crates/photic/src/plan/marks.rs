//! Where the endpoint's cache should keep a prefix, on wires where a request says so.
//!
//! A mark that stands before the first view in sight is worth most: when that view is retired, all
//! that precedes it is still read from the cache, if the place is marked again in the request that
//! retires it. Otherwise the end of the request before is where the cache is read, and the end of
//! this one is where the next will read it, unless the next is expected to change what precedes.

use super::Chosen;
use super::ledger::Ledger;
use crate::profile::Profile;
use crate::survey::Survey;
use crate::transcript::MediaId;

/// What is to be marked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marks {
    /// The first view in sight: what precedes it is worth keeping.
    pub(crate) first_view: MediaId,
    /// Where the first view stood that the request before had in sight, if it is another: what
    /// precedes it is what the cache still has.
    pub(crate) former: Option<usize>,
    /// Whether this request is: the next one is expected to begin with it.
    pub(crate) tail: bool,
}

/// Chooses what to mark, if anything is worth it.
pub(super) fn places(
    survey: &Survey,
    profile: &Profile,
    now: &Chosen,
    before: Option<&Chosen>,
    ledger: &Ledger,
) -> Option<Marks> {
    // A request that nothing followed may be the only one; below the minimum nothing is kept.
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
