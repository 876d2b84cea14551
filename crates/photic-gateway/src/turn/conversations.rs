//! The beginnings of conversations, kept for their next turns.
//!
//! Most turns need nothing, and are repeated in every later request. What was read once is compared
//! with the new request byte by byte, and only the rest is read. Each caller has conversations of
//! its own. A conversation that is not found costs time and changes no byte.
//!
//! Bytes are compared and copied while nothing is locked, so that no caller waits for another's.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use photic::{KnownPrefix, LeftOut, ReadRequest, ShortenedBody};

use super::kept_conversations::{Conversation, KeptConversations, Owner};
use super::known_messages::KnownMessages;
use super::read::InboundRequest;
use crate::counter::Counter;
use crate::memory::{Charge, Share, Use};

/// Requests below this size are read whole, which costs little.
const MIN_BYTES: usize = 4 << 10;
/// Requests above this size are read whole: they are mostly media.
const MAX_BYTES: usize = 8 << 20;
/// Maximum number of conversations that a request is compared with, the ones used last first.
const MAX_COMPARED: usize = 32;
/// Maximum number of turns that a conversation loses to a request that goes on without them. Beyond
/// it, the request becomes a conversation of its own.
const MAX_ABANDONED_TURNS: usize = 4;

/// The conversations that are kept.
#[derive(Debug)]
pub(crate) struct Conversations {
    max_bytes: usize,
    kept: Mutex<KeptConversations>,
    continued: Counter,
    read_whole: Counter,
}

/// A conversation that a request goes on with.
#[derive(Debug)]
pub(super) struct Known {
    owner: Owner,
    /// The time at which it was used last. No other conversation has the same.
    used: u64,
    /// The hash of the profile that its requests were planned with.
    pub(super) profile: [u8; 32],
    prefix: Arc<KnownPrefix>,
    /// Set if sessions are recorded.
    pub(super) messages: Option<Arc<KnownMessages>>,
}

impl Known {
    /// Returns the number of bytes at the beginning of a request that were compared.
    pub(super) fn compared(&self, left_out: &LeftOut) -> usize {
        let opening = self.prefix.opening().len();
        // A turn with media before them was not.
        let first = left_out.turns().next().filter(|turns| turns.bytes.start == opening);
        first.map_or(opening, |turns| turns.bytes.end)
    }
}

impl Conversations {
    /// Creates a cache for so many bytes.
    pub(crate) fn new(max_bytes: usize) -> Self {
        let (continued, read_whole) = (Counter::default(), Counter::default());
        Self { max_bytes, kept: Mutex::default(), continued, read_whole }
    }

    /// Returns the number of requests that were read in part, of those that were read whole, and the
    /// kept bytes.
    pub(crate) fn figures(&self) -> (u64, u64, u64) {
        (self.continued.get(), self.read_whole.get(), self.lock().bytes() as u64)
    }

    /// Finds the conversation that a request goes on with: of those that it begins with, the one
    /// that leaves the least to read. Returns the request without its known turns, too, and the
    /// charge for it.
    pub(super) fn find(
        &self,
        inbound: &InboundRequest,
        share: &Share,
    ) -> Option<(ShortenedBody, Known, Charge)> {
        if !self.takes(inbound) {
            return None;
        }
        let body = &*inbound.body.bytes;
        let candidates = self.candidates(inbound, owner(inbound, share)).into_iter();
        let known = candidates.filter_map(|one| Some((one.prefix.left_out_of(body)?, one)));
        // Of several that leave as much, the one that was used last.
        let (left_out, known) = known.min_by_key(|(left_out, _)| body.len() - left_out.bytes())?;
        let mut charge = share.nothing(Use::Bodies);
        let has_room = charge.try_grow((body.len() - left_out.bytes()) as u64);
        has_room.then(|| (left_out.cut_out_of(body), known, charge))
    }

    /// Adds the new turns of a request to its conversation, and returns the end of the last one if
    /// what was `read` of the shortened request holds for the whole one. `messages` are those of the
    /// whole one.
    pub(super) fn extend(
        &self,
        inbound: &InboundRequest,
        (shortened, known): (&ShortenedBody, Known),
        read: &ReadRequest<'_>,
        messages: Option<Arc<KnownMessages>>,
    ) -> Option<usize> {
        let Known { owner, used, profile, mut prefix, .. } = known;
        let is_branch = prefix.abandoned_turns(shortened) > MAX_ABANDONED_TURNS;
        // Taken out while it changes. A request that goes on with it meanwhile is read whole.
        if !is_branch {
            drop(self.lock().remove(&owner, used));
        }
        let is_extended = Arc::make_mut(&mut prefix).extend(&inbound.body.bytes, shortened, read);
        let end = prefix.end();
        let mut kept = self.lock();
        if is_extended {
            let endpoint = inbound.endpoint.index();
            kept.add(owner, Conversation::new(endpoint, profile, prefix, messages));
            kept.make_room(self.max_bytes);
            self.continued.add(1);
        } else {
            // Its next turns have to be read whole, too, and would be read twice.
            kept.remove(&owner, used);
        }
        is_extended.then_some(end)
    }

    /// Keeps the beginning of a request that was read whole. It takes the place of the conversations
    /// that it goes on with. `profile` is the hash of the profile that it was planned with. Returns
    /// the end of its last turn, if it is kept.
    pub(super) fn keep(
        &self,
        inbound: &InboundRequest,
        share: &Share,
        profile: [u8; 32],
        read: &ReadRequest<'_>,
        messages: Option<Arc<KnownMessages>>,
    ) -> Option<usize> {
        if !self.takes(inbound) {
            return None;
        }
        self.read_whole.add(1);
        let prefix = Arc::new(KnownPrefix::of(read)?);
        let end = prefix.end();
        let owner = owner(inbound, share);
        let mut replaced = self.candidates(inbound, owner);
        replaced.retain(|one| one.profile == profile && prefix.begins_with(&one.prefix));
        let mut kept = self.lock();
        for one in replaced {
            kept.remove(&owner, one.used);
        }
        let endpoint = inbound.endpoint.index();
        kept.add(owner, Conversation::new(endpoint, profile, prefix, messages));
        kept.make_room(self.max_bytes);
        Some(end)
    }

    /// Returns the conversations of a caller that a request may go on with, the one used last first.
    fn candidates(&self, inbound: &InboundRequest, owner: Owner) -> Vec<Known> {
        let (endpoint, body) = (inbound.endpoint.index(), &*inbound.body.bytes);
        let kept = self.lock();
        let candidates = kept.of(&owner).filter(|(_, one)| one.may_begin(endpoint, body));
        let known = |(used, one): (u64, &Conversation)| {
            let (profile, prefix) = (one.profile, Arc::clone(&one.prefix));
            Known { owner, used, profile, prefix, messages: one.messages.clone() }
        };
        candidates.take(MAX_COMPARED).map(known).collect()
    }

    /// Returns `true` if a request of this size is looked up and kept.
    fn takes(&self, inbound: &InboundRequest) -> bool {
        self.max_bytes > 0 && (MIN_BYTES..=MAX_BYTES).contains(&inbound.body.bytes.len())
    }

    /// Locks the conversations. A poisoned lock is taken: the worst that is left behind is a count of
    /// bytes that is off.
    fn lock(&self) -> MutexGuard<'_, KeptConversations> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the caller of a request. Callers without a key are told apart by their address.
fn owner(inbound: &InboundRequest, share: &Share) -> Owner {
    (*inbound.identity.digest().as_bytes(), share.caller())
}
