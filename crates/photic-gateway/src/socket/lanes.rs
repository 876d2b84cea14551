//! The lanes of a socket. Each has one response at a time, and those that wait for it.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::conversation::{Parent, SocketConversations};
use crate::memory::Share;
use crate::observe::RequestGuard;
use crate::tenant::Admitted;
use crate::turn::FrameTurn;

/// Maximum number of frames of a client that wait for their response.
const MAX_WAITING: usize = 64;

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
    pub(super) item_bytes: u64,
    /// The first rejection that it got, with its status.
    pub(super) rejection: Option<(u16, Bytes)>,
}

/// The lanes of a socket.
#[derive(Debug)]
pub(super) struct Lanes {
    by_name: HashMap<LaneName, Lane>,
    pub(super) conversations: SocketConversations,
    waiting: usize,
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
        Self { by_name: HashMap::new(), conversations, waiting: 0, last: Instant::now() }
    }

    /// Notes that a frame came.
    pub(super) fn touch(&mut self) {
        self.last = Instant::now();
    }

    /// Returns the time since the last frame.
    pub(super) fn idle(&self) -> Duration {
        self.last.elapsed()
    }

    /// Returns `true` if no response runs.
    pub(super) fn is_idle(&self) -> bool {
        self.by_name.is_empty()
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
