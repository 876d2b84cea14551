//! The record: every turn that was answered is kept, with its pictures as blobs, and what a user
//! chose for single pictures holds from the next turn on.
//!
//! A record that cannot be written costs the turn its place in it, never its answer.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use photic::json::Segments;
use photic::{Policy, Survey, Transcript};
use photic_store::{Done, Error, LocalStore, wait};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::config::RecordConfig;
use crate::fix::Work;
use crate::telemetry::Counter;

/// How many turns may wait to be written. The next one waits with its reply: a record that falls
/// behind holds bodies.
const WAITING: u32 = 8;

/// Keeps turns.
#[derive(Debug)]
pub(crate) struct Recorder {
    store: LocalStore,
    references: bool,
    places: Arc<Semaphore>,
    pub(crate) kept: Counter,
    pub(crate) lost: Counter,
}

impl Recorder {
    pub(crate) fn open(config: &RecordConfig) -> Result<Option<Self>, Error> {
        let Some(directory) = config.directory() else { return Ok(None) };
        Ok(Some(Self {
            store: LocalStore::open(directory)?,
            references: config.references,
            places: Arc::new(Semaphore::new(WAITING as usize)),
            kept: Counter::default(),
            lost: Counter::default(),
        }))
    }

    /// A place among those that wait to be written.
    pub(crate) async fn place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).acquire_owned().await.ok()
    }

    /// Done when nothing waits any more, or it takes too long.
    pub(crate) async fn finish(&self, patience: Duration) {
        let _ = tokio::time::timeout(patience, self.places.acquire_many(WAITING)).await;
    }

    /// The policy with what the user chose for pictures of this conversation.
    pub(crate) fn policy<'p>(
        &self,
        usual: &'p Policy,
        transcript: &Transcript<'_>,
    ) -> Cow<'p, Policy> {
        let session = wait(self.store.session_of(transcript)).ok().flatten();
        let choices = session.and_then(|id| wait(self.store.choices(&id)).ok()).unwrap_or_default();
        if choices.is_empty() {
            return Cow::Borrowed(usual);
        }
        let mut policy = usual.clone();
        policy.choices = choices;
        Cow::Owned(policy)
    }

    /// Says what pictures are, for choices to be found, and under what names they can be asked for.
    pub(crate) fn identify(
        &self,
        transcript: &Transcript<'_>,
        policy: &Policy,
        survey: &mut Survey,
    ) {
        if policy.choices.is_empty() && !self.references {
            return;
        }
        survey.identify(transcript);
        if !self.references {
            return;
        }
        for sighting in &mut survey.sightings {
            let name = sighting.digest.as_ref().map(|digest| wait(self.store.name(digest)));
            sighting.reference = name.and_then(Result::ok).map(|name| name.as_str().to_owned());
        }
    }

    /// Keeps a turn, if this is what was sent: a choice or a lesson that came meanwhile would have
    /// made it another, and the record must not say so.
    pub(crate) fn append(&self, work: &Work<'_, '_>, sent: Sent) {
        let Work { transcript, plan, policy, prepared, lowered, .. } = work;
        let done = Done { transcript, plan, policy, prepared, lowered, time: now() };
        if Sent::of(&lowered.body) == sent && self.try_append(&done).is_ok() {
            self.kept.add(1);
        } else {
            self.lost.add(1);
        }
    }

    fn try_append(&self, done: &Done<'_, '_>) -> Result<(), Error> {
        let id = match wait(self.store.session_of(done.transcript))? {
            Some(id) => id,
            None => wait(self.store.begin(&photic_store::title(done.transcript)))?,
        };
        wait(self.store.append(&id, done)).map(drop)
    }
}

/// What a body was, to tell it from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent(blake3::Hash);

impl Sent {
    pub(crate) fn of(body: &Segments<'_>) -> Self {
        let mut hasher = blake3::Hasher::new();
        body.iter().for_each(|piece| {
            hasher.update(piece);
        });
        Self(hasher.finalize())
    }
}

/// Milliseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
