//! Pictures that were made, kept by what they were made from and how: an image that is sent again
//! every turn is prepared once.
//!
//! Bounded in bytes; what was not asked for longest goes first.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use photic::media::{Payload, Source};
use photic::transcript::MediaId;
use photic::{Fit, Made, Plan, Prepared, Recipe, Transcript};

use crate::telemetry::Counter;

type Key = [u8; 32];

/// What an entry takes besides its picture.
const OVERHEAD: usize = 256;

/// The pictures that were made.
#[derive(Debug)]
pub(crate) struct Derivatives {
    most: usize,
    kept: Mutex<Kept>,
    hits: Counter,
    misses: Counter,
}

#[derive(Debug, Default)]
struct Kept {
    entries: BTreeMap<Key, Entry>,
    /// The order in which they were last asked for.
    order: BTreeMap<u64, Key>,
    clock: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    attempt: Attempt,
    asked: u64,
}

/// What came of it. Failures are kept, too: to try again every turn would be as dear.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Attempt {
    Made(Arc<Made>),
    Failed,
}

impl Derivatives {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, kept: Mutex::default(), hits: Counter::default(), misses: Counter::default() }
    }

    /// Makes everything that a plan asks for, as far as it can be made.
    pub(crate) fn prepare(
        &self,
        transcript: &Transcript<'_>,
        plan: &Plan<'_>,
        profile: &[u8; 32],
    ) -> Prepared {
        let made = |(&id, recipe): (&MediaId, &Recipe)| {
            let (members, fit) = match recipe {
                Recipe::Fit(fit) => (vec![id], fit),
                Recipe::Sheet { members, fit } => (members.clone(), fit),
            };
            let payloads: Option<Vec<&Payload<'_>>> =
                members.iter().map(|&member| payload(transcript, member)).collect();
            let payloads = payloads?;
            let key = key(profile, recipe, fit, &payloads);
            let known = self.get(&key);
            if known.is_some() { &self.hits } else { &self.misses }.add(1);
            let attempt = known.unwrap_or_else(|| {
                let made = match recipe {
                    Recipe::Fit(fit) => payloads.first().and_then(|one| {
                        photic_pixels::fitted(&one.decode(), fit, plan.profile).ok()
                    }),
                    Recipe::Sheet { fit, .. } => {
                        let all: Vec<Vec<u8>> = payloads.iter().map(|one| one.decode()).collect();
                        photic_pixels::merged(&all, fit, plan.profile).ok()
                    }
                };
                let made = made.map_or(Attempt::Failed, |made| Attempt::Made(Arc::new(made)));
                self.put(key, made)
            });
            match attempt {
                Attempt::Made(made) => Some((id, Made::clone(&made))),
                Attempt::Failed => None,
            }
        };
        plan.recipes.iter().filter_map(made).collect()
    }

    /// How often a picture was there, how often not, and the bytes that are kept.
    pub(crate) fn figures(&self) -> (u64, u64, u64) {
        (self.hits.get(), self.misses.get(), self.lock().bytes as u64)
    }

    fn get(&self, key: &Key) -> Option<Attempt> {
        let mut kept = self.lock();
        let kept = &mut *kept;
        let entry = kept.entries.get_mut(key)?;
        kept.clock += 1;
        kept.order.remove(&entry.asked);
        entry.asked = kept.clock;
        kept.order.insert(entry.asked, *key);
        Some(entry.attempt.clone())
    }

    fn put(&self, key: Key, attempt: Attempt) -> Attempt {
        let mut kept = self.lock();
        kept.forget(&key);
        kept.clock += 1;
        let asked = kept.clock;
        kept.bytes += attempt.size();
        kept.entries.insert(key, Entry { attempt: attempt.clone(), asked });
        kept.order.insert(asked, key);
        while kept.bytes > self.most
            && let Some(oldest) = kept.order.first_key_value().map(|(_, key)| *key)
        {
            kept.forget(&oldest);
        }
        attempt
    }

    /// Every change is finished before the lock is given up.
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn forget(&mut self, key: &Key) {
        if let Some(entry) = self.entries.remove(key) {
            self.order.remove(&entry.asked);
            self.bytes -= entry.attempt.size();
        }
    }
}

impl Attempt {
    fn size(&self) -> usize {
        OVERHEAD
            + match self {
                Self::Made(made) => made.base64.len(),
                Self::Failed => 0,
            }
    }
}

fn payload<'t, 'a>(transcript: &'t Transcript<'a>, id: MediaId) -> Option<&'t Payload<'a>> {
    match &transcript.media.get(id)?.source {
        Source::Data(payload) => Some(payload),
        Source::Text(_) | Source::Url(_) | Source::File(_) | Source::Missing => None,
    }
}

/// The base64 stands for the bytes: there is one spelling of it, and it need not be decoded.
fn key(profile: &[u8; 32], recipe: &Recipe, fit: &Fit, payloads: &[&Payload<'_>]) -> Key {
    let mut hasher = blake3::Hasher::new();
    hasher.update(profile);
    hasher.update(match recipe {
        Recipe::Fit(_) => b"fit",
        Recipe::Sheet { .. } => b"sheet",
    });
    hasher.update(&serde_json::to_vec(fit).unwrap_or_default());
    for payload in payloads {
        hasher.update(blake3::hash(payload.base64()).as_bytes());
    }
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(length: usize) -> Attempt {
        let base64 = "A".repeat(length);
        let media_type = "image/png".to_owned();
        Attempt::Made(Arc::new(Made { media_type, base64, size: (1, 1) }))
    }

    #[test]
    fn what_was_not_asked_for_longest_goes_first() {
        let kept = Derivatives::new(2 * (1000 + OVERHEAD));
        kept.put([1; 32], made(1000));
        kept.put([2; 32], made(1000));
        assert!(kept.get(&[1; 32]).is_some());
        kept.put([3; 32], made(1000));
        assert!(kept.get(&[2; 32]).is_none());
        assert!(kept.get(&[1; 32]).is_some() && kept.get(&[3; 32]).is_some());
        kept.put([3; 32], Attempt::Failed);
        assert_eq!(kept.lock().bytes, 1000 + 2 * OVERHEAD);
        assert_eq!(kept.get(&[3; 32]), Some(Attempt::Failed));
    }

    #[test]
    fn what_is_too_large_for_the_cache_is_still_made() {
        let kept = Derivatives::new(10);
        assert_eq!(kept.put([1; 32], made(1000)), made(1000));
        assert!(kept.get(&[1; 32]).is_none());
        assert_eq!(kept.lock().bytes, 0);
    }
}
