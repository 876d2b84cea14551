//! The messages of a recorded conversation, as they are kept so that its next turn hashes and writes
//! only what is new.
//!
//! They are kept with the beginning of the conversation, and used only for a request of the same tenant
//! of which turns are left out. The record looks up the message before the new ones. If it does not
//! have that, or if anything else is not certain, the turn is recorded whole, with the same result.

use std::sync::{Arc, OnceLock};

use photic::json::Segments;
use photic::{LeftOut, Survey, SurveyedMessages, Transcript};
use photic_store::{ConversationKeys, SentBody, SentPrefix, Tenant, WrittenMessages};

use crate::record::SessionContext;

/// The messages of a request.
#[derive(Debug)]
pub(super) struct KnownMessages {
    tenant: Tenant,
    keys: Arc<ConversationKeys>,
    surveyed: SurveyedMessages,
    /// Set when the turn is written.
    written: OnceLock<WrittenMessages>,
    /// The hash of the beginning of the body that was sent.
    sent: OnceLock<SentPrefix>,
}

/// A turn that goes on with a recorded one, without some of its messages.
#[derive(Debug)]
pub(super) struct RecordedPart {
    /// The messages of the request before.
    pub(super) before: Arc<KnownMessages>,
    pub(super) left_out: LeftOut,
}

impl KnownMessages {
    /// Keeps the messages of a request that was read whole, if sessions are recorded.
    pub(super) fn of(context: &SessionContext, survey: &Survey) -> Option<Arc<Self>> {
        let surveyed = SurveyedMessages::of(survey);
        Some(Arc::new(Self::new(context, context.keys.as_ref()?, surveyed)))
    }

    /// Keeps the messages of a request of which some were left out. `survey` is that of the rest.
    /// Returns `None` if they are not certain.
    pub(super) fn extended(
        &self,
        context: &SessionContext,
        survey: &Survey,
        left_out: &LeftOut,
    ) -> Option<Arc<Self>> {
        let surveyed = self.surveyed.extended(survey, left_out)?;
        Some(Arc::new(Self::new(context, context.keys.as_ref()?, surveyed)))
    }

    fn new(
        context: &SessionContext,
        keys: &Arc<ConversationKeys>,
        surveyed: SurveyedMessages,
    ) -> Self {
        let (tenant, keys) = (context.tenant.clone(), Arc::clone(keys));
        let (written, sent) = (OnceLock::new(), OnceLock::new());
        Self { tenant, keys, surveyed, written, sent }
    }

    /// Returns the keys of a request of which some messages are left out. Returns `None` if its
    /// conversation is another one.
    pub(super) fn keys(
        &self,
        tenant: &Tenant,
        transcript: &Transcript<'_>,
        left_out: &LeftOut,
    ) -> Option<ConversationKeys> {
        let keys = self.keys.continued(tenant, transcript, left_out);
        keys.filter(|_| self.tenant == *tenant)
    }

    /// Makes the survey of a request without some messages that of the whole one.
    pub(super) fn put_into(&self, survey: &mut Survey, left_out: &LeftOut) {
        self.surveyed.put_into(survey, left_out);
    }

    /// Returns the keys under which the record has the messages, once it has them.
    pub(super) fn written(&self) -> Option<&WrittenMessages> {
        self.written.get()
    }

    /// Keeps the keys under which the record has the messages.
    pub(super) fn set_written(&self, written: WrittenMessages) {
        // A request is written once.
        let _ = self.written.set(written);
    }

    /// Computes the digest of a body that is sent, and keeps the hash of its first `end` bytes.
    ///
    /// `body` is the request, of which the first `compared` bytes are those of the request `before`.
    pub(super) fn hash(
        &self,
        sent: &Segments<'_>,
        (body, end): (&[u8], usize),
        (before, compared): (Option<&Self>, usize),
    ) -> SentBody {
        // What is sent as it came is a slice of the body.
        let first = sent.iter().next().filter(|first| first.as_ptr() == body.as_ptr());
        let same = first.map_or(0, <[u8]>::len);
        let prefix = before.and_then(|before| before.sent.get().cloned());
        let prefix = prefix.filter(|prefix| prefix.bytes <= compared.min(same));
        let (sent, kept) = SentBody::after(sent, prefix, Some(end).filter(|end| *end < same));
        if let Some(kept) = kept {
            let _ = self.sent.set(kept);
        }
        sent
    }

    /// Returns the number of bytes that they take, also once they are written.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.keys.bytes()
            + self.surveyed.bytes()
            + self.surveyed.count() * WrittenMessages::BYTES_PER_MESSAGE
    }
}
