//! The stored state of a conversation that planning needs.
//!
//! It is looked up once for each request, because the store may be remote.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use photic::retention::Retention;
use photic::transcript::MediaId;
use photic::{Choice, Digest, FetchResult, MediaStub, Policy, Reason, Survey, Transcript};
use photic_store::record::Chain;
use photic_store::{
    BlobId, ConversationKeys, Handle, MediaRecord, PreviousTurn, Secret, SessionId, Tenant,
};

use super::run_sessions::{RequestStart, RunSessions};

/// The media of a conversation that came as references: the stub of each, by its id.
pub(crate) type Named<'m> = BTreeMap<MediaId, &'m MediaStub>;

/// The stored state of a conversation.
#[derive(Debug)]
pub(crate) struct SessionContext {
    /// The tenant that owns it.
    pub(crate) tenant: Tenant,
    /// The keys of the conversation after each of its messages, if they are known.
    pub(crate) keys: Option<Arc<ConversationKeys>>,
    /// The session that it continues, if there is one.
    pub(crate) session: Option<SessionId>,
    /// The sessions of the run, if the gateway serves a single command, and how the request begins.
    pub(super) run: Option<(Arc<RunSessions>, RequestStart)>,
    /// The user's choices for its images.
    pub(super) choices: BTreeMap<Digest, Choice>,
    /// The turn before this one, as it was sent.
    pub(super) past: Option<PreviousTurn>,
    /// The secret from which references are made, if notices contain references.
    pub(super) secret: Option<Secret>,
    /// The media that references in it refer to.
    pub(crate) media: BTreeMap<String, Arc<MediaRecord>>,
}

impl Default for SessionContext {
    fn default() -> Self {
        Self::nothing(Tenant::local())
    }
}

impl SessionContext {
    /// Creates an empty context of a tenant.
    pub(crate) const fn nothing(tenant: Tenant) -> Self {
        Self {
            tenant,
            keys: None,
            session: None,
            run: None,
            choices: BTreeMap::new(),
            past: None,
            secret: None,
            media: BTreeMap::new(),
        }
    }

    /// Creates a context that knows the keys of the conversation and nothing else.
    pub(super) fn of(tenant: Tenant, keys: ConversationKeys) -> Self {
        Self { keys: Some(Arc::new(keys)), ..Self::nothing(tenant) }
    }

    /// Returns the keys of the conversation, the last first.
    pub(super) fn last_first(&self) -> Vec<Chain> {
        self.keys.as_ref().map(|keys| keys.last_first()).unwrap_or_default()
    }

    /// Puts stubs in the place of media that came as references, and returns the stub of each.
    pub(crate) fn put_stubs<'r>(&'r self, transcript: &mut Transcript<'r>) -> Named<'r> {
        let mut named = Named::new();
        for (id, reference) in photic::references(transcript) {
            match self.media.get(&reference) {
                Some(media) => {
                    transcript.put_fetched(id, FetchResult::Bytes(media.memory.stand_in()));
                    named.insert(id, &media.memory);
                }
                None => transcript.put_fetched(id, FetchResult::Withheld(Reason::FetchFailed)),
            }
        }
        named
    }

    /// Returns the policy with the user's choices for images of this conversation, and with the images
    /// that the turn before elided. Those stay elided unless the model or the policy has changed.
    pub(crate) fn policy<'p>(
        &self,
        usual: &'p Policy,
        retention: Retention,
        profile: &str,
    ) -> Cow<'p, Policy> {
        let is_same = |past: &&PreviousTurn| {
            past.retention == retention
                && past.sent.as_ref().is_some_and(|sent| sent.profile == profile)
        };
        let past = self.past.as_ref().filter(is_same).filter(|past| !past.retired.is_empty());
        if self.choices.is_empty() && past.is_none() {
            return Cow::Borrowed(usual);
        }
        let mut policy = usual.clone();
        policy.choices.clone_from(&self.choices);
        if let Some(past) = past {
            policy.retired.clone_from(&past.retired);
        }
        Cow::Owned(policy)
    }

    /// Adds digests and references of images to a survey, and the turn before. Choices are found by
    /// digest.
    pub(crate) fn identify(&self, transcript: &Transcript<'_>, survey: &mut Survey) {
        survey.former = self.past.as_ref().and_then(|past| past.sent.clone());
        let has_retired = self.past.as_ref().is_some_and(|past| !past.retired.is_empty());
        if self.choices.is_empty() && self.secret.is_none() && !has_retired {
            return;
        }
        survey.identify(transcript);
        let Some(secret) = &self.secret else { return };
        for sighting in &mut survey.sightings {
            let name = sighting.digest.map(|digest| Handle::of(secret, &BlobId::from(digest)));
            sighting.reference = name.map(|name| name.as_str().to_owned());
        }
    }
}
