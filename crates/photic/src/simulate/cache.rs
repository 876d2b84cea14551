//! Prompt caches: the tokens that a request reads, writes, and pays in full.

use std::collections::BTreeSet;

use super::session::{BlockPosition, Request, Session};
use crate::profile;
use crate::retention::Prices;

/// The prompt cache of an endpoint. Entries are assumed to outlive the pause between two steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cache {
    /// The prices of its tokens.
    pub prices: Prices,
    /// Minimum length of a prefix that it holds, in tokens.
    pub minimum: u64,
    /// The positions of its entries.
    pub rule: Rule,
}

/// The positions at which a cache has entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// At marks. A read looks for an entry from a mark backwards.
    Marks {
        /// Maximum number of marks in a request.
        most: usize,
        /// Maximum number of blocks a read looks at, including that of the mark.
        lookback: usize,
    },
    /// At the end of every request, and at marks. A read finds the longest entry.
    Tail {
        /// Maximum number of entries that a request may write.
        most: usize,
    },
    /// Everywhere, in whole steps.
    Prefix {
        /// Tokens of a step.
        step: u64,
    },
    /// Nowhere.
    Absent,
}

/// The step in which a cache without marks counts, in tokens.
const STEP: u64 = 128;

impl From<&profile::Cache> for Cache {
    fn from(facts: &profile::Cache) -> Self {
        let rule = match facts.breakpoints.map(|most| most as usize) {
            _ if facts.read >= 1.0 => Rule::Absent,
            Some(most) if facts.marks_tail => Rule::Tail { most },
            Some(most) => {
                let lookback = facts.lookback_blocks.map_or(usize::MAX, |blocks| blocks as usize);
                Rule::Marks { most, lookback }
            }
            None => Rule::Prefix { step: STEP },
        };
        let prices = match rule {
            Rule::Absent => Prices { read: 1.0, write: 1.0 },
            Rule::Marks { .. } | Rule::Tail { .. } | Rule::Prefix { .. } => {
                Prices { read: facts.read, write: facts.write }
            }
        };
        Self { prices, minimum: facts.min_tokens, rule }
    }
}

impl Cache {
    /// Returns how much of a prefix it can hold, in tokens.
    pub(super) fn holds(&self, tokens: u64) -> u64 {
        match self.rule {
            _ if tokens < self.minimum => 0,
            Rule::Marks { .. } | Rule::Tail { .. } => tokens,
            Rule::Prefix { step } => tokens - tokens % step.max(1),
            Rule::Absent => 0,
        }
    }
}

/// Tokens by the price paid for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Charge {
    /// Read from the cache.
    pub read: u64,
    /// Written to it.
    pub written: u64,
    /// Neither.
    pub plain: u64,
}

impl Charge {
    /// Returns the cost in tokens at the base input price.
    pub fn cost(self, prices: Prices) -> f64 {
        self.read as f64 * prices.read + self.written as f64 * prices.write + self.plain as f64
    }
}

/// A cache in the course of one session.
pub(super) struct Till<'s> {
    session: &'s Session,
    cache: Cache,
    /// The entries. Views are retired from the oldest on, so a prefix is identified by its end and
    /// the number of its retired views.
    held: BTreeSet<(BlockPosition, usize)>,
    before: Option<Request>,
}

impl<'s> Till<'s> {
    pub(super) const fn new(session: &'s Session, cache: Cache) -> Self {
        Self { session, cache, held: BTreeSet::new(), before: None }
    }

    /// Returns the charge for a request. `marks` lists the most important ones first.
    pub(super) fn charge(&mut self, request: Request, marks: &[BlockPosition]) -> Charge {
        let charge = match self.cache.rule {
            Rule::Marks { most, lookback } => {
                self.at_marks(request, &marks[..marks.len().min(most)], lookback)
            }
            Rule::Tail { most } => {
                let end = self.session.end(request.step);
                let explicit = marks.iter().copied().filter(|&mark| mark != end);
                let marks: Vec<_> = std::iter::once(end).chain(explicit).take(most).collect();
                self.at_marks(request, &marks, usize::MAX)
            }
            Rule::Prefix { .. } => {
                let shared = self.before.map_or(0, |before| shared(self.session, before, request));
                let read = self.cache.holds(shared);
                Charge { read, written: 0, plain: self.session.tokens(request) - read }
            }
            Rule::Absent => Charge { plain: self.session.tokens(request), ..Charge::default() },
        };
        self.before = Some(request);
        charge
    }

    fn at_marks(&mut self, request: Request, marks: &[BlockPosition], lookback: usize) -> Charge {
        let retired = request.retired;
        let tokens = |place: BlockPosition| self.session.tokens_to(place, retired);
        let marks: Vec<BlockPosition> =
            marks.iter().copied().filter(|&mark| self.cache.holds(tokens(mark)) > 0).collect();
        let read = marks.iter().filter_map(|&mark| self.find(mark, retired, lookback)).max();
        let read = read.map_or(0, tokens);
        let written = marks.iter().max().map_or(0, |&last| tokens(last)) - read;
        let plain = self.session.tokens(request) - read - written;
        self.held.extend(marks.iter().map(|&mark| (mark, retired.min(mark.views))));
        Charge { read, written, plain }
    }

    /// Returns the longest entry that a request with this many views retired finds from a mark.
    fn find(&self, mark: BlockPosition, retired: usize, lookback: usize) -> Option<BlockPosition> {
        self.held
            .range(..=(mark, usize::MAX))
            .rev()
            .take_while(|(place, _)| mark.blocks() - place.blocks() < lookback)
            .find(|(place, inside)| *inside == retired.min(place.views))
            .map(|&(place, _)| place)
    }
}

/// Returns the tokens with which two successive requests begin alike.
fn shared(session: &Session, before: Request, request: Request) -> u64 {
    let departs = request.retired != before.retired;
    let same = if departs { session.cut(before) } else { session.end(before.step) };
    session.tokens_to(same, before.retired)
}
