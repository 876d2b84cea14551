//! Conversations by caller, within a number of bytes.
//!
//! If there is no room, the caller with the most bytes loses the conversation that it used least
//! recently. Every step takes about as long with many conversations as with few.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use photic::KnownPrefix;

use super::known_messages::KnownMessages;
use crate::memory::CallerId;

/// Bytes that a conversation is charged for beside its messages. More than it takes, so that there
/// are never very many.
const OVERHEAD: usize = 4 << 10;

/// A caller: the digest of its identity, and the id that its memory is charged to.
pub(super) type Owner = ([u8; 32], CallerId);

/// The conversations of all callers.
#[derive(Debug, Default)]
pub(super) struct KeptConversations {
    by_owner: BTreeMap<Owner, OwnConversations>,
    /// The callers by the bytes of their conversations.
    by_size: BTreeSet<(usize, Owner)>,
    bytes: usize,
    /// The number of uses so far.
    clock: u64,
}

/// The conversations of one caller.
#[derive(Debug, Default)]
struct OwnConversations {
    /// By the time of their last use.
    by_use: BTreeMap<u64, Conversation>,
    bytes: usize,
}

/// A conversation that is kept.
#[derive(Debug)]
pub(super) struct Conversation {
    /// The API of its requests.
    endpoint: usize,
    /// The hash of the profile that its requests were planned with.
    pub(super) profile: [u8; 32],
    /// The end of its opening, to tell conversations apart without comparing all of it.
    sample: [u8; 16],
    opening: usize,
    pub(super) prefix: Arc<KnownPrefix>,
    /// Set if sessions are recorded.
    pub(super) messages: Option<Arc<KnownMessages>>,
}

impl KeptConversations {
    /// Returns the bytes of all conversations.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the conversations of a caller with the time of their last use, the last one first.
    pub(super) fn of(&self, owner: &Owner) -> impl Iterator<Item = (u64, &Conversation)> {
        let own = self.by_owner.get(owner).into_iter();
        own.flat_map(|own| own.by_use.iter().rev()).map(|(used, one)| (*used, one))
    }

    /// Adds a conversation, as the one used last.
    pub(super) fn add(&mut self, owner: Owner, conversation: Conversation) {
        self.clock += 1;
        let (clock, bytes) = (self.clock, conversation.bytes());
        self.change(owner, |own| {
            own.by_use.insert(clock, conversation);
            own.bytes += bytes;
        });
    }

    /// Removes the conversation that was used last at a time.
    pub(super) fn remove(&mut self, owner: &Owner, used: u64) -> Option<Conversation> {
        self.change(*owner, |own| {
            let removed = own.by_use.remove(&used)?;
            own.bytes -= removed.bytes();
            Some(removed)
        })
    }

    /// Drops conversations until all fit.
    pub(super) fn make_room(&mut self, max_bytes: usize) {
        while self.bytes > max_bytes {
            let Some(&(_, owner)) = self.by_size.last() else { return };
            self.change(owner, |own| {
                let dropped = own.by_use.pop_first();
                own.bytes -= dropped.map_or(own.bytes, |(_, one)| one.bytes());
            });
        }
    }

    /// Changes the conversations of a caller, and the sums with them.
    fn change<T>(&mut self, owner: Owner, change: impl FnOnce(&mut OwnConversations) -> T) -> T {
        let own = self.by_owner.entry(owner).or_default();
        let before = own.bytes;
        let result = change(own);
        let after = own.bytes;
        self.by_size.remove(&(before, owner));
        if own.by_use.is_empty() {
            self.by_owner.remove(&owner);
        } else {
            self.by_size.insert((after, owner));
        }
        self.bytes = self.bytes - before + after;
        result
    }
}

impl Conversation {
    pub(super) fn new(
        endpoint: usize,
        profile: [u8; 32],
        prefix: Arc<KnownPrefix>,
        messages: Option<Arc<KnownMessages>>,
    ) -> Self {
        let opening = prefix.opening();
        let sample = opening.last_chunk().copied().unwrap_or_default();
        Self { endpoint, profile, sample, opening: opening.len(), prefix, messages }
    }

    /// Returns `false` if a request to an API certainly does not go on with it.
    pub(super) fn may_begin(&self, endpoint: usize, body: &[u8]) -> bool {
        let sample = body.get(..self.opening).and_then(<[u8]>::last_chunk);
        self.endpoint == endpoint && sample == Some(&self.sample)
    }

    fn bytes(&self) -> usize {
        let messages = self.messages.as_ref().map_or(0, |messages| messages.bytes());
        OVERHEAD + self.prefix.bytes() + messages
    }
}

#[cfg(test)]
mod tests {
    use photic::{Policy, Profile, ReadRequest, Wire};

    use super::*;
    use crate::memory::CallerIds;

    /// Returns a conversation with an opening of its own and about so many bytes.
    fn conversation(opening: usize, bytes: usize) -> Conversation {
        let body = format!(
            r#"{{"messages":[{{"role":"user","content":"{opening}"}},{{"role":"assistant","content":"{}"}},{{"role":"user","content":"?"}}]}}"#,
            "w".repeat(bytes)
        );
        let (profile, policy) = (Profile::generic(Wire::OpenAiChat), Policy::default());
        let (transcript, findings) = photic::lift(Wire::OpenAiChat, body.as_bytes());
        let plan = photic::plan(photic::survey(&transcript), &profile, &policy);
        let (transcript, findings, plan) = (&transcript, &*findings, &plan);
        let lowered = &photic::lower(transcript, plan);
        let read = ReadRequest { transcript, findings, policy: &policy, plan, lowered };
        let prefix = KnownPrefix::of(&read).unwrap();
        Conversation::new(0, [0; 32], Arc::new(prefix), None)
    }

    #[test]
    fn the_caller_with_the_most_bytes_loses_what_it_used_least_recently() {
        let ids = CallerIds::default();
        let [one, other] = [1, 2].map(|number| ([number; 32], ids.of(number)));
        let mut kept = KeptConversations::default();
        for opening in 0..4 {
            kept.add(one, conversation(opening, 8000));
        }
        kept.add(other, conversation(9, 8000));
        let newest: Vec<u64> = kept.of(&one).map(|(used, _)| used).collect();
        assert_eq!(newest, [4, 3, 2, 1]);
        let bytes = kept.bytes();
        kept.make_room(bytes);
        assert_eq!(kept.bytes(), bytes);
        kept.make_room(bytes / 5 * 3);
        assert_eq!(kept.of(&one).map(|(used, _)| used).collect::<Vec<_>>(), [4, 3]);
        assert_eq!(kept.of(&other).count(), 1);
        // A conversation that goes on is the newest one.
        let third = kept.remove(&one, 3).unwrap();
        assert!(kept.remove(&one, 3).is_none());
        kept.add(one, third);
        assert_eq!(kept.of(&one).map(|(used, _)| used).collect::<Vec<_>>(), [6, 4]);
        kept.make_room(0);
        assert_eq!((kept.bytes(), kept.by_owner.len(), kept.by_size.len()), (0, 0, 0));
    }
}
