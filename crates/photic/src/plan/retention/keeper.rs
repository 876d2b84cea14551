//! Decides turn by turn which views a request retires.

use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;

use super::load::{KeepingCost, Load, MaxLoad, NOTICE, Rank, Turn, View};
use super::over::{Cause, Over};
use super::{Floor, Prices, Retention};

/// The views of a conversation so far, and which of them are retired. Each turn is added with
/// [`Keeper::turn`].
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Keeper {
    pub(super) policy: Retention,
    pub(super) floor: Floor,
    pub(super) prices: Prices,
    room: MaxLoad,
    /// The host's own budget for all tokens. An estimate of ours never retires what a person
    /// attached.
    host_tokens: Option<u64>,
    /// `true` if images can be made smaller and lighter before they are sent.
    pixels: bool,
    pub(super) seen: Vec<Seen>,
    /// The views that the policy may retire.
    pub(super) listed: Vec<usize>,
    /// Later views of identical bytes, by the index of the earlier view.
    twins: BTreeMap<usize, Vec<usize>>,
    /// Every view before this one is retired or attached.
    frontier: usize,
    /// Every attached medium before this one is retired.
    attached: usize,
    /// The window retires nothing before this one any more.
    window: usize,
    pub(super) keeping: KeepingCost,
    pub(super) turns: usize,
    /// The last turn in which something was retired.
    pub(super) edited: usize,
    load: Load,
    /// The loads of the last turns, as many as a retirement should last. The first turn is left
    /// out, because prompts come once.
    brought: VecDeque<Load>,
    /// Tokens so far that are never retired.
    words: u64,
    /// The number of retired media.
    gone: u64,
    crowded: bool,
    squeezed: bool,
    /// `true` if the last turn ended with a limit still exceeded.
    stuck: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) view: View,
    pub(super) turn: usize,
    /// Tokens before it that are never retired.
    pub(super) words: u64,
    /// The reason why it was retired, if it was.
    pub(super) gone: Option<Cause>,
}

/// A batch of views that one turn retired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Retired {
    /// The first view in sight before the batch.
    pub from: usize,
    /// The first view in sight after the batch.
    pub to: usize,
    /// `true` if a limit forced it, at least in part.
    pub forced: bool,
}

impl Keeper {
    /// Creates a keeper before the first turn.
    pub fn new(policy: Retention, floor: Floor, prices: Prices, room: MaxLoad) -> Self {
        Self {
            policy,
            floor,
            prices,
            room,
            host_tokens: None,
            pixels: false,
            seen: Vec::new(),
            listed: Vec::new(),
            twins: BTreeMap::new(),
            frontier: 0,
            attached: 0,
            window: 0,
            keeping: KeepingCost::default(),
            turns: 0,
            edited: 0,
            load: Load::default(),
            brought: VecDeque::new(),
            words: 0,
            gone: 0,
            crowded: false,
            squeezed: false,
            stuck: false,
        }
    }

    /// Prefers smaller and lighter images to fewer images.
    #[must_use]
    pub const fn with_pixels(mut self) -> Self {
        self.pixels = true;
        self
    }

    /// Retires what a person attached if the request holds more than `most` tokens.
    #[must_use]
    pub const fn with_host_tokens(mut self, most: Option<u64>) -> Self {
        self.host_tokens = most;
        self
    }

    /// Returns the first view in sight. Everything before it is retired or attached.
    pub const fn frontier(&self) -> usize {
        self.frontier
    }

    /// Returns the reason why a view was retired, if it was.
    pub fn retired(&self, index: usize) -> Option<Cause> {
        self.seen.get(index)?.gone
    }

    /// Returns `true` if a person attached the medium.
    pub fn is_attached(&self, index: usize) -> bool {
        self.seen.get(index).is_some_and(|seen| seen.view.rank == Rank::Attached)
    }

    /// Returns the load of the request that ended the last turn.
    pub const fn load(&self) -> Load {
        self.load
    }

    /// Returns `true` if there was ever a crowd. From then on, no image may be large.
    pub const fn is_crowded(&self) -> bool {
        self.crowded
    }

    /// Returns `true` if the body was ever too heavy. From then on, heavy images are made lighter.
    pub const fn is_squeezed(&self) -> bool {
        self.squeezed
    }

    /// Adds a turn. Returns the batch that is retired in the request that ends it, if any.
    pub fn turn(&mut self, turn: &Turn<'_>) -> Option<Retired> {
        let words_before = self.words;
        let first_new = self.seen.len();
        self.take_in(turn);
        let before = (self.frontier, self.gone);
        // The policy retires nothing of this turn, because the model just asked to see it.
        let batch = match self.policy {
            Retention::Priced | Retention::All => self.priced(first_new, words_before),
            Retention::Turns(_) | Retention::Newest(_) => self.outside(first_new),
        };
        if !batch.is_empty() {
            self.retire(&batch, Cause::Policy);
            self.settle();
        }
        let chosen = self.gone;
        if self.pixels {
            let over = Over::of(&self.load, &self.room, self.squeezed, false);
            (self.crowded, self.squeezed) =
                (self.crowded || over.crowd, self.squeezed || over.bytes);
        }
        // A turn that brings more than there is room for is dealt with at once. Words that follow
        // change nothing about it.
        let is_settled = self.stuck && turn.views.is_empty();
        if self.floor.interval > 0 && !is_settled && self.over(&self.load).any() {
            self.make_room(first_new);
        }
        self.stuck = self.over(&self.load).any();
        (self.gone > before.1).then_some(Retired {
            from: before.0,
            to: self.frontier,
            forced: self.gone > chosen,
        })
    }

    fn take_in(&mut self, turn: &Turn<'_>) {
        self.turns += 1;
        self.words += turn.rest.tokens;
        self.load += turn.rest;
        let mut brought = turn.rest;
        for view in turn.views {
            let index = self.seen.len();
            if let Some(twin) = view.twin {
                self.twins.entry(twin).or_default().push(index);
            }
            if self.may_retire(view.rank) {
                self.listed.push(index);
            }
            let (turn, words) = (self.turns, self.words);
            self.seen.push(Seen { view: *view, turn, words, gone: None });
            self.load += self.of(index);
            brought += self.of(index);
        }
        if self.turns > 1 && self.floor.interval > 0 {
            self.brought.push_back(brought);
            if self.brought.len() > self.floor.interval {
                self.brought.pop_front();
            }
        }
    }

    /// Returns `true` if another turn like the last one would retire something.
    pub fn retires_next(&self) -> bool {
        let Some(last) = self.seen.last() else { return false };
        let alike: Vec<View> = self.seen[self.seen.partition_point(|seen| seen.turn < last.turn)..]
            .iter()
            .map(|seen| View { twin: None, ..seen.view })
            .collect();
        self.clone().turn(&Turn { rest: Load::default(), views: &alike }).is_some()
    }

    /// Returns `true` if the policy may retire media of this rank.
    const fn may_retire(&self, rank: Rank) -> bool {
        match rank {
            Rank::Reference => true,
            Rank::View => !matches!(self.policy, Retention::All),
            Rank::Limited | Rank::Attached => false,
        }
    }

    /// Returns `true` if a view is in sight and the policy may retire it.
    pub(super) fn is_listed(&self, index: usize) -> bool {
        let seen = &self.seen[index];
        seen.gone.is_none() && self.may_retire(seen.view.rank)
    }

    /// Returns the views that leave the chosen window.
    fn outside(&mut self, first_new: usize) -> Vec<usize> {
        let to = match self.policy {
            Retention::Priced | Retention::All => return Vec::new(),
            Retention::Turns(before) => {
                let oldest = self.turns.saturating_sub(before);
                self.seen.partition_point(|seen| seen.turn < oldest)
            }
            Retention::Newest(most) => {
                let out = self.listed.len().checked_sub(most.max(1));
                out.and_then(|out| self.listed.get(out)).copied().unwrap_or(0)
            }
        };
        let to = to.min(first_new).max(self.window);
        let from = std::mem::replace(&mut self.window, to);
        (from..to).filter(|&index| self.is_listed(index)).collect()
    }

    /// Retires what a limit requires, and enough that the next turns are expected to fit. The
    /// oldest go first, at least half of them; with [`Retention::Priced`], all but the floor.
    fn make_room(&mut self, first_new: usize) {
        let growth = self.growth();
        let cause = self.over(&self.load).cause();
        let is_fit = |keeper: &Self| {
            let mut next = keeper.load;
            next += growth;
            !keeper.over(&next).any()
        };
        let over = self.over_with(growth);
        let helps = |seen: &Seen| {
            seen.gone.is_none()
                && seen.view.rank != Rank::Attached
                && over.is_helped_by(&seen.view.load)
        };
        let live: Vec<usize> =
            (self.frontier..self.seen.len()).filter(|&index| helps(&self.seen[index])).collect();
        let kept = match self.policy {
            Retention::Priced => self.floor.views,
            Retention::All | Retention::Turns(_) | Retention::Newest(_) => live.len() / 2,
        };
        let quota = live.len().saturating_sub(kept);
        // The newest view stays, whatever comes with it.
        let older = live.split_last().map_or(&[][..], |(_, older)| older);
        for (count, &index) in older.iter().enumerate() {
            if index >= first_new || (count >= quota && is_fit(self)) {
                break;
            }
            self.retire(&[index], cause);
        }
        self.shed_attached(first_new);
        self.settle();
    }

    /// Retires what a person attached in earlier turns, as the last resort. Half of it stays,
    /// unless more of the kind keeps coming.
    fn shed_attached(&mut self, first_new: usize) {
        let mut room = self.room;
        room.tokens = self.host_tokens;
        let over =
            |keeper: &Self, load: &Load| Over::of(load, &room, keeper.squeezed, keeper.crowded);
        let now = over(self, &self.load);
        if !now.any() {
            return;
        }
        let from = self.turns.saturating_sub(self.floor.interval).max(1);
        let recent = self.seen.partition_point(|seen| seen.turn <= from);
        let mut attached = Load::default();
        for seen in self.seen[recent..].iter().filter(|seen| seen.view.rank == Rank::Attached) {
            attached += seen.view.load;
        }
        let growth = self.growth();
        let live: Vec<usize> = (self.attached..first_new)
            .filter(|&index| self.is_attached(index) && self.seen[index].gone.is_none())
            .filter(|&index| now.is_helped_by(&self.seen[index].view.load))
            .collect();
        for (count, &index) in live.iter().enumerate() {
            let plus = |more: Load| {
                let mut load = self.load;
                load += more;
                over(self, &load).any()
            };
            let is_needed = plus(attached) || (count < live.len() / 2 && plus(growth));
            if !is_needed {
                break;
            }
            self.retire(&[index], now.cause());
        }
        while self.attached < first_new
            && (!self.is_attached(self.attached) || self.seen[self.attached].gone.is_some())
        {
            self.attached += 1;
        }
    }

    /// Returns the load that the next turns are expected to bring: what the last ones brought.
    pub(super) fn growth(&self) -> Load {
        let mut growth = Load::default();
        for brought in &self.brought {
            growth += *brought;
        }
        growth
    }

    /// Returns the limits that a load exceeds. Ignores the token limit if words alone exceed it,
    /// because retiring views would not help.
    pub(super) fn over(&self, load: &Load) -> Over {
        let mut over = Over::of(load, &self.room, self.squeezed, self.crowded);
        let words = self.words + NOTICE.0 * self.gone;
        over.tokens &= self.room.tokens.is_some_and(|most| words <= most);
        over
    }

    fn over_with(&self, growth: Load) -> Over {
        let mut load = self.load;
        load += growth;
        self.over(&load)
    }

    fn retire(&mut self, batch: &[usize], cause: Cause) {
        for &index in batch {
            self.load -= self.of(index);
            self.load += Load { tokens: NOTICE.0, bytes: NOTICE.1, ..Load::default() };
            // Twins of what is retired come into sight.
            let twins = self.twins.remove(&index).unwrap_or_default();
            let twins: Vec<usize> =
                twins.into_iter().filter(|&twin| self.seen[twin].gone.is_none()).collect();
            for &twin in &twins {
                self.load -= self.of(twin);
            }
            self.seen[index].gone = Some(cause);
            for &twin in &twins {
                self.load += self.of(twin);
            }
        }
        self.gone += batch.len() as u64;
        self.edited = self.turns;
        while self.frontier < self.seen.len()
            && (self.seen[self.frontier].gone.is_some() || self.is_attached(self.frontier))
        {
            self.frontier += 1;
        }
    }

    /// Returns `true` if a view is a note, because an identical picture is in sight before it.
    pub fn is_twin(&self, index: usize) -> bool {
        let seen = &self.seen[index];
        seen.gone.is_none() && seen.view.twin.is_some_and(|twin| self.seen[twin].gone.is_none())
    }

    /// Returns the tokens that a view takes in the request.
    pub(super) fn tokens(&self, index: usize) -> u64 {
        self.of(index).tokens
    }

    /// Returns the load of a view in the request.
    pub(super) fn of(&self, index: usize) -> Load {
        if self.is_twin(index) || self.seen[index].gone.is_some() {
            return Load { tokens: NOTICE.0, bytes: NOTICE.1, ..Load::default() };
        }
        self.seen[index].view.load
    }
}
