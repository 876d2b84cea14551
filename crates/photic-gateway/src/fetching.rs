//! Pictures that came as addresses: fetched where that is wanted, and kept, so that every later
//! turn sends the same bytes.
//!
//! A failure is an outcome like any other: the picture gives way to a notice, never the request.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use photic::media::Payload;
use photic::{Plan, Reason, Supply, Transcript, Wanted};
use photic_net::fetch::{Blame, Fetch, Refusal, Resolve, Rules, System};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::config::{FetchConfig, FetchMode};
use crate::identity::Identity;
use crate::media::Pictures;
use crate::recent::{self, Key, Recent, Weighed};

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
    permits: Arc<Semaphore>,
    kept: Recent<Known>,
}

/// What one request needs that was not in it.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    /// What was found at its addresses.
    found: BTreeMap<String, Outcome>,
    /// What its names stand for.
    pub(crate) pictures: Pictures,
    /// How many pixels have to be decoded for it.
    pub(crate) pixels: u64,
}

/// What was found at an address.
#[derive(Clone, Debug)]
enum Outcome {
    Picture(Arc<Payload<'static>>),
    Nothing(Refusal),
}

#[derive(Clone, Debug)]
struct Known {
    outcome: Outcome,
    until: Instant,
}

impl Fetching {
    pub(crate) fn new(config: &FetchConfig) -> Self {
        Self::resolving(config, Arc::new(System))
    }

    fn resolving(config: &FetchConfig, resolver: Arc<dyn Resolve>) -> Self {
        let total = Duration::from_secs(config.timeout_s.into());
        let rules = Rules {
            hosts: config.hosts.clone(),
            not_hosts: config.not_hosts.clone(),
            private: config.private.clone(),
            most_bytes: (config.max_mib as usize) << 20,
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
            kept: Recent::new((config.keep_mib as usize) << 20),
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

    /// Fetches what is not at hand; in time for the request, or not at all.
    pub(crate) async fn gather(&self, whose: &Identity, addresses: BTreeSet<String>) -> Gathered {
        let mut gathered = Gathered::default();
        let mut fetches = JoinSet::new();
        for address in addresses {
            if let Some(outcome) = self.known(&key(whose, &address)) {
                gathered.found.insert(address, outcome);
            } else if fetches.len() < MOST {
                let (fetch, permits) = (self.fetch.clone(), Arc::clone(&self.permits));
                fetches.spawn(async move {
                    let _permit = permits.acquire().await;
                    let got = fetch.get(&address).await;
                    (address, got)
                });
            }
        }
        let all = async {
            // One that panics is one that is not there.
            while let Some(done) = fetches.join_next().await {
                if let Ok((address, got)) = done {
                    let outcome = self.keep(whose, &address, got);
                    gathered.found.insert(address, outcome);
                }
            }
        };
        // Whatever is not here by then is stopped with the set.
        let _ = tokio::time::timeout(self.patience, all).await;
        gathered
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
        self.kept.put(key, Known { outcome: outcome.clone(), until: Instant::now() + time });
        outcome
    }
}

impl Gathered {
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
                Some(Outcome::Picture(payload)) => Supply::Bytes(payload.by_ref()),
                Some(Outcome::Nothing(refusal)) => Supply::Withheld(reason(*refusal)),
                None => Supply::Withheld(Reason::FetchFailed),
            };
            transcript.supply(id, supply);
        }
    }
}

impl Weighed for Known {
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
        (Refusal::TooLarge, _) => Reason::FetchTooLarge,
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
