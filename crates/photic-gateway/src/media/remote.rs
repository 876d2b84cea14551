//! Fetches images that a request names by URL, and caches them, so that every later turn sends
//! identical bytes.
//!
//! If a fetch fails, a notice replaces the image. The request never fails because of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use photic::media::Payload;
use photic::{FetchResult, Plan, Reason, Transcript, Wanted};
use photic_net::fetch::{Blame, Fetch, Refusal, Resolve, Rules, System};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::config::{FetchConfig, FetchMode};
use crate::memory::{self, Charge, Key, LruCache, NoRoom, Share, Use, Weighed};
use crate::tenant::Identity;

/// Bytes that are charged at once.
const STEP: u64 = 1 << 20;
/// Number of images that are fetched at once, for all requests together.
const AT_ONCE: usize = 8;
/// Maximum URLs of one request. No endpoint accepts more images.
const MAX_ADDRESSES: usize = 100;
/// Time for which an unused image is cached: as long as the longest prompt cache of a provider keeps
/// the prefix that contains it. Then it is fetched again.
const KEEP_TIME: Duration = Duration::from_hours(1);
/// Time after which a failed host is tried again.
const HOST_RETRY_TIME: Duration = Duration::from_mins(1);

/// Fetches images, and caches them.
#[derive(Debug)]
pub(crate) struct RemoteMedia {
    /// Selects the images to fetch, or `None` to fetch none.
    wanted: Option<Wanted>,
    fetch: Fetch,
    /// Time limit for all fetches of one request.
    timeout: Duration,
    /// Maximum bytes for one request.
    total: u64,
    permits: Arc<Semaphore>,
    kept: LruCache<CachedFetch>,
}

/// The images that were fetched for one request, by URL.
#[derive(Debug, Default)]
pub(crate) struct RemotePictures {
    found: BTreeMap<String, Outcome>,
}

/// The bytes that may still be fetched for one request.
#[derive(Debug)]
struct RequestQuota {
    left: AtomicU64,
}

impl RequestQuota {
    /// Takes bytes from the quota. Returns `false` if there are not as many left.
    fn takes(&self, bytes: u64) -> bool {
        let less = |left: u64| left.checked_sub(bytes);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }
}

/// The result of fetching a URL.
#[derive(Clone, Debug)]
enum Outcome {
    Picture(Arc<Payload<'static>>),
    Nothing(Refusal),
}

#[derive(Clone, Debug)]
struct CachedFetch {
    outcome: Outcome,
    until: Instant,
}

impl RemoteMedia {
    /// Creates a fetcher with a cache for so many bytes.
    pub(crate) fn new(config: &FetchConfig, keep: usize) -> Self {
        Self::resolving(config, keep, Arc::new(System))
    }

    fn resolving(config: &FetchConfig, keep: usize, resolver: Arc<dyn Resolve>) -> Self {
        let total = Duration::from_secs(config.timeout_s.into());
        let rules = Rules {
            hosts: config.hosts.clone(),
            not_hosts: config.not_hosts.clone(),
            private: config.private.clone(),
            max_bytes: (config.max_mib as usize) << 20,
            total,
            ..Rules::new(is_wanted)
        };
        Self {
            wanted: match config.mode {
                FetchMode::Never => None,
                FetchMode::Needed => Some(Wanted::Unreachable),
                FetchMode::Always => Some(Wanted::All),
            },
            fetch: Fetch::new(rules, resolver),
            timeout: total * 2,
            permits: Arc::new(Semaphore::new(AT_ONCE)),
            total: u64::from(config.total_mib) << 20,
            kept: LruCache::new(keep),
        }
    }

    /// Returns the URLs that have to be fetched for a plan. Does not allocate if there are none.
    pub(crate) fn addresses(
        &self,
        transcript: &Transcript<'_>,
        plan: &Plan<'_>,
    ) -> BTreeSet<String> {
        let wanted = self.wanted.map(|wanted| photic::fetchable(transcript, plan, wanted));
        wanted.into_iter().flatten().map(|(_, address)| address).collect()
    }

    /// Fetches the images that are not cached. Images that do not arrive in time are left out.
    ///
    /// # Errors
    ///
    /// Fails if there is no memory for them.
    pub(crate) async fn fetch(
        &self,
        caller: &Identity,
        addresses: BTreeSet<String>,
        share: &Share,
    ) -> Result<(RemotePictures, Vec<Charge>), NoRoom> {
        let mut pictures = RemotePictures::default();
        let mut charges = Vec::new();
        if addresses.is_empty() {
            return Ok((pictures, charges));
        }
        let quota = Arc::new(RequestQuota { left: AtomicU64::new(self.total) });
        let mut fetches = JoinSet::new();
        for address in addresses {
            if let Some(outcome) = self.known(&key(caller, &address)) {
                if let Outcome::Picture(picture) = &outcome {
                    let size = picture.base64().len() as u64;
                    if !quota.takes(size / 4 * 3) {
                        pictures.found.insert(address, Outcome::Nothing(Refusal::TooLarge));
                        continue;
                    }
                    charges.push(share.charge(Use::Fetched, size).await?);
                }
                pictures.found.insert(address, outcome);
            } else if fetches.len() < MAX_ADDRESSES {
                let (fetch, permits) = (self.fetch.clone(), Arc::clone(&self.permits));
                let (share, quota) = (share.clone(), Arc::clone(&quota));
                fetches.spawn(async move {
                    let _permit = permits.acquire().await;
                    let (got, charge) = fetched(&fetch, &address, &share, &quota).await;
                    (address, got, charge)
                });
            }
        }
        let all = async {
            // A fetch that panics counts as failed.
            while let Some(done) = fetches.join_next().await {
                if let Ok((address, got, charge)) = done {
                    if matches!(got, Err(Refusal::NoRoom)) {
                        return Err(NoRoom);
                    }
                    charges.extend(charge);
                    // Not cached: it may fit into the quota of the next request.
                    let outcome = match got {
                        Err(refusal @ Refusal::OverTotal) => Outcome::Nothing(refusal),
                        got => self.keep(caller, &address, got),
                    };
                    pictures.found.insert(address, outcome);
                }
            }
            Ok(())
        };
        // Dropping the set cancels the fetches that are not done by then.
        let done = tokio::time::timeout(self.timeout, all).await;
        done.unwrap_or(Ok(()))?;
        Ok((pictures, charges))
    }

    /// Returns the cached result of a fetch, and extends the lifetime of an image.
    fn known(&self, key: &Key) -> Option<Outcome> {
        let mut known = self.kept.get(key).filter(|known| known.until > Instant::now())?;
        let outcome = known.outcome.clone();
        if matches!(outcome, Outcome::Picture(_)) {
            known.until = Instant::now() + KEEP_TIME;
            self.kept.put(*key, known);
        }
        Some(outcome)
    }

    /// Caches the result of a fetch.
    fn keep(&self, caller: &Identity, address: &str, got: Result<Vec<u8>, Refusal>) -> Outcome {
        let key = key(caller, address);
        let (outcome, time) = match got {
            // Another request of the caller may have fetched other bytes in the meantime, and sent
            // them already.
            Ok(bytes) => match self.known(&key) {
                Some(Outcome::Picture(picture)) => return Outcome::Picture(picture),
                _ => (Outcome::Picture(Arc::new(Payload::encode(&bytes))), KEEP_TIME),
            },
            Err(refusal) => {
                let time = if refusal.blame() == Blame::Host { HOST_RETRY_TIME } else { KEEP_TIME };
                (Outcome::Nothing(refusal), time)
            }
        };
        self.kept.put(key, CachedFetch { outcome: outcome.clone(), until: Instant::now() + time });
        outcome
    }
}

/// Fetches one URL. Its bytes are charged as they arrive, including those of the request that will
/// contain them.
async fn fetched(
    fetch: &Fetch,
    address: &str,
    share: &Share,
    quota: &RequestQuota,
) -> (Result<Vec<u8>, Refusal>, Option<Charge>) {
    let Ok(charge) = share.charge(Use::Fetched, STEP).await else {
        return (Err(Refusal::NoRoom), None);
    };
    let charge = Mutex::new(charge);
    let room = |all: usize, more: usize| {
        if !quota.takes(more as u64) {
            return Err(Refusal::OverTotal);
        }
        // The buffer grows by doubling, and the bytes are then held as base64 twice.
        let wanted = (all as u64 * 3).next_multiple_of(STEP);
        let mut charge = charge.lock().unwrap_or_else(PoisonError::into_inner);
        if charge.try_reach(wanted) { Ok(()) } else { Err(Refusal::NoRoom) }
    };
    let got = fetch.get_within(address, &room).await;
    let charge = charge.into_inner().unwrap_or_else(PoisonError::into_inner);
    (got, Some(charge))
}

impl RemotePictures {
    /// Returns `true` if any image was fetched.
    pub(crate) fn is_found(&self) -> bool {
        self.found.values().any(|outcome| matches!(outcome, Outcome::Picture(_)))
    }

    /// Replaces the URLs in a transcript by the fetched images, or withholds them if they failed.
    pub(crate) fn put_into<'a>(
        &'a self,
        transcript: &mut Transcript<'a>,
        plan: &Plan<'_>,
        remote: &RemoteMedia,
    ) {
        let Some(wanted) = remote.wanted else { return };
        for (id, address) in photic::fetchable(transcript, plan, wanted) {
            let result = match self.found.get(&address) {
                Some(Outcome::Picture(payload)) => FetchResult::Bytes(payload.by_ref()),
                Some(Outcome::Nothing(refusal)) => FetchResult::Withheld(reason(*refusal)),
                None => FetchResult::Withheld(Reason::FetchFailed),
            };
            transcript.put_fetched(id, result);
        }
    }
}

impl Weighed for CachedFetch {
    fn bytes(&self) -> usize {
        match &self.outcome {
            Outcome::Picture(payload) => payload.base64().len(),
            Outcome::Nothing(_) => 0,
        }
    }
}

/// Returns the reason that the model reads. It reveals little, because the author of the URL may be
/// able to read it, too.
const fn reason(refusal: Refusal) -> Reason {
    match (refusal, refusal.blame()) {
        (Refusal::TooLarge | Refusal::OverTotal, _) => Reason::FetchTooLarge,
        (Refusal::WrongKind, _) => Reason::FetchWrongKind,
        (_, Blame::Rule) => Reason::FetchForbidden,
        (_, Blame::Host | Blame::Content) => Reason::FetchFailed,
    }
}

fn is_wanted(beginning: &[u8]) -> bool {
    photic::media::sniff(beginning)
        .is_some_and(|kind| kind.starts_with("image/") || kind == "application/pdf")
}

/// Returns the key of a fetch. It contains the caller, so that callers do not share results.
fn key(caller: &Identity, address: &str) -> Key {
    let mut hasher = blake3::Hasher::new();
    hasher.update(address.as_bytes());
    memory::key_of(caller.digest(), hasher)
}
