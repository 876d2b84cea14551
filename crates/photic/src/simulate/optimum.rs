//! The cheapest possible session if its end is known: an exact search over the steps at which views
//! are retired, with ideal marks.
//!
//! Ideal marks let a request read everything that it shares with the previous one, as far as the
//! cache can hold it, and write only what the next one reads. Whenever something is retired,
//! everything that may be is: retiring less at the same place only costs more. Tests compare this,
//! and the search, with every possible schedule.

use super::session::Request;
use super::{Charge, Outcome, Setting};

/// Returns the cheapest session that keeps the newest views live. Ignores limits.
pub fn optimum(setting: &Setting) -> Outcome {
    let edits = schedule(setting);
    let mut outcome = Outcome::default();
    let (mut retired, mut read) = (0, 0);
    for step in 1..=setting.session.steps {
        if edits.binary_search(&step).is_ok() {
            retired = setting.session.retirable(step, setting.floor);
        }
        let request = Request { step, retired };
        let next = Next::of(setting, step, edits.binary_search(&(step + 1)).is_ok());
        let shared = next.shares(setting, request);
        outcome.add(request, charge(setting, request, read, shared), setting);
        read = shared;
    }
    outcome.edits = edits;
    outcome
}

/// The relation of the next request to this one.
#[derive(Clone, Copy)]
enum Next {
    /// It retires something: only what precedes the first live view is the same.
    Departs,
    /// It begins with all of this one.
    Continues,
    /// There is none.
    Ends,
}

impl Next {
    const fn of(setting: &Setting, step: usize, departs: bool) -> Self {
        if step == setting.session.steps {
            Self::Ends
        } else if departs {
            Self::Departs
        } else {
            Self::Continues
        }
    }

    /// Returns the tokens of a request that the next one reads.
    fn shares(self, setting: &Setting, request: Request) -> u64 {
        let session = &setting.session;
        setting.cache.holds(match self {
            Self::Departs => session.tokens_to(session.cut(request), request.retired),
            Self::Continues => session.tokens(request),
            Self::Ends => return 0,
        })
    }
}

/// Returns the charge for a request that reads `read` tokens and shares `shared` tokens with the
/// next one.
fn charge(setting: &Setting, request: Request, read: u64, shared: u64) -> Charge {
    let written = shared.saturating_sub(read);
    Charge { read, written, plain: setting.session.tokens(request) - read - written }
}

/// Returns the steps at which to retire.
///
/// A stretch of requests between two retirements costs the same whatever was before it, except for
/// what its first request reads, and that is a term of its own. So the cheapest path to the start
/// of a stretch can be kept as one number, and the search is over pairs of starts.
fn schedule(setting: &Setting) -> Vec<usize> {
    let steps = setting.session.steps;
    let prices = setting.cache.prices;
    // For each start of a stretch: the cost of the cheapest path to it, and the start before it.
    let mut best: Vec<Option<(f64, usize)>> = vec![None; steps + 2];
    best[1] = Some((0.0, 0));
    for start in 1..=steps {
        let Some((before, _)) = best[start] else { continue };
        let retired = if start == 1 { 0 } else { setting.session.retirable(start, setting.floor) };
        let (mut paid, mut read) = (before, 0);
        for step in start..=steps {
            let request = Request { step, retired };
            let pays = |next: Next| {
                charge(setting, request, read, next.shares(setting, request)).cost(prices)
            };
            let next = Next::of(setting, step, true);
            let after = step + 1;
            let goes = after > steps || setting.session.retirable(after, setting.floor) > retired;
            if goes {
                // The next stretch begins by reading what it shares, instead of paying for it.
                let otherwise = if after == steps { 1.0 } else { prices.write };
                let shared = next.shares(setting, request) as f64;
                let cost = paid + pays(next) - shared * (otherwise - prices.read);
                if best[after].is_none_or(|(least, _)| cost < least) {
                    best[after] = Some((cost, start));
                }
            }
            paid += pays(Next::of(setting, step, false));
            read = Next::Continues.shares(setting, request);
        }
    }
    let mut edits = Vec::new();
    let mut start = best[steps + 1].map_or(0, |(_, start)| start);
    while start > 1 {
        edits.push(start);
        start = best[start].map_or(0, |(_, before)| before);
    }
    edits.reverse();
    edits
}
