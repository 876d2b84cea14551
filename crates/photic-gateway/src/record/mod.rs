//! The record: every turn that was answered is kept, with its pictures as blobs, and what a user
//! chose for single pictures holds from the next turn on.
//!
//! A record that cannot be written costs the turn its place in it, never its answer. Whoever has to
//! know waits for it: then the reply says which turn it is, and one that says nothing is not kept.

mod away;
mod place;
mod recalled;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use photic::reply::Usage;
use photic::transcript::MediaId;
use photic::{Plan, Policy, Prepared, Transcript};
use photic_store::{FinishedTurn, SessionId, Tenant, wait};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

pub(crate) use away::{Availability, Server};
pub(crate) use place::StoreBackend;
pub(crate) use recalled::SessionContext;

use crate::config::RecordConfig;
use crate::failure::Failure;
use crate::fix::Target;
use crate::media::{MediaCache, Named};
use crate::telemetry::Counter;

/// How many turns may wait to be written. The next one waits with its reply: a record that falls
/// behind holds bodies.
const WAITING: u32 = 8;
/// The same where they are written to servers, which are better at many things at once.
const WAITING_FOR_SERVERS: u32 = 64;
/// How many turns may wait for what they cost; those beyond keep the estimate.
const BILLS: u32 = 1 << 16;
/// How long a reply waits to be acknowledged, at most.
const PATIENCE: Duration = Duration::from_secs(10);

/// Keeps turns.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) place: StoreBackend,
    /// Whether notices name pictures.
    references: bool,
    /// Whether replies wait for their turn to be kept.
    pub(crate) acknowledge: bool,
    waiting: u32,
    places: Arc<Semaphore>,
    /// Turns whose price is not known before their reply has passed.
    bills: Arc<Semaphore>,
    pub(crate) kept: Counter,
    pub(crate) lost: Counter,
}

/// A turn that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) session: SessionId,
    pub(crate) number: u64,
}

impl Recorder {
    pub(crate) fn new(place: StoreBackend, config: &RecordConfig) -> Self {
        let waiting = match place {
            StoreBackend::Local(_) => WAITING,
            StoreBackend::Fleet(..) => WAITING_FOR_SERVERS,
        };
        Self {
            place,
            references: config.references,
            acknowledge: config.acknowledge,
            waiting,
            places: Arc::new(Semaphore::new(waiting as usize)),
            bills: Arc::new(Semaphore::new(BILLS as usize)),
            kept: Counter::default(),
            lost: Counter::default(),
        }
    }

    /// A place among those that wait to be written.
    pub(crate) async fn place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).acquire_owned().await.ok()
    }

    /// Done when nothing waits any more, or it takes too long.
    pub(crate) async fn finish(&self, patience: Duration) {
        let nothing_waits = async {
            tokio::join!(self.places.acquire_many(self.waiting), self.bills.acquire_many(BILLS))
        };
        let _ = tokio::time::timeout(patience, nothing_waits).await;
    }

    /// What is known about a conversation of a tenant. It fails where names stand in it and nobody
    /// can be asked what they mean.
    pub(crate) async fn recall(
        &self,
        tenant: Tenant,
        transcript: &Transcript<'_>,
        shelf: &MediaCache,
    ) -> Result<SessionContext, Failure> {
        let conversation_key = photic_store::conversation_keys(&tenant, transcript);
        let names = photic::references(transcript).into_iter().map(|(_, name)| name);
        let names: BTreeSet<String> = names.collect();
        let recalled = SessionContext { conversation_key, ..SessionContext::nothing(tenant) };
        let mut recalled = self.place.recall(recalled, self.references).await;
        if !names.is_empty() {
            recalled.media = shelf.look_up(&self.place, &recalled.tenant, names).await?;
        }
        Ok(recalled)
    }

    /// Keeps a turn. Waits, on a thread that may.
    pub(crate) fn append(
        &self,
        recalled: &SessionContext,
        made: &Made<'_, '_>,
        sent: &Sent,
    ) -> Option<Turn> {
        let Made { transcript, plan, policy, prepared, named: remembered } = *made;
        let (shed, conversation_key, time) =
            (&sent.shed, recalled.conversation_key.first().copied(), now());
        let sent = sent.what;
        let done = FinishedTurn {
            transcript,
            plan,
            policy,
            prepared,
            sent,
            conversation_key,
            remembered,
            shed,
            time,
        };
        let Ok(turn) = wait(self.place.append(recalled, &done)) else { return self.lose() };
        self.kept.add(1);
        Some(turn)
    }

    /// A bill for a turn that is being kept and answered.
    pub(crate) fn open_bill(
        &self,
        tenant: Tenant,
        sent: &Sent,
        kept: oneshot::Receiver<Option<Turn>>,
    ) -> Option<Bill> {
        let permit = Arc::clone(&self.bills).try_acquire_owned().ok()?;
        Some(Bill { tenant, terms: sent.terms.clone(), kept, _permit: permit })
    }

    /// Counts a turn that is not kept.
    pub(crate) fn lose(&self) -> Option<Turn> {
        self.lost.add(1);
        None
    }

    /// The turn, if it is kept in time.
    pub(crate) async fn acknowledged(
        &self,
        keeping: impl Future<Output = Option<Turn>>,
    ) -> Option<Turn> {
        tokio::time::timeout(PATIENCE, keeping).await.ok().flatten()
    }
}

/// A turn whose price is known once its reply has passed.
#[derive(Debug)]
pub(crate) struct Bill {
    tenant: Tenant,
    terms: Target,
    kept: oneshot::Receiver<Option<Turn>>,
    _permit: OwnedSemaphorePermit,
}

impl Bill {
    /// Notes what the provider charged, once the turn is kept.
    pub(crate) async fn settle(self, recorder: &Recorder, usage: Usage) {
        let Some(usd) = self.terms.profile().usd(&usage) else { return };
        if let Ok(Some(turn)) = self.kept.await {
            // The estimate stays where this fails.
            let _ = recorder.place.bill(&self.tenant, &turn, usd).await;
        }
    }
}

/// What was sent, for it to be kept once it is answered.
#[derive(Debug)]
pub(crate) struct Sent {
    pub(crate) what: photic_store::SentBody,
    /// On what terms: what was learned meanwhile would have made it another.
    pub(crate) terms: Target,
    /// Whether it follows from the body and from what was recalled, and from nothing else: then it
    /// need not be made again to know what it was.
    pub(crate) is_settled: bool,
    /// Media that the body had no room for.
    pub(crate) shed: Vec<MediaId>,
}

/// What a request was made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made<'m, 'a> {
    pub(crate) transcript: &'m Transcript<'a>,
    pub(crate) plan: &'m Plan<'m>,
    pub(crate) policy: &'m Policy,
    pub(crate) prepared: &'m Prepared,
    /// What is remembered of media that came by name.
    pub(crate) named: &'m Named<'m>,
}

/// Milliseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
