//! Where the endpoint's cache should keep a prefix, on wires where a request says so.
//!
//! A mark that stands before the first view in sight is worth most: when that view is retired, all
//! that precedes it is still read from the cache. The ends of this request and of the one before
//! it come next, unless the next turn is expected to change what precedes them.

use super::Choice;
use super::ledger::Ledger;
use crate::profile::Profile;
use crate::survey::Survey;
use crate::transcript::MediaId;

/// What is to be marked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marks {
    /// The first view in sight: what precedes it is worth keeping.
    pub(crate) first_view: MediaId,
    /// Whether this request is: the next one is expected to begin with it.
    pub(crate) tail: bool,
}

/// Chooses what to mark, if anything is worth it.
pub(super) fn places(
    survey: &Survey,
    profile: &Profile,
    now: &Choice,
    ledger: &Ledger,
) -> Option<Marks> {
    // A request that nothing followed may be the only one; below the minimum nothing is kept.
    let goes_on = survey.requests.len() > 1 && ledger.tokens >= profile.cache.min_tokens;
    let mut views = now.views.iter().filter(|&&id| now.fates[id].is_shown());
    let first_view = *views.next().filter(|_| goes_on)?;
    let tail = !profile.cache.marks_tail && !now.keeper.retires_next();
    Some(Marks { first_view, tail })
}
