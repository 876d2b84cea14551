//! Cache of prepared images, by their source and recipe. An image that is sent again in every turn
//! is prepared once.

use std::sync::Arc;

use photic::media::{Payload, Source};
use photic::transcript::MediaId;
use photic::{Fit, Made, Plan, Prepared, Recipe, Transcript};

use photic_pixels::Meter as _;

use super::pixel_work::Allowance;
use crate::counter::Counter;
use crate::memory::{self, Key, LruCache, Weighed};
use crate::tenant::Identity;

/// Prepares images, and caches them.
#[derive(Debug)]
pub(crate) struct Derivatives {
    kept: LruCache<Attempt>,
    hits: Counter,
    misses: Counter,
}

/// The result of preparing an image. Failures are cached, too, because a failed attempt costs as
/// much as a successful one.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Attempt {
    Made(Arc<Made>),
    Failed,
}

impl Derivatives {
    /// Creates a cache for so many bytes.
    pub(crate) fn new(max_bytes: usize) -> Self {
        let kept = LruCache::new(max_bytes);
        Self { kept, hits: Counter::default(), misses: Counter::default() }
    }

    /// Prepares all images that a plan needs. Images that cannot be prepared are left out.
    pub(crate) fn prepare(
        &self,
        transcript: &Transcript<'_>,
        plan: &Plan<'_>,
        caller: &Identity,
        profile: &[u8; 32],
        allowance: &Allowance,
    ) -> Prepared {
        let made = |(&id, recipe): (&MediaId, &Recipe)| {
            let (members, fit) = match recipe {
                Recipe::Fit(fit) => (vec![id], fit),
                Recipe::Sheet { members, fit } => (members.clone(), fit),
            };
            let payloads: Option<Vec<&Payload<'_>>> =
                members.iter().map(|&member| payload(transcript, member)).collect();
            let payloads = payloads?;
            let key = key(caller, profile, recipe, fit, &payloads);
            let known = self.kept.get(&key);
            if known.is_some() { &self.hits } else { &self.misses }.add(1);
            let attempt = if let Some(attempt) = known {
                attempt
            } else {
                let attempt = attempted(recipe, &payloads, plan, allowance)?;
                self.kept.put(key, attempt.clone());
                attempt
            };
            match attempt {
                // Held here, and once more in the request that contains it.
                Attempt::Made(made) if allowance.made(2 * made.base64.len() as u64) => {
                    Some((id, Made::clone(&made)))
                }
                Attempt::Made(_) | Attempt::Failed => None,
            }
        };
        plan.recipes.iter().filter_map(made).collect()
    }

    /// Returns the hits, the misses, and the cached bytes.
    pub(crate) fn figures(&self) -> (u64, u64, u64) {
        (self.hits.get(), self.misses.get(), self.kept.bytes() as u64)
    }
}

impl Weighed for Attempt {
    fn bytes(&self) -> usize {
        match self {
            Self::Made(made) => made.base64.len(),
            Self::Failed => 0,
        }
    }
}

/// Bytes that a sheet takes beside its members: their cells and the sheet itself.
const SHEET_BYTES: u64 = 32 << 20;

/// Prepares an image. Returns `None` if it failed for lack of time or memory, so that the failure is
/// not cached and the next turn tries again.
fn attempted(
    recipe: &Recipe,
    payloads: &[&Payload<'_>],
    plan: &Plan<'_>,
    allowance: &Allowance,
) -> Option<Attempt> {
    if !allowance.is_wanted() {
        return None;
    }
    let files: u64 = payloads.iter().map(|one| one.base64().len() as u64 / 4 * 3).sum();
    let limits = allowance.picture(match recipe {
        Recipe::Fit(_) => files,
        Recipe::Sheet { .. } => files + SHEET_BYTES,
    })?;
    let made = match recipe {
        Recipe::Fit(fit) => payloads
            .first()
            .and_then(|one| photic_pixels::fitted(&one.decode(), fit, plan.profile, &limits).ok()),
        Recipe::Sheet { fit, .. } => {
            let all: Vec<Vec<u8>> = payloads.iter().map(|one| one.decode()).collect();
            photic_pixels::merged(&all, fit, plan.profile, &limits).ok()
        }
    };
    let failed_here = made.is_none() && allowance.is_to_blame();
    allowance.made(0);
    (!failed_here).then(|| made.map_or(Attempt::Failed, |made| Attempt::Made(Arc::new(made))))
}

fn payload<'t, 'a>(transcript: &'t Transcript<'a>, id: MediaId) -> Option<&'t Payload<'a>> {
    match &transcript.media.get(id.index())?.source {
        Source::Data(payload) => Some(payload),
        Source::Text(_) | Source::Url(_) | Source::File(_) | Source::Missing => None,
    }
}

/// Returns the key of a prepared image.
///
/// The base64 is hashed instead of the bytes, which saves decoding it. The key contains the caller:
/// otherwise the time of an answer would reveal images that another caller sent.
fn key(
    caller: &Identity,
    profile: &[u8; 32],
    recipe: &Recipe,
    fit: &Fit,
    payloads: &[&Payload<'_>],
) -> Key {
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
    memory::key_of(caller.digest(), hasher)
}
