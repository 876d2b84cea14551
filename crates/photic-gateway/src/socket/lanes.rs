//! The lanes of a socket. Each has one response at a time, and those that wait for it.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::conversation::{Parent, SocketConversations};
use crate::memory::{Charge, Share};
use crate::observe::RequestGuard;
use crate::tenant::Admitted;
use crate::turn::FrameTurn;

/// Maximum number of frames of a client that wait for their response.
const MAX_WAITING: usize = 64;

/// Maximum number of broken responses whose names are kept.
const MAX_BROKEN: usize = 64;
/// Maximum bytes of the name of a response that is kept.
const MAX_NAME: usize = 256;

/// The name of a lane. The default one has none.
pub(super) type LaneName = Option<String>;

/// A frame that was sent and whose response has not ended.
#[derive(Debug)]
pub(super) struct SentTurn {
    pub(super) guard: Box<RequestGuard>,
    pub(super) admitted: Admitted,
    pub(super) frame: FrameTurn,
    /// The frame as the client sent it.
    pub(super) inbound: Bytes,
    pub(super) parent: Parent,
    /// The name of its response, once that has begun.
    pub(super) response: Option<String>,
    /// The items of the reply.
    pub(super) items: Vec<Bytes>,
    /// The bytes of those items.
    pub(super) items_charge: Charge,
    /// The first rejection that it got, with its status.
    pub(super) rejection: Option<(u16, Bytes)>,
}

impl SentTurn {
    /// Adds an item of the reply. If there is no room for it, none is remembered: a reply without one
    /// of its items is another.
    fn add_item(&mut self, item: &str, has_room: impl FnOnce(u64) -> bool) {
        if matches!(self.parent, Parent::Unknown) {
            return;
        }
        let bytes = item.len() as u64;
        if has_room(self.items_charge.bytes() + bytes) && self.items_charge.try_grow(bytes) {
            self.items.push(Bytes::copy_from_slice(item.as_bytes()));
        } else {
            self.forget();
        }
    }

    /// Makes it a turn whose conversation is not known.
    fn forget(&mut self) {
        self.parent = Parent::Unknown;
        self.items.clear();
        self.items_charge.shrink_to(0);
    }
}

/// The lanes of a socket.
#[derive(Debug)]
pub(super) struct Lanes {
    by_name: HashMap<LaneName, Lane>,
    pub(super) conversations: SocketConversations,
    waiting: usize,
    /// Number of responses that have ended and whose last frame is not written yet.
    ending: usize,
    /// The names of responses that an error ended. Another frame may end them again.
    broken: VecDeque<String>,
    /// The time of the last frame of any side.
    last: Instant,
}

#[derive(Debug, Default)]
struct Lane {
    turns: VecDeque<SentTurn>,
    /// Set while a rejected frame of it is healed.
    is_healing: bool,
}

impl Lanes {
    /// Creates lanes without turns.
    pub(super) fn new(share: &Share) -> Self {
        let conversations = SocketConversations::new(share);
        Self {
            by_name: HashMap::new(),
            conversations,
            waiting: 0,
            ending: 0,
            broken: VecDeque::new(),
            last: Instant::now(),
        }
    }

    /// Notes that a frame came.
    pub(super) fn touch(&mut self) {
        self.last = Instant::now();
    }

    /// Returns the time since the last frame.
    pub(super) fn idle(&self) -> Duration {
        self.last.elapsed()
    }

    /// Returns `true` if no response runs and the last frame of each is written.
    pub(super) fn is_idle(&self) -> bool {
        self.by_name.is_empty() && self.ending == 0
    }

    /// Notes that the last frame of a response is about to be written.
    pub(super) fn begin_ending(&mut self) {
        self.ending += 1;
    }

    /// Notes that such a frame was written, or never will be.
    pub(super) fn end_ending(&mut self) {
        self.ending -= 1;
    }

    /// Returns `true` if a frame may be sent on a lane now.
    pub(super) fn may_send(&self, lane: &LaneName) -> bool {
        self.waiting < MAX_WAITING && !self.by_name.get(lane).is_some_and(|lane| lane.is_healing)
    }

    /// Adds a turn that is about to be sent.
    pub(super) fn send(&mut self, lane: LaneName, turn: SentTurn) {
        let lane = self.by_name.entry(lane).or_default();
        lane.turns.push_back(turn);
        lane.is_healing = false;
        self.waiting += 1;
    }

    /// Returns the turn whose response runs on a lane.
    pub(super) fn running(&mut self, lane: &LaneName) -> Option<&mut SentTurn> {
        self.by_name.get_mut(lane)?.turns.front_mut()
    }

    /// Returns `true` if a frame that ends this response is not about the turn that runs on a lane: the
    /// turn has another response, or an error has ended this one before.
    pub(super) fn is_other(&self, lane: &LaneName, response: &str) -> bool {
        let running = self.by_name.get(lane).and_then(|lane| lane.turns.front());
        let is_named = |turn: &SentTurn| turn.response.as_deref().is_some_and(|id| id != response);
        running.is_some_and(is_named) || self.broken.iter().any(|id| id == response)
    }

    /// Notes that an error ended a response.
    pub(super) fn broke_off(&mut self, turn: &SentTurn) {
        if let Some(response) = turn.response.as_ref().filter(|name| name.len() <= MAX_NAME) {
            self.broken.truncate(MAX_BROKEN - 1);
            self.broken.push_front(response.clone());
        }
    }

    /// Notes that a response gets input beside that of its frame, now or in the frame that continues
    /// it. Neither is remembered.
    pub(super) fn steered(&mut self, response: &str) {
        self.conversations.forget_response(response);
        for turn in self.by_name.values_mut().flat_map(|lane| &mut lane.turns) {
            if turn.response.as_deref() == Some(response) {
                turn.forget();
            }
        }
    }

    /// Adds an item to the response that runs on a lane.
    pub(super) fn add_item(&mut self, lane: &LaneName, item: &str) {
        let Self { by_name, conversations, .. } = self;
        if let Some(turn) = by_name.get_mut(lane).and_then(|lane| lane.turns.front_mut()) {
            turn.add_item(item, |bytes| conversations.has_room(bytes));
        }
    }

    /// Removes the turn whose response runs on a lane.
    pub(super) fn end(&mut self, lane: &LaneName) -> Option<SentTurn> {
        let found = self.by_name.get_mut(lane)?;
        let turn = found.turns.pop_front()?;
        self.waiting -= 1;
        if found.turns.is_empty() {
            self.by_name.remove(lane);
        }
        Some(turn)
    }

    /// Removes a rejected turn to heal it. Returns `None` if that is not possible: it shows no images,
    /// its response has begun, its conversation is not known, or another frame was sent after it.
    pub(super) fn begin_healing(&mut self, lane: &LaneName) -> Option<SentTurn> {
        let found = self.by_name.get_mut(lane)?;
        let turn = found.turns.front()?;
        let is_known = !matches!(turn.parent, Parent::Unknown);
        let may_heal = turn.frame.images() > 0 && turn.response.is_none() && is_known;
        if !may_heal || found.turns.len() > 1 {
            return None;
        }
        found.is_healing = true;
        self.waiting -= 1;
        found.turns.pop_front()
    }

    /// Notes that a turn could not be healed.
    pub(super) fn give_up_healing(&mut self, lane: &LaneName) {
        if let Some(found) = self.by_name.get_mut(lane) {
            found.is_healing = false;
            if found.turns.is_empty() {
                self.by_name.remove(lane);
            }
        }
    }
}
