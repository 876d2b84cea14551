//! Stage **recall**: looks up the stored state of the session of a turn.

use std::sync::Arc;

use photic::Transcript;
use photic_store::{ConversationKeys, Tenant};

use super::read::InboundRequest;
use crate::http::Failure;
use crate::media::MediaCache;
use crate::record::{Recorder, SessionContext, StoreBackend};

/// A turn with the stored state of its session.
#[derive(Debug)]
pub(super) struct RecalledRequest {
    pub(super) inbound: Arc<InboundRequest>,
    pub(super) context: SessionContext,
}

/// Looks up sessions, and the media that references refer to.
#[derive(Debug)]
pub(crate) struct Recall {
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) backend: Arc<dyn StoreBackend>,
    pub(crate) cache: Arc<MediaCache>,
}

impl Recall {
    /// Looks up the session of a turn by the keys of its conversation. Turns that are known may be
    /// left out of the transcript.
    ///
    /// # Errors
    ///
    /// Fails if the body uses `photic:` references and the store is unavailable.
    pub(super) async fn recall(
        &self,
        inbound: &Arc<InboundRequest>,
        tenant: Tenant,
        transcript: &Transcript<'_>,
        keys: ConversationKeys,
    ) -> Result<RecalledRequest, Failure> {
        let (mut context, references) = self.recorder.recall(tenant, transcript, keys).await;
        if !references.is_empty() {
            context.media = self.cache.look_up(&self.backend, &context.tenant, references).await?;
        }
        Ok(RecalledRequest { inbound: Arc::clone(inbound), context })
    }
}

impl RecalledRequest {
    /// Creates a turn without a store, with an empty session.
    pub(super) fn without_store(inbound: &Arc<InboundRequest>, tenant: Tenant) -> Self {
        Self { inbound: Arc::clone(inbound), context: SessionContext::nothing(tenant) }
    }
}
