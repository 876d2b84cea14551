//! What is known about a conversation before it is planned. It is fetched once a request, because
//! it may be far away, and goes along with the body.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use photic::retention::Retention;
use photic::{Choice, Digest, Policy, Survey, Transcript};
use photic_store::record::Chain;
use photic_store::{BlobId, Handle, MediaRecord, PreviousTurn, Secret, SessionId, Tenant};

/// What is known about a conversation.
#[derive(Debug)]
pub(crate) struct SessionContext {
    /// Whose it is.
    pub(crate) tenant: Tenant,
    /// What it is called after each of its messages, the last first.
    pub(super) conversation_key: Vec<Chain>,
    /// The session that it goes on with, if it was known when it came.
    pub(super) session: Option<SessionId>,
    /// What the user chose for its pictures.
    pub(super) choices: BTreeMap<Digest, Choice>,
    /// The turn before this one, as it was sent.
    pub(super) past: Option<PreviousTurn>,
    /// What its pictures are named with, where notices name them.
    pub(super) secret: Option<Secret>,
    /// What the names of media mean that stand in it.
    pub(crate) media: BTreeMap<String, Arc<MediaRecord>>,
}

impl Default for SessionContext {
    fn default() -> Self {
        Self::nothing(Tenant::local())
    }
}

impl SessionContext {
    /// Nothing but whose it is.
    pub(crate) const fn nothing(tenant: Tenant) -> Self {
        Self {
            tenant,
            conversation_key: Vec::new(),
            session: None,
            choices: BTreeMap::new(),
            past: None,
            secret: None,
            media: BTreeMap::new(),
        }
    }

    /// The policy with what the user chose for pictures of this conversation, and with what gave way
    /// in the turn before: it stays out of sight unless the model or the policy is another now.
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

    /// Says what pictures are, for choices to be found, under what names they can be asked for, and
    /// what the turn before was.
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
