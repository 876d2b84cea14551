//! Cache of what this replica wrote, which saves queries.
//!
//! Nothing relies on it: statements check cached facts, or a wrong one is harmless. It is bounded,
//! and unused entries are dropped.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use photic_store::BlobId;
use photic_store::record::{Chain, SessionId};

/// Largest number of recent sessions and segments.
const SESSIONS: usize = 4096;
const PIECES: usize = 16_384;
/// Largest number of cached blobs per session.
const BLOBS: usize = 4096;

/// Name of a segment that several turns may share.
pub(super) type PieceName = [u8; 32];

/// Cached facts about a session.
#[derive(Clone, Debug, Default)]
struct Session {
    end: Option<LastMessage>,
    holds: BTreeSet<BlobId>,
}

/// The last message that was written to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LastMessage {
    pub(super) chain: Chain,
    /// Its number, which equals the number of messages.
    pub(super) number: i64,
}

/// The cache of a replica.
#[derive(Debug, Default)]
pub(super) struct WriteCache {
    sessions: Mutex<GenerationCache<SessionId, Session>>,
    pieces: Mutex<GenerationCache<(i32, i64, PieceName), ()>>,
}

impl WriteCache {
    pub(super) fn end(&self, id: &SessionId) -> Option<LastMessage> {
        lock(&self.sessions).get(id)?.end
    }

    /// Records the last message of a session, or that it is unknown.
    pub(super) fn set_end(&self, id: &SessionId, end: Option<LastMessage>) {
        lock(&self.sessions).entry(id, SESSIONS).end = end;
    }

    /// Returns which of these blobs the session is known to refer to.
    pub(super) fn held(&self, id: &SessionId, blobs: &BTreeSet<BlobId>) -> BTreeSet<BlobId> {
        match lock(&self.sessions).get(id) {
            Some(session) => blobs.intersection(&session.holds).copied().collect(),
            None => BTreeSet::new(),
        }
    }

    pub(super) fn hold(&self, id: &SessionId, blobs: impl IntoIterator<Item = BlobId>) {
        let mut sessions = lock(&self.sessions);
        let holds = &mut sessions.entry(id, SESSIONS).holds;
        if holds.len() > BLOBS {
            holds.clear();
        }
        holds.extend(blobs);
    }

    pub(super) fn has_piece(&self, day: i32, owner: i64, name: &PieceName) -> bool {
        lock(&self.pieces).get(&(day, owner, *name)).is_some()
    }

    pub(super) fn forget_pieces(&self, day: i32, owner: i64, names: &[PieceName]) {
        let mut pieces = lock(&self.pieces);
        for name in names {
            pieces.remove(&(day, owner, *name));
        }
    }

    pub(super) fn add_pieces(&self, day: i32, owner: i64, names: &[PieceName]) {
        let mut pieces = lock(&self.pieces);
        for name in names {
            pieces.entry(&(day, owner, *name), PIECES);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A map that keeps recently used entries. When the young generation is full, it becomes the old
/// one, and the old one is dropped.
#[derive(Debug)]
struct GenerationCache<K, V> {
    young: BTreeMap<K, V>,
    old: BTreeMap<K, V>,
}

impl<K, V> Default for GenerationCache<K, V> {
    fn default() -> Self {
        Self { young: BTreeMap::new(), old: BTreeMap::new() }
    }
}

impl<K: Ord + Clone, V: Default> GenerationCache<K, V> {
    fn get(&self, key: &K) -> Option<&V> {
        self.young.get(key).or_else(|| self.old.get(key))
    }

    fn remove(&mut self, key: &K) {
        self.young.remove(key);
        self.old.remove(key);
    }

    /// Returns an entry for changes and makes it young.
    fn entry(&mut self, key: &K, most: usize) -> &mut V {
        if self.young.len() >= most && !self.young.contains_key(key) {
            self.old = std::mem::take(&mut self.young);
        }
        let old = self.old.remove(key).unwrap_or_default();
        self.young.entry(key.clone()).or_insert(old)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_lately_stays_and_there_is_never_much() {
        let mut recent: GenerationCache<u32, u32> = GenerationCache::default();
        for key in 0..1000 {
            *recent.entry(&key, 10) = key;
            *recent.entry(&7, 10) += 1;
            assert!(recent.young.len() + recent.old.len() <= 20);
        }
        assert!(recent.get(&7).is_some_and(|count| *count > 900));
        assert_eq!((recent.get(&999), recent.get(&1)), (Some(&999), None));
    }
}
