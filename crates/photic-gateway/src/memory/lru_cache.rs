//! What was made or fetched lately, by hash: bounded in bytes. Every caller has a share: where there
//! is no room, whoever has most gives up what it did not ask for longest.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What it is kept by. It begins with whose it is.
pub(crate) type Key = [u8; 32];

/// What a key begins with.
type Owner = [u8; 8];

/// What an entry takes besides its bytes.
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

/// Something that takes room.
pub(crate) trait Weighed {
    /// How many bytes it holds.
    fn bytes(&self) -> usize;
}

/// Things that were asked for lately.
#[derive(Debug)]
pub(crate) struct LruCache<V> {
    most: usize,
    kept: Mutex<Kept<V>>,
}

#[derive(Debug)]
struct Kept<V> {
    entries: BTreeMap<Key, Entry<V>>,
    shares: BTreeMap<Owner, Share>,
    clock: u64,
    bytes: usize,
}

/// What is kept for one caller.
#[derive(Debug, Default)]
struct Share {
    /// The order in which it was last asked for.
    order: BTreeMap<u64, Key>,
    bytes: usize,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    asked: u64,
}

impl<V: Weighed + Clone> LruCache<V> {
    /// Room for so many bytes.
    pub(crate) const fn new(most: usize) -> Self {
        let kept = Kept { entries: BTreeMap::new(), shares: BTreeMap::new(), clock: 0, bytes: 0 };
        Self { most, kept: Mutex::new(kept) }
    }

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

    /// Keeps it, as far as there is room.
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
        while kept.bytes > self.most
            && let Some(oldest) = kept.oldest_of_most()
        {
            kept.forget(&oldest);
        }
    }

    /// Lets go of it.
    pub(crate) fn remove(&self, key: &Key) {
        self.lock().forget(key);
    }

    /// What everything takes together.
    pub(crate) fn bytes(&self) -> usize {
        self.lock().bytes
    }

    /// Every change is finished before the lock is given up.
    fn lock(&self) -> MutexGuard<'_, Kept<V>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<V: Weighed> Kept<V> {
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

    /// What whoever has most did not ask for longest.
    fn oldest_of_most(&self) -> Option<Key> {
        let most = self.shares.values().max_by_key(|share| share.bytes)?;
        most.order.first_key_value().map(|(_, key)| *key)
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
    fn what_was_not_asked_for_longest_goes_first() {
        let kept = LruCache::new(2 * (1000 + OVERHEAD));
        kept.put(key(0, 1), "large");
        kept.put(key(0, 2), "large");
        assert!(kept.get(&key(0, 1)).is_some());
        kept.put(key(0, 3), "large");
        assert!(kept.get(&key(0, 2)).is_none());
        assert!(kept.get(&key(0, 1)).is_some() && kept.get(&key(0, 3)).is_some());
        kept.put(key(0, 3), "small");
        assert_eq!(kept.lock().bytes, 1000 + 2 * OVERHEAD);
        assert_eq!(kept.get(&key(0, 3)), Some("small"));
    }

    #[test]
    fn whoever_fills_it_pushes_out_its_own() {
        let kept = LruCache::new(4 * (1000 + OVERHEAD));
        kept.put(key(1, 0), "large");
        for number in 0..100 {
            kept.put(key(2, number), "large");
        }
        assert!(kept.get(&key(1, 0)).is_some());
        assert_eq!(kept.lock().entries.len(), 4);
        kept.remove(&key(1, 0));
        assert_eq!(kept.lock().shares.len(), 1);
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
        let kept = LruCache::new(10);
        kept.put([1; 32], "large");
        assert!(kept.get(&[1; 32]).is_none());
        assert_eq!(kept.lock().bytes, 0);
    }
}
