//! Which views stay in sight: a fold over the turns of a conversation.
//!
//! A *view* is an image that a tool returned and could return again. The state after a turn depends
//! on the turns up to it and on nothing else, so a restart or another replica, given the same
//! conversation, retires the same views, and the bytes before them stay the same from turn to turn.
//!
//! Owns the policies and their arithmetic. Must never know a wire, a message or a byte of media:
//! the planner and the simulator run this very code.

mod load;

use serde::{Deserialize, Serialize};

pub use load::{Load, NOTICE, Room, Turn, View};

/// How long views stay in sight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Retention {
    /// As long as re-reading them from the cache is cheaper than the re-write their retiring causes.
    #[default]
    Priced,
    /// Those of this turn and of so many before it.
    Turns(usize),
    /// The newest ones, so many, and at least one.
    Newest(usize),
    /// Until the endpoint takes no more of them.
    All,
}

impl Retention {
    /// The policies by name, as [`Retention::from_name`] reads them.
    pub const NAMES: [&str; 4] = ["priced", "turns(K)", "newest(N)", "all"];

    /// The policy of that name: `priced`, `turns(2)`, `newest(4)` or `all`.
    pub fn from_name(name: &str) -> Option<Self> {
        let number = |of: &str| {
            let inside = name.strip_prefix(of)?.strip_prefix('(')?.strip_suffix(')')?;
            inside.trim().parse().ok()
        };
        match name {
            "priced" => Some(Self::Priced),
            "all" => Some(Self::All),
            _ => number("turns").map(Self::Turns).or_else(|| number("newest").map(Self::Newest)),
        }
    }
}

impl std::fmt::Display for Retention {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Priced => f.write_str("priced"),
            Self::Turns(before) => write!(f, "turns({before})"),
            Self::Newest(most) => write!(f, "newest({most})"),
            Self::All => f.write_str("all"),
        }
    }
}

/// What a token costs, as ratios of the base input price.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    /// Read from the cache.
    pub read: f64,
    /// Written to it.
    pub write: f64,
}

/// How much of the words between retired views weighs on the choice of the moment. Each of them is
/// re-written once per batch however long a batch is, so in an endless session it would be 0; but
/// sessions end. Fitted on 20 to 500 steps with images of 400 to 4,700 tokens under three price
/// lists: see `photic simulate --check`.
const BETWEEN: f64 = 0.35;

/// The fold.
#[derive(Clone, Debug)]
pub struct Keeper {
    policy: Retention,
    /// The newest views that no price retires.
    floor: usize,
    prices: Prices,
    room: Room,
    /// Whether somebody can make images smaller and lighter before they are sent.
    pixels: bool,
    seen: Vec<Seen>,
    /// Views before this one are retired.
    frontier: usize,
    /// Views from here on are too new to be retired.
    fresh: usize,
    /// What re-reading the views between the two has cost since the last retirement.
    held: f64,
    /// What those cost per request.
    idle: u64,
    turns: usize,
    load: Load,
    /// Tokens that are never retired, so far.
    words: u64,
    crowded: bool,
    squeezed: bool,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    view: View,
    turn: usize,
    /// Tokens before it that are never retired.
    words: u64,
}

/// A batch of views that is retired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Retired {
    /// The first of them.
    pub from: usize,
    /// The first after them.
    pub to: usize,
    /// Whether the endpoint's limits asked for it, not the price.
    pub forced: bool,
}

impl Keeper {
    /// Before the first turn.
    pub fn new(policy: Retention, floor: usize, prices: Prices, room: Room) -> Self {
        Self {
            policy,
            floor,
            prices,
            room,
            pixels: false,
            seen: Vec::new(),
            frontier: 0,
            fresh: 0,
            held: 0.0,
            idle: 0,
            turns: 0,
            load: Load::default(),
            words: 0,
            crowded: false,
            squeezed: false,
        }
    }

    /// Prefers smaller and lighter images to fewer.
    #[must_use]
    pub const fn with_pixels(mut self) -> Self {
        self.pixels = true;
        self
    }

    /// Views before this one are retired.
    pub const fn frontier(&self) -> usize {
        self.frontier
    }

    /// What the request of the last turn holds.
    pub const fn load(&self) -> Load {
        self.load
    }

    /// Whether there was ever a crowd: then no image may be large, and none becomes so again.
    pub const fn is_crowded(&self) -> bool {
        self.crowded
    }

    /// Whether the body was ever too heavy: then heavy images are made lighter, and stay so.
    pub const fn is_squeezed(&self) -> bool {
        self.squeezed
    }

    /// Takes in a turn; what is retired in the request that ends it.
    pub fn turn(&mut self, turn: &Turn<'_>) -> Option<Retired> {
        let words_before = self.words;
        let first_new = self.seen.len();
        self.turns += 1;
        self.words += turn.rest.tokens;
        self.load += turn.rest;
        for view in turn.views {
            self.seen.push(Seen { view: *view, turn: self.turns, words: self.words });
            self.load += self.of(self.seen.len() - 1);
        }
        let to = match self.policy {
            Retention::Priced => self.priced(first_new, words_before),
            Retention::Turns(before) => {
                let oldest = self.turns.saturating_sub(before);
                self.seen.partition_point(|seen| seen.turn < oldest)
            }
            Retention::Newest(most) => self.seen.len().saturating_sub(most.max(1)),
            Retention::All => 0,
        };
        // What was made in this turn is what the model asked to see.
        let to = to.min(first_new);
        let before = self.frontier;
        if to > before {
            self.retire(to);
        }
        let chosen = self.frontier;
        if self.pixels {
            self.crowded |= self.is_crowd();
            self.squeezed |= self.is_heavy();
        }
        if self.is_over() {
            self.retire(self.batch().min(first_new));
        }
        (self.frontier > before).then_some(Retired {
            from: before,
            to: self.frontier,
            forced: self.frontier > chosen,
        })
    }

    /// Whether a turn like the last one would retire something.
    pub fn retires_next(&self) -> bool {
        let Some(last) = self.seen.last() else { return false };
        let alike: Vec<View> = self.seen[self.seen.partition_point(|seen| seen.turn < last.turn)..]
            .iter()
            .map(|seen| View { twin: None, ..seen.view })
            .collect();
        self.clone().turn(&Turn { rest: Load::default(), views: &alike }).is_some()
    }

    /// How far the price retires.
    ///
    /// Holding a view costs a read every turn. Retiring a batch costs writing again what stands
    /// behind its first view, once. The cheapest rhythm is the one where the two are equal (the
    /// economic lot size), and it needs no knowledge of when the session ends. One gate is left:
    /// were the session to last as long again as it has, the batch must pay for itself.
    fn priced(&mut self, first_new: usize, words_before: u64) -> usize {
        let fresh = self.seen.len().saturating_sub(self.floor).min(first_new).max(self.frontier);
        self.idle += (self.fresh..fresh).map(|index| self.tokens(index)).sum::<u64>();
        self.fresh = fresh;
        if self.idle == 0 {
            return 0;
        }
        let Prices { read, write } = self.prices;
        let each_turn = read * self.idle as f64;
        self.held += each_turn;
        let (first, last) = (self.seen[self.frontier], self.seen[fresh - 1]);
        let kept = (words_before - last.words.min(words_before)) as f64
            + (fresh..first_new).map(|index| self.tokens(index)).sum::<u64>() as f64;
        let between = (last.words - first.words) as f64;
        let again = write - read;
        let is_time = self.held >= again * (kept + BETWEEN * between);
        let pays = each_turn * self.turns as f64 >= again * (kept + between);
        if is_time && pays { fresh } else { 0 }
    }

    /// How far a limit retires: far enough that the next one is some turns away.
    fn batch(&self) -> usize {
        let count = self.seen.len();
        let spare = self.room.images.map_or(u64::MAX, |most| {
            let others = self.load.images - self.shown();
            most.saturating_sub(others)
        });
        let keep = match self.policy {
            Retention::Priced => self.floor as u64,
            // A batch of half of what fits.
            Retention::All => (spare / 2).min((count - self.frontier) as u64 / 2),
            Retention::Turns(_) | Retention::Newest(_) => return self.frontier,
        };
        // The newest is never given up for what stands beside it.
        count - (keep.min(spare).max(1) as usize).min(count)
    }

    fn retire(&mut self, to: usize) {
        if to <= self.frontier {
            return;
        }
        // Twins of what is retired come into sight, so all of it is counted anew.
        (self.frontier..self.seen.len()).for_each(|index| self.load -= self.of(index));
        let retired = (to - self.frontier) as u64;
        self.frontier = to;
        (self.frontier..self.seen.len()).for_each(|index| self.load += self.of(index));
        self.load.tokens += NOTICE.0 * retired;
        self.load.bytes += NOTICE.1 * retired;
        self.fresh = self.fresh.max(to);
        self.idle = (to..self.fresh).map(|index| self.tokens(index)).sum();
        self.held = 0.0;
    }

    /// Whether a view is a note because the same picture is in sight before it.
    pub fn is_twin(&self, index: usize) -> bool {
        self.seen[index].view.twin.is_some_and(|twin| twin >= self.frontier)
    }

    fn tokens(&self, index: usize) -> u64 {
        if self.is_twin(index) { NOTICE.0 } else { self.seen[index].view.load.tokens }
    }

    fn shown(&self) -> u64 {
        (self.frontier..self.seen.len()).filter(|&index| !self.is_twin(index)).count() as u64
    }

    fn of(&self, index: usize) -> Load {
        if self.is_twin(index) {
            return Load { tokens: NOTICE.0, bytes: NOTICE.1, ..Load::default() };
        }
        self.seen[index].view.load
    }

    fn is_crowd(&self) -> bool {
        self.room.crowd.is_some_and(|most| self.load.crowd > most) && self.load.large > 0
    }

    fn is_heavy(&self) -> bool {
        let saved = if self.squeezed { self.load.spare } else { 0 };
        self.room.bytes.is_some_and(|most| self.load.bytes - saved > most)
    }

    fn is_over(&self) -> bool {
        let over = |most: Option<u64>, is: u64| most.is_some_and(|most| is > most);
        over(self.room.images, self.load.images)
            || over(self.room.image_tokens, self.load.most_image_tokens())
            || over(self.room.tokens, self.load.most_tokens())
            || self.is_heavy()
            || (!self.crowded && self.is_crowd())
    }
}
