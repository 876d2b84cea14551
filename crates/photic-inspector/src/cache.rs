//! A cache of computed values, bounded by their weight in bytes. The least recently used go first.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Values by key.
#[derive(Debug)]
pub(crate) struct Cache {
    most: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    entries: HashMap<String, Entry>,
    weight: usize,
    clock: u64,
}

#[derive(Debug)]
struct Entry {
    value: Arc<dyn Any + Send + Sync>,
    weight: usize,
    used: u64,
}

impl Cache {
    /// Creates a cache of at most this many bytes.
    pub(crate) fn new(most: usize) -> Self {
        Self { most, state: Mutex::default() }
    }

    /// Returns a value.
    pub(crate) fn get<T: Any + Send + Sync>(&self, key: &str) -> Option<Arc<T>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.clock += 1;
        let clock = state.clock;
        let entry = state.entries.get_mut(key)?;
        entry.used = clock;
        Arc::clone(&entry.value).downcast().ok()
    }

    /// Keeps a value. A value that weighs more than an eighth of the bound is not kept.
    pub(crate) fn put<T: Any + Send + Sync>(&self, key: String, value: T, weight: usize) -> Arc<T> {
        let value = Arc::new(value);
        let weight = weight + key.len() + 64;
        if weight > self.most / 8 {
            return value;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.clock += 1;
        let entry = Entry { value: Arc::clone(&value) as _, weight, used: state.clock };
        state.weight += weight;
        if let Some(old) = state.entries.insert(key, entry) {
            state.weight -= old.weight;
        }
        if state.weight > self.most {
            state.forget_to(self.most - self.most / 8);
        }
        value
    }
}

impl State {
    /// Removes the least recently used entries until the rest weigh at most this. Many at once, so
    /// that they are rarely sorted.
    fn forget_to(&mut self, most: usize) {
        let each = self.entries.iter().map(|(key, entry)| (entry.used, key.clone()));
        let mut ages: Vec<(u64, String)> = each.collect();
        ages.sort_unstable();
        for (_, key) in ages {
            if self.weight <= most {
                break;
            }
            if let Some(gone) = self.entries.remove(&key) {
                self.weight -= gone.weight;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_go_first_and_the_bound_holds() {
        let cache = Cache::new(8 * 200);
        for number in 0..40_u32 {
            cache.put(format!("k{number}"), number, 100);
            assert_eq!(cache.get::<u32>("k0").as_deref(), Some(&0), "in use");
        }
        assert!(cache.state.lock().unwrap().weight <= 1600);
        assert_eq!(cache.get::<u32>("k1"), None);
        assert_eq!(cache.get::<u32>("k39").as_deref(), Some(&39));
        assert_eq!(cache.get::<String>("k39"), None, "another type");
        cache.put("large".to_owned(), 1_u32, 1000);
        assert_eq!(cache.get::<u32>("large"), None);
    }
}
