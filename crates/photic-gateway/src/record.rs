//! The record: every turn that was answered is kept, with its pictures as blobs, and what a user
//! chose for single pictures holds from the next turn on.
//!
//! A record that cannot be written costs the turn its place in it, never its answer.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use photic::transcript::{Part, Role};
use photic::{Policy, Survey, Transcript};
use photic_store::{Done, Error, LocalStore, SessionId, wait};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::config::RecordConfig;
use crate::fix::Work;
use crate::telemetry::Counter;

/// How many turns may wait to be written. The next one waits with its reply: a record that falls
/// behind holds bodies.
const WAITING: u32 = 8;
/// The longest title that is taken from a conversation, in characters.
const TITLE: usize = 60;

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

    /// Keeps a turn.
    pub(crate) fn append(&self, work: &Work<'_, '_>) {
        let Work { transcript, plan, policy, prepared, lowered, .. } = work;
        match self.try_append(&Done { transcript, plan, policy, prepared, lowered, time: now() }) {
            Ok(()) => self.kept.add(1),
            Err(_) => self.lost.add(1),
        }
    }

    fn try_append(&self, done: &Done<'_, '_>) -> Result<(), Error> {
        let id = match wait(self.store.session_of(done.transcript))? {
            Some(id) => id,
            None => self.begin(done.transcript)?,
        };
        wait(self.store.append(&id, done)).map(drop)
    }

    fn begin(&self, transcript: &Transcript<'_>) -> Result<SessionId, Error> {
        wait(self.store.begin(&title(transcript)))
    }
}

/// What was said first.
fn title(transcript: &Transcript<'_>) -> String {
    let asked = transcript.messages.iter().filter(|message| message.role == Role::User);
    let texts = asked.flat_map(|message| &message.parts).filter_map(|part| match part {
        Part::Text(text) => Some(text.text.decode()),
        _ => None,
    });
    let words = texts.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    let first = words.into_iter().find(|words| !words.is_empty());
    first.map_or_else(|| "(no words)".to_owned(), |words| words.chars().take(TITLE).collect())
}

/// Milliseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
