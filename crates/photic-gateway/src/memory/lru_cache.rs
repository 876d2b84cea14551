//! An LRU cache by hash, bounded in bytes and fair between callers.
//!
//! If it is full, the caller with the most bytes loses its least recently used entry. So a caller
//! that fills the cache evicts its own entries.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The key of an entry. It begins with its owner.
pub(crate) type Key = [u8; 32];

/// The first bytes of a key, which identify the caller that the entry was made for.
type Owner = [u8; 8];

/// Bytes that an entry is charged for beside its value.
pub(crate) const OVERHEAD: usize = 256;

/// Returns the key of a value that is cached for one owner: the digest of the owner, and a hash of
/// the properties that identify the value.
pub(crate) fn key_of(owner: blake3::Hash, mut hashed: blake3::Hasher) -> Key {
    hashed.update(owner.as_bytes());
    let mut key = *hashed.finalize().as_bytes();
    let own = size_of::<Owner>();
    key[..own].copy_from_slice(&owner.as_bytes()[..own]);
    key
}

/// A value whose size is known.
pub(crate) trait Weighed {
    /// Returns the bytes that the value holds.
    fn bytes(&self) -> usize;
}

/// The most recently used values, up to a number of bytes.
#[derive(Debug)]
pub(crate) struct LruCache<V> {
    max_bytes: usize,
    entries: Mutex<Contents<V>>,
}

#[derive(Debug)]
struct Contents<V> {
    entries: BTreeMap<Key, Entry<V>>,
    shares: BTreeMap<Owner, Share>,
    clock: u64,
    bytes: usize,
}

/// The entries of one caller.
#[derive(Debug, Default)]
struct Share {
    /// The keys by the time of their last use.
    order: BTreeMap<u64, Key>,
    bytes: usize,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    asked: u64,
}

impl<V: Weighed + Clone> LruCache<V> {
    /// Creates an empty cache for so many bytes.
    pub(crate) const fn new(max_bytes: usize) -> Self {
        let empty =
            Contents { entries: BTreeMap::new(), shares: BTreeMap::new(), clock: 0, bytes: 0 };
        Self { max_bytes, entries: Mutex::new(empty) }
    }

    /// Returns the value of a key, and marks it as used.
    pub(crate) fn get(&self, key: &Key) -> Option<V> {
        let mut kept = self.lock();
        let kept = &mut *kept;
        let entry = kept.entries.get_mut(key)?;
        kept.clock += 1;
        if let Some(share) = kept.shares.get_mut(&owner(key)) {
            share.order.remove(&entry.asked);
            share.order.insert(kept.clock, *key);
        }
        entry.asked = kept.clock;
        Some(entry.value.clone())
    }

    /// Inserts a value, and evicts others until all fit.
    pub(crate) fn put(&self, key: Key, value: V) {
        let mut kept = self.lock();
        kept.forget(&key);
        kept.clock += 1;
        let (asked, size) = (kept.clock, size(&value));
        kept.bytes += size;
        let share = kept.shares.entry(owner(&key)).or_default();
        share.bytes += size;
        share.order.insert(asked, key);
        kept.entries.insert(key, Entry { value, asked });
        while kept.bytes > self.max_bytes
            && let Some(oldest) = kept.oldest_of_largest_share()
        {
            kept.forget(&oldest);
        }
    }

    /// Removes a value.
    pub(crate) fn remove(&self, key: &Key) {
        self.lock().forget(key);
    }

    /// Returns the bytes of all entries together.
    pub(crate) fn bytes(&self) -> usize {
        self.lock().bytes
    }

    /// Locks the entries. A poisoned lock is taken: every change is complete before it is released.
    fn lock(&self) -> MutexGuard<'_, Contents<V>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<V: Weighed> Contents<V> {
    fn forget(&mut self, key: &Key) {
        let Some(entry) = self.entries.remove(key) else { return };
        let size = size(&entry.value);
        self.bytes -= size;
        if let Some(share) = self.shares.get_mut(&owner(key)) {
            share.order.remove(&entry.asked);
            share.bytes -= size;
            if share.order.is_empty() {
                self.shares.remove(&owner(key));
            }
        }
    }

    /// Returns the least recently used entry of the caller with the most bytes.
    fn oldest_of_largest_share(&self) -> Option<Key> {
        let largest = self.shares.values().max_by_key(|share| share.bytes)?;
        largest.order.first_key_value().map(|(_, key)| *key)
    }
}

fn owner(key: &Key) -> Owner {
    let mut owner = Owner::default();
    owner.copy_from_slice(&key[..size_of::<Owner>()]);
    owner
}

fn size(value: &impl Weighed) -> usize {
    OVERHEAD + value.bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Weighed for &'static str {
        fn bytes(&self) -> usize {
            if *self == "large" { 1000 } else { 0 }
        }
    }

    fn key(owner: u8, number: u8) -> Key {
        let mut key = [number; 32];
        key[..8].fill(owner);
        key
    }

    #[test]
    fn the_least_recently_used_entry_goes_first() {
        let cache = LruCache::new(2 * (1000 + OVERHEAD));
        cache.put(key(0, 1), "large");
        cache.put(key(0, 2), "large");
        assert!(cache.get(&key(0, 1)).is_some());
        cache.put(key(0, 3), "large");
        assert!(cache.get(&key(0, 2)).is_none());
        assert!(cache.get(&key(0, 1)).is_some() && cache.get(&key(0, 3)).is_some());
        cache.put(key(0, 3), "small");
        assert_eq!(cache.lock().bytes, 1000 + 2 * OVERHEAD);
        assert_eq!(cache.get(&key(0, 3)), Some("small"));
    }

    #[test]
    fn a_caller_that_fills_it_evicts_its_own_entries() {
        let cache = LruCache::new(4 * (1000 + OVERHEAD));
        cache.put(key(1, 0), "large");
        for number in 0..100 {
            cache.put(key(2, number), "large");
        }
        assert!(cache.get(&key(1, 0)).is_some());
        assert_eq!(cache.lock().entries.len(), 4);
        cache.remove(&key(1, 0));
        assert_eq!(cache.lock().shares.len(), 1);
    }

    #[test]
    fn callers_have_keys_of_their_own() {
        let of = |owner: blake3::Hash| {
            let mut hasher = blake3::Hasher::new();
            hasher.update(b"what");
            key_of(owner, hasher)
        };
        let (one, other) = (blake3::hash(b"one"), blake3::hash(b"other"));
        assert_eq!(of(one), of(one));
        assert_ne!(owner(&of(one)), owner(&of(other)));
        assert_ne!(of(one)[8..], of(other)[8..]);
    }

    #[test]
    fn what_is_too_large_is_not_kept() {
        let cache = LruCache::new(10);
        cache.put([1; 32], "large");
        assert!(cache.get(&[1; 32]).is_none());
        assert_eq!(cache.lock().bytes, 0);
    }
}
