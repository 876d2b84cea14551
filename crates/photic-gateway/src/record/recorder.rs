//! Writes turns to the store while their replies are sent.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use photic::transcript::MediaId;
use photic::{Plan, Policy, Prepared, Transcript};
use photic_store::events::RecordChange;
use photic_store::record::RequestOutcome;
use photic_store::{
    ConversationKeys, Error, Events, FinishedTurn, LeftOutMessages, SentBody, SentHashes, Tenant,
    WrittenMessages, wait,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::backend::StoreBackend;
use super::conclusion::Conclusion;
use super::run_sessions::{RequestStart, RunSessions};
use super::session_context::{Named, SessionContext};
use super::written_turn::Turn;
use crate::config::{RecordConfig, Serves};
use crate::counter::Counter;

/// Maximum number of requests whose outcome may wait for the end of their reply. Further requests have
/// none.
const MAX_ANSWERING: u32 = 1 << 16;
/// Maximum number of outcomes that are written at once.
const MAX_WRITING: usize = 4;
/// Maximum KiB of replies that may wait to be written.
const MAX_REPLIES: usize = 64 << 10;
/// Time for which a reply waits until its turn is written.
const ACKNOWLEDGE_TIMEOUT: Duration = Duration::from_secs(10);

/// Writes turns to a store.
#[derive(Debug)]
pub(crate) struct Recorder {
    backend: Arc<dyn StoreBackend>,
    /// Set if notices contain references to images.
    references: bool,
    /// Set if replies wait until their turn is written.
    pub(crate) acknowledge: bool,
    max_waiting: u32,
    waiting: Arc<Semaphore>,
    /// Requests whose outcome waits for the end of their reply.
    answering: Arc<Semaphore>,
    /// Outcomes that are being written.
    writing: Arc<Semaphore>,
    /// KiB of replies that wait to be written.
    room: Arc<Semaphore>,
    /// Set if replies are kept.
    pub(crate) replies: bool,
    /// News of the record.
    pub(crate) events: Events,
    /// The sessions of the run, if the gateway serves a single command.
    run: Option<Arc<RunSessions>>,
    pub(crate) kept: Counter,
    pub(crate) lost: Counter,
    /// Bytes of the requests of turns that were kept.
    pub(crate) bytes: Counter,
    /// Bytes of these that were read to keep them.
    pub(crate) bytes_read: Counter,
}

/// The values that a request was made from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made<'m, 'a> {
    pub(crate) transcript: &'m Transcript<'a>,
    pub(crate) plan: &'m Plan<'m>,
    pub(crate) policy: &'m Policy,
    pub(crate) prepared: &'m Prepared,
    /// The stubs of media that came as references.
    pub(crate) named: &'m Named<'m>,
    /// The bytes that were sent.
    pub(crate) sent: SentBody,
    /// The hashes of the messages that were sent, if they are known.
    pub(crate) hashes: Option<&'m SentHashes>,
    /// Media that did not fit into the body.
    pub(crate) shed: &'m [MediaId],
}

impl Recorder {
    /// Creates a recorder for a store.
    pub(crate) fn new(
        backend: Arc<dyn StoreBackend>,
        config: &RecordConfig,
        serves: Serves,
    ) -> Self {
        let max_waiting = backend.max_waiting();
        Self {
            backend,
            references: config.references,
            acknowledge: config.acknowledge,
            max_waiting,
            waiting: Arc::new(Semaphore::new(max_waiting as usize)),
            answering: Arc::new(Semaphore::new(MAX_ANSWERING as usize)),
            writing: Arc::new(Semaphore::new(MAX_WRITING)),
            room: Arc::new(Semaphore::new(MAX_REPLIES)),
            replies: config.replies,
            events: Events::default(),
            run: (serves == Serves::OneCommand).then(Arc::default),
            kept: Counter::default(),
            lost: Counter::default(),
            bytes: Counter::default(),
            bytes_read: Counter::default(),
        }
    }

    /// Waits for a place among the turns that wait to be written.
    pub(crate) async fn queue(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.waiting).acquire_owned().await.ok()
    }

    /// Waits until no turn or outcome waits to be written, at most for `timeout`.
    pub(crate) async fn finish(&self, timeout: Duration) {
        let nothing_waits = async {
            tokio::join!(
                self.waiting.acquire_many(self.max_waiting),
                self.answering.acquire_many(MAX_ANSWERING)
            )
        };
        let _ = tokio::time::timeout(timeout, nothing_waits).await;
    }

    /// Looks up a conversation of a tenant by its keys. Also returns the references to media in it,
    /// which are not resolved yet.
    pub(crate) async fn recall(
        &self,
        tenant: Tenant,
        transcript: &Transcript<'_>,
        keys: ConversationKeys,
    ) -> (SessionContext, BTreeSet<String>) {
        let names = photic::references(transcript).into_iter().map(|(_, name)| name);
        let names: BTreeSet<String> = names.collect();
        let mut context = SessionContext::of(tenant, keys);
        context.run = self.run.clone().map(|run| (run, RequestStart::of(transcript)));
        (self.backend.recall(context, self.references).await, names)
    }

    /// Writes a turn, of which some messages may be left out. `bytes` is the size of its request.
    /// Blocks, so call it on a blocking thread.
    ///
    /// # Errors
    ///
    /// Fails if the store fails, or if it does not have the messages that were left out.
    pub(crate) fn append(
        &self,
        context: &SessionContext,
        made: &Made<'_, '_>,
        bytes: usize,
        left_out: Option<LeftOutMessages<'_>>,
    ) -> Result<(Turn, WrittenMessages), Error> {
        let Made { transcript, plan, policy, prepared, named: remembered, .. } = *made;
        let (sent, hashes, shed) = (made.sent, made.hashes, made.shed);
        let conversation_key = context.keys.as_ref().and_then(|keys| keys.last());
        let time = now();
        let done = FinishedTurn {
            transcript,
            plan,
            policy,
            prepared,
            sent,
            hashes,
            conversation_key,
            remembered,
            shed,
            time,
        };
        let appended = wait(self.backend.append(context, &done, left_out))?;
        self.kept.add(1);
        self.bytes.add(bytes as u64);
        self.bytes_read.add(transcript.body().len() as u64);
        let Turn { session, number } = &appended.0;
        let change = RecordChange::Turn { number: *number };
        self.events.publish(&context.tenant, Some(session), change);
        Ok(appended)
    }

    /// Prepares the outcome of a request that begins. Returns `None` if too many requests are being
    /// answered.
    pub(crate) fn begin(&self, tenant: &Tenant, agent: Option<&[u8]>) -> Option<Box<Conclusion>> {
        let permit = Arc::clone(&self.answering).try_acquire_owned().ok()?;
        Some(Box::new(Conclusion {
            backend: Arc::clone(&self.backend),
            events: self.events.clone(),
            tenant: tenant.clone(),
            agent: agent.and_then(RequestOutcome::agent_of),
            session: None,
            turn: None,
            writing: Arc::clone(&self.writing),
            room: Arc::clone(&self.room),
            _permit: permit,
        }))
    }

    /// Counts a turn that is not written.
    pub(crate) fn lose(&self) -> Option<Turn> {
        self.lost.add(1);
        None
    }

    /// Waits until a turn is written, for a bounded time.
    pub(crate) async fn acknowledged(
        &self,
        writing: impl Future<Output = Option<Turn>>,
    ) -> Option<Turn> {
        tokio::time::timeout(ACKNOWLEDGE_TIMEOUT, writing).await.ok().flatten()
    }
}

/// Returns the time in milliseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
