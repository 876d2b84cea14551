//! What was made or fetched lately, by hash: bounded in bytes, and what was not asked for longest
//! goes first.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What it is kept by.
pub(crate) type Key = [u8; 32];

/// What an entry takes besides its bytes.
pub(crate) const OVERHEAD: usize = 256;

/// Something that takes room.
pub(crate) trait Weighed {
    /// How many bytes it holds.
    fn bytes(&self) -> usize;
}

/// Things that were asked for lately.
#[derive(Debug)]
pub(crate) struct Recent<V> {
    most: usize,
    kept: Mutex<Kept<V>>,
}

#[derive(Debug)]
struct Kept<V> {
    entries: BTreeMap<Key, Entry<V>>,
    /// The order in which they were last asked for.
    order: BTreeMap<u64, Key>,
    clock: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    asked: u64,
}

impl<V: Weighed + Clone> Recent<V> {
    /// Room for so many bytes.
    pub(crate) const fn new(most: usize) -> Self {
        let kept = Kept { entries: BTreeMap::new(), order: BTreeMap::new(), clock: 0, bytes: 0 };
        Self { most, kept: Mutex::new(kept) }
    }

    pub(crate) fn get(&self, key: &Key) -> Option<V> {
        let mut kept = self.lock();
        let kept = &mut *kept;
        let entry = kept.entries.get_mut(key)?;
        kept.clock += 1;
        kept.order.remove(&entry.asked);
        entry.asked = kept.clock;
        kept.order.insert(entry.asked, *key);
        Some(entry.value.clone())
    }

    /// Keeps it, as far as there is room.
    pub(crate) fn put(&self, key: Key, value: V) {
        let mut kept = self.lock();
        kept.forget(&key);
        kept.clock += 1;
        let asked = kept.clock;
        kept.bytes += size(&value);
        kept.entries.insert(key, Entry { value, asked });
        kept.order.insert(asked, key);
        while kept.bytes > self.most
            && let Some(oldest) = kept.order.first_key_value().map(|(_, key)| *key)
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
        if let Some(entry) = self.entries.remove(key) {
            self.order.remove(&entry.asked);
            self.bytes -= size(&entry.value);
        }
    }
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

    #[test]
    fn what_was_not_asked_for_longest_goes_first() {
        let kept = Recent::new(2 * (1000 + OVERHEAD));
        kept.put([1; 32], "large");
        kept.put([2; 32], "large");
        assert!(kept.get(&[1; 32]).is_some());
        kept.put([3; 32], "large");
        assert!(kept.get(&[2; 32]).is_none());
        assert!(kept.get(&[1; 32]).is_some() && kept.get(&[3; 32]).is_some());
        kept.put([3; 32], "small");
        assert_eq!(kept.lock().bytes, 1000 + 2 * OVERHEAD);
        assert_eq!(kept.get(&[3; 32]), Some("small"));
    }

    #[test]
    fn what_is_too_large_is_not_kept() {
        let kept = Recent::new(10);
        kept.put([1; 32], "large");
        assert!(kept.get(&[1; 32]).is_none());
        assert_eq!(kept.lock().bytes, 0);
    }
}
