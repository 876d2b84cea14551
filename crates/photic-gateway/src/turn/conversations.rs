//! The beginnings of conversations that were sent as they came, kept for their next turns.
//!
//! Most turns of a session of words need nothing, and repeat all turns before them. What was read
//! once is compared with the new request byte by byte, and only the rest is read. Each caller has
//! conversations of its own. If there is no room, the caller with the most bytes loses the
//! conversation that it used least recently. A conversation that is not found costs time and
//! changes no byte.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use photic::{CleanPrefix, Finding, ShortenedBody};

use super::lower::LoweredRequest;
use super::read::InboundRequest;
use crate::counter::Counter;

/// Requests below this size are read whole, which costs little.
const MIN_BYTES: usize = 4 << 10;
/// Requests above this size are read whole: they are mostly media.
const MAX_BYTES: usize = 8 << 20;
/// Bytes that a conversation is charged for beside its messages.
const OVERHEAD: usize = 512;
/// Maximum number of turns that a conversation loses to a request that goes on without them. Beyond
/// it, the request becomes a conversation of its own.
const MAX_ABANDONED_TURNS: usize = 4;

/// The digest of a caller.
type Owner = [u8; 32];

/// The conversations that are kept.
#[derive(Debug)]
pub(crate) struct Conversations {
    max_bytes: usize,
    kept: Mutex<KeptConversations>,
    continued: Counter,
    read_whole: Counter,
}

#[derive(Debug, Default)]
struct KeptConversations {
    by_owner: BTreeMap<Owner, Owned>,
    bytes: usize,
    /// The number of uses so far.
    clock: u64,
}

/// The conversations of one caller.
#[derive(Debug, Default)]
struct Owned {
    list: Vec<Conversation>,
    bytes: usize,
}

#[derive(Debug)]
struct Conversation {
    /// The number that identifies it.
    id: u64,
    /// The time at which it was found or kept last.
    used: u64,
    /// The API of its requests.
    endpoint: usize,
    /// The hash of the profile that its requests were planned with.
    profile: [u8; 32],
    /// The end of its opening, to tell conversations apart without comparing all of it.
    sample: [u8; 16],
    opening: usize,
    prefix: CleanPrefix,
}

/// A known beginning of a request.
#[derive(Debug)]
pub(super) struct Found {
    /// The request without its known messages.
    pub(super) shortened: ShortenedBody,
    /// The conversation.
    id: u64,
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
        (self.continued.get(), self.read_whole.get(), self.lock().bytes as u64)
    }

    /// Finds the conversation that a request goes on with: of those that it begins with, the one
    /// that leaves the least to read.
    pub(super) fn find(&self, inbound: &InboundRequest) -> Option<Found> {
        if !self.takes(inbound) {
            return None;
        }
        let (endpoint, body) = (inbound.endpoint.index(), &*inbound.body.bytes);
        let mut kept = self.lock();
        let clock = kept.tick();
        let owned = kept.by_owner.get_mut(&owner(inbound))?;
        let candidates = owned.list.iter_mut().filter(|one| one.may_begin(endpoint, body));
        let shortened = candidates.filter_map(|one| {
            let shortened = one.prefix.shorten(body)?;
            Some((one, shortened))
        });
        let (conversation, shortened) = shortened.min_by_key(|(_, short)| short.body.len())?;
        conversation.used = clock;
        Some(Found { shortened, id: conversation.id })
    }

    /// Adds the new messages of a request to its conversation, and returns `true` if the request as
    /// a whole is sent as it came. `lowered` and `findings` are those of the shortened request.
    pub(super) fn extend(
        &self,
        inbound: &InboundRequest,
        found: &Found,
        lowered: &LoweredRequest<'_, '_>,
        findings: &[Finding],
    ) -> bool {
        let prepared = lowered.prepared;
        let profile = prepared.target.profile.fingerprint;
        let extend = |prefix: &mut CleanPrefix| {
            prefix.extend(
                &inbound.body.bytes,
                &found.shortened,
                &prepared.transcript,
                findings,
                &prepared.plan,
                &lowered.lowered,
            )
        };
        let owner = owner(inbound);
        let mut kept = self.lock();
        let is_extended = kept.extend(owner, found, profile, extend);
        if is_extended {
            self.continued.add(1);
            kept.make_room(self.max_bytes);
        } else {
            // Its next turns need something, too, and would be read twice.
            kept.forget(&owner, found.id);
        }
        is_extended
    }

    /// Keeps the beginning of a request that was read whole, if it is sent as it came.
    pub(super) fn keep(
        &self,
        inbound: &InboundRequest,
        lowered: &LoweredRequest<'_, '_>,
        findings: &[Finding],
    ) {
        if !self.takes(inbound) {
            return;
        }
        self.read_whole.add(1);
        let prepared = lowered.prepared;
        let (transcript, plan) = (&prepared.transcript, &prepared.plan);
        let prefix = CleanPrefix::of(transcript, findings, plan, &lowered.lowered);
        let Some(prefix) = prefix else { return };
        let profile = prepared.target.profile.fingerprint;
        let mut kept = self.lock();
        let clock = kept.tick();
        let conversation = Conversation::new(clock, inbound.endpoint.index(), profile, prefix);
        kept.add(owner(inbound), conversation);
        kept.make_room(self.max_bytes);
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

impl KeptConversations {
    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// Extends the prefix of the conversation that was found, if its requests were planned with this
    /// profile. A branch that lacks more than a few turns is kept beside the conversation.
    fn extend(
        &mut self,
        owner: Owner,
        found: &Found,
        profile: [u8; 32],
        extend: impl FnOnce(&mut CleanPrefix) -> bool,
    ) -> bool {
        let clock = self.tick();
        let Some(owned) = self.by_owner.get_mut(&owner) else { return false };
        let is_found = |one: &&mut Conversation| one.id == found.id && one.profile == profile;
        let Some(conversation) = owned.list.iter_mut().find(is_found) else { return false };
        if conversation.prefix.abandoned_turns(&found.shortened) > MAX_ABANDONED_TURNS {
            let (endpoint, mut prefix) = (conversation.endpoint, conversation.prefix.clone());
            let is_extended = extend(&mut prefix);
            if is_extended {
                self.add(owner, Conversation::new(clock, endpoint, profile, prefix));
            }
            return is_extended;
        }
        let before = conversation.bytes();
        let is_extended = extend(&mut conversation.prefix);
        let after = conversation.bytes();
        owned.bytes = owned.bytes - before + after;
        self.bytes = self.bytes - before + after;
        is_extended
    }

    /// Adds a conversation in the place of those that it goes on with.
    fn add(&mut self, owner: Owner, conversation: Conversation) {
        let owned = self.by_owner.entry(owner).or_default();
        let before = owned.bytes;
        owned.list.retain(|one| {
            let is_beginning = one.endpoint == conversation.endpoint
                && one.opening == conversation.opening
                && conversation.prefix.begins_with(&one.prefix);
            owned.bytes -= if is_beginning { one.bytes() } else { 0 };
            !is_beginning
        });
        owned.bytes += conversation.bytes();
        owned.list.push(conversation);
        self.bytes = self.bytes - before + owned.bytes;
    }

    /// Drops a conversation.
    fn forget(&mut self, owner: &Owner, id: u64) {
        let Some(owned) = self.by_owner.get_mut(owner) else { return };
        let Some(at) = owned.list.iter().position(|one| one.id == id) else { return };
        let bytes = owned.list.swap_remove(at).bytes();
        owned.bytes -= bytes;
        self.bytes -= bytes;
        if owned.list.is_empty() {
            self.by_owner.remove(owner);
        }
    }

    /// Drops conversations until all fit.
    fn make_room(&mut self, max_bytes: usize) {
        while self.bytes > max_bytes {
            let largest = self.by_owner.iter().max_by_key(|(_, owned)| owned.bytes);
            let Some((owner, owned)) = largest else { return };
            let Some(oldest) = owned.list.iter().min_by_key(|one| one.used) else { return };
            let (owner, id) = (*owner, oldest.id);
            self.forget(&owner, id);
        }
    }
}

impl Conversation {
    fn new(clock: u64, endpoint: usize, profile: [u8; 32], prefix: CleanPrefix) -> Self {
        let opening = prefix.opening();
        let mut sample = [0; 16];
        if let Some(last) = opening.last_chunk() {
            sample = *last;
        }
        Self { id: clock, used: clock, endpoint, profile, sample, opening: opening.len(), prefix }
    }

    /// Returns `false` if a request certainly does not go on with it.
    fn may_begin(&self, endpoint: usize, body: &[u8]) -> bool {
        let sample = body.get(..self.opening).and_then(|opening| opening.last_chunk());
        self.endpoint == endpoint && sample == Some(&self.sample)
    }

    fn bytes(&self) -> usize {
        OVERHEAD + self.prefix.bytes()
    }
}

fn owner(inbound: &InboundRequest) -> Owner {
    *inbound.identity.digest().as_bytes()
}
