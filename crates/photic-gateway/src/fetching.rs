//! Pictures that came as addresses: fetched where that is wanted, and kept, so that every later
//! turn sends the same bytes.
//!
//! A failure is an outcome like any other: the picture gives way to a notice, never the request.

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
use crate::failure::Failure;
use crate::identity::Identity;
use crate::media::Pictures;
use crate::memory::{Charge, Share, Use};
use crate::recent::{self, Key, LruCache, Weighed};

/// Bytes that are charged at once.
const STEP: u64 = 1 << 20;
/// How many are fetched at once, for all requests together: each may take its full size.
const AT_ONCE: usize = 8;
/// The most addresses of one request; no endpoint shows more pictures.
const MOST: usize = 100;
/// How long a picture is kept that nobody asks for: as long as the most patient prompt cache keeps
/// the prefix it stands in. After that it is fetched anew.
const KEEP: Duration = Duration::from_hours(1);
/// How long a host that failed is left in peace.
const PEACE: Duration = Duration::from_mins(1);

/// Fetches pictures, and keeps them.
#[derive(Debug)]
pub(crate) struct Fetching {
    wanted: Option<Wanted>,
    fetch: Fetch,
    /// For one request, whatever it holds.
    patience: Duration,
    /// The most bytes for one request.
    total: u64,
    permits: Arc<Semaphore>,
    kept: LruCache<CachedFetch>,
}

/// What one request needs that was not in it.
#[derive(Debug, Default)]
pub(crate) struct FetchedInputs {
    /// What was found at its addresses.
    found: BTreeMap<String, Outcome>,
    /// What its names stand for.
    pub(crate) pictures: Pictures,
    /// How many pixels have to be decoded for it.
    pub(crate) pixels: u64,
    /// The memory of all that, until the request was sent.
    pub(crate) charges: Vec<Charge>,
}

/// What is fetched for one request: charged as it arrives, and bounded together.
#[derive(Debug)]
struct Arriving {
    /// Bytes that may still come.
    left: AtomicU64,
}

impl Arriving {
    /// Whether so many bytes more are within what one request may have.
    fn takes(&self, bytes: u64) -> bool {
        let less = |left: u64| left.checked_sub(bytes);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }
}

/// What was found at an address.
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

impl Fetching {
    /// Fetches as configured, and keeps so many bytes.
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
            patience: total * 2,
            permits: Arc::new(Semaphore::new(AT_ONCE)),
            total: u64::from(config.total_mib) << 20,
            kept: LruCache::new(keep),
        }
    }

    /// The addresses that have to be fetched for a plan. Says none without allocating to every
    /// request that holds none.
    pub(crate) fn addresses(
        &self,
        transcript: &Transcript<'_>,
        plan: &Plan<'_>,
    ) -> BTreeSet<String> {
        let wanted = self.wanted.map(|wanted| photic::fetchable(transcript, plan, wanted));
        wanted.into_iter().flatten().map(|(_, address)| address).collect()
    }

    /// Fetches what is not at hand; in time for the request, or not at all. Fails where there is no memory for
    /// it at the moment.
    pub(crate) async fn gather(
        &self,
        whose: &Identity,
        addresses: BTreeSet<String>,
        share: &Share,
    ) -> Result<FetchedInputs, Failure> {
        let mut gathered = FetchedInputs::default();
        if addresses.is_empty() {
            return Ok(gathered);
        }
        let arriving = Arc::new(Arriving { left: AtomicU64::new(self.total) });
        let mut fetches = JoinSet::new();
        for address in addresses {
            if let Some(outcome) = self.known(&key(whose, &address)) {
                if let Outcome::Picture(picture) = &outcome {
                    let size = picture.base64().len() as u64;
                    if !arriving.takes(size / 4 * 3) {
                        gathered.found.insert(address, Outcome::Nothing(Refusal::TooLarge));
                        continue;
                    }
                    gathered.charges.push(share.charge(Use::Fetched, size).await?);
                }
                gathered.found.insert(address, outcome);
            } else if fetches.len() < MOST {
                let (fetch, permits) = (self.fetch.clone(), Arc::clone(&self.permits));
                let (share, arriving) = (share.clone(), Arc::clone(&arriving));
                fetches.spawn(async move {
                    let _permit = permits.acquire().await;
                    let (got, charge) = fetched(&fetch, &address, &share, &arriving).await;
                    (address, got, charge)
                });
            }
        }
        let all = async {
            // One that panics is one that is not there.
            while let Some(done) = fetches.join_next().await {
                if let Ok((address, got, charge)) = done {
                    if matches!(got, Err(Refusal::NoRoom)) {
                        return Err(Failure::NoRoom);
                    }
                    gathered.charges.extend(charge);
                    // Too much for this request says nothing about the next.
                    let outcome = match got {
                        Err(refusal @ Refusal::OverTotal) => Outcome::Nothing(refusal),
                        got => self.keep(whose, &address, got),
                    };
                    gathered.found.insert(address, outcome);
                }
            }
            Ok(())
        };
        // Whatever is not here by then is stopped with the set.
        let done = tokio::time::timeout(self.patience, all).await;
        done.unwrap_or(Ok(()))?;
        Ok(gathered)
    }

    fn known(&self, key: &Key) -> Option<Outcome> {
        let mut known = self.kept.get(key).filter(|known| known.until > Instant::now())?;
        let outcome = known.outcome.clone();
        if matches!(outcome, Outcome::Picture(_)) {
            known.until = Instant::now() + KEEP;
            self.kept.put(*key, known);
        }
        Some(outcome)
    }

    fn keep(&self, whose: &Identity, address: &str, got: Result<Vec<u8>, Refusal>) -> Outcome {
        let key = key(whose, address);
        let (outcome, time) = match got {
            // Somebody else may have been faster, and its bytes are on their way already.
            Ok(bytes) => match self.known(&key) {
                Some(Outcome::Picture(picture)) => return Outcome::Picture(picture),
                _ => (Outcome::Picture(Arc::new(Payload::encode(&bytes))), KEEP),
            },
            Err(refusal) => {
                let time = if refusal.blame() == Blame::Host { PEACE } else { KEEP };
                (Outcome::Nothing(refusal), time)
            }
        };
        self.kept.put(key, CachedFetch { outcome: outcome.clone(), until: Instant::now() + time });
        outcome
    }
}

/// One address: its bytes are charged as they arrive, then as they are written into the request.
async fn fetched(
    fetch: &Fetch,
    address: &str,
    share: &Share,
    arriving: &Arriving,
) -> (Result<Vec<u8>, Refusal>, Option<Charge>) {
    let Ok(charge) = share.charge(Use::Fetched, STEP).await else {
        return (Err(Refusal::NoRoom), None);
    };
    let charge = Mutex::new(charge);
    let room = |all: usize, more: usize| {
        if !arriving.takes(more as u64) {
            return Err(Refusal::OverTotal);
        }
        // What arrives grows by doubling, and is then held as base64, twice.
        let wanted = (all as u64 * 3).next_multiple_of(STEP);
        let mut charge = charge.lock().unwrap_or_else(PoisonError::into_inner);
        if charge.try_reach(wanted) { Ok(()) } else { Err(Refusal::NoRoom) }
    };
    let got = fetch.get_within(address, &room).await;
    let charge = charge.into_inner().unwrap_or_else(PoisonError::into_inner);
    (got, Some(charge))
}

impl FetchedInputs {
    /// Hands over the memory that it stands for, to whatever is made of it.
    pub(crate) fn take_charges(&mut self) -> Vec<Charge> {
        std::mem::take(&mut self.charges)
    }

    /// Nothing but pictures that came by name.
    pub(crate) fn of(pictures: Pictures) -> Self {
        Self { pictures, ..Self::default() }
    }

    /// Whether something was found.
    pub(crate) fn has_pictures(&self) -> bool {
        self.found.values().any(|outcome| matches!(outcome, Outcome::Picture(_)))
    }

    /// Puts everything where its address stands.
    pub(crate) fn put_into<'a>(
        &'a self,
        transcript: &mut Transcript<'a>,
        plan: &Plan<'_>,
        fetching: &Fetching,
    ) {
        let Some(wanted) = fetching.wanted else { return };
        for (id, address) in photic::fetchable(transcript, plan, wanted) {
            let supply = match self.found.get(&address) {
                Some(Outcome::Picture(payload)) => FetchResult::Bytes(payload.by_ref()),
                Some(Outcome::Nothing(refusal)) => FetchResult::Withheld(reason(*refusal)),
                None => FetchResult::Withheld(Reason::FetchFailed),
            };
            transcript.put_fetched(id, supply);
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

/// What the model is told. Little: it reads it, and so does whoever wrote the address.
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

/// What one caller's fetch found, or that it failed, says nothing to another.
fn key(whose: &Identity, address: &str) -> Key {
    let mut hasher = blake3::Hasher::new();
    hasher.update(address.as_bytes());
    recent::key_of(whose, hasher)
}
