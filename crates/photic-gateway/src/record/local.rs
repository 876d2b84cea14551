//! A store in local files.

use std::collections::BTreeMap;
use std::sync::Arc;

use photic_store::record::{RequestOutcome, StoredReply};
use photic_store::{
    BlobError, BlobId, Blobs, Error, FinishedTurn, Handles, History, LeftOutMessages, LocalStore,
    Media as _, MediaRecord, MediaRef, Record as _, Secret, Tenant, WrittenMessages, wait,
};

use super::backend::{MediaUpload, StoreBackend};
use super::session_context::SessionContext;
use super::store;
use super::written_turn::Turn;
use crate::future::BoxFuture;

/// Maximum number of turns that may wait to be written. Beyond it replies wait, because each waiting
/// turn holds its body in memory.
const MAX_WAITING: u32 = 8;

/// A store in local files. File operations block, so they run on blocking threads.
#[derive(Debug)]
pub(crate) struct LocalBackend(pub(crate) Arc<LocalStore>);

impl StoreBackend for LocalBackend {
    fn recall(
        &self,
        mut context: SessionContext,
        references: bool,
    ) -> BoxFuture<'_, SessionContext> {
        let store = Arc::clone(&self.0);
        Box::pin(async move {
            let reading = move || {
                let _ = wait(store::recall(&store, &mut context, references));
                context
            };
            tokio::task::spawn_blocking(reading).await.unwrap_or_default()
        })
    }

    fn append<'a>(
        &'a self,
        context: &'a SessionContext,
        done: &'a FinishedTurn<'a, 'a>,
        left_out: Option<LeftOutMessages<'a>>,
    ) -> BoxFuture<'a, Result<(Turn, WrittenMessages), Error>> {
        Box::pin(store::append(&self.0, context, done, left_out))
    }

    fn conclude<'a>(
        &'a self,
        tenant: &'a Tenant,
        outcome: &'a RequestOutcome,
        reply: Option<&'a StoredReply>,
    ) -> BoxFuture<'a, Result<(), Error>> {
        let (store, tenant) = (Arc::clone(&self.0), tenant.clone());
        let (outcome, reply) = (outcome.clone(), reply.cloned());
        Box::pin(async move {
            let writing = move || wait(store.record.conclude(&tenant, &outcome, reply.as_ref()));
            tokio::task::spawn_blocking(writing).await.unwrap_or(Ok(()))
        })
    }

    fn history(&self, _tenant: &Tenant) -> Arc<dyn History> {
        // A local store has one tenant.
        Arc::clone(&self.0) as Arc<dyn History>
    }

    fn media<'a>(
        &'a self,
        tenant: &'a Tenant,
        references: &'a [MediaRef],
    ) -> BoxFuture<'a, Result<BTreeMap<MediaRef, MediaRecord>, Error>> {
        Box::pin(self.0.record.media(tenant, references))
    }

    fn read<'a>(
        &'a self,
        _tenant: &'a Tenant,
        blob: &'a BlobId,
    ) -> BoxFuture<'a, Result<Vec<u8>, BlobError>> {
        let (store, blob) = (Arc::clone(&self.0), *blob);
        Box::pin(async move {
            let reading = move || wait(Blobs::get(&store.blobs, &blob));
            let read = tokio::task::spawn_blocking(reading).await;
            read.unwrap_or_else(|error| Err(std::io::Error::other(error).into()))
        })
    }

    fn create_media<'a>(
        &'a self,
        tenant: &'a Tenant,
        upload: &'a MediaUpload,
    ) -> BoxFuture<'a, Result<(MediaRef, BlobId), Error>> {
        Box::pin(async move {
            let blob = Blobs::put(&self.0.blobs, &upload.bytes).await?;
            let reference = self.0.record.create_media(tenant, &upload.stored_as(blob)).await?;
            Ok((reference, blob))
        })
    }

    fn delete_media<'a>(
        &'a self,
        tenant: &'a Tenant,
        reference: &'a MediaRef,
    ) -> BoxFuture<'a, Result<bool, Error>> {
        Box::pin(self.0.record.delete_media(tenant, reference))
    }

    fn secret<'a>(&'a self, tenant: &'a Tenant) -> BoxFuture<'a, Result<Secret, Error>> {
        Box::pin(Handles::secret(&self.0.record, tenant))
    }

    fn existing_secret<'a>(
        &'a self,
        tenant: &'a Tenant,
    ) -> BoxFuture<'a, Result<Option<Secret>, Error>> {
        Box::pin(async move {
            if *tenant != self.0.tenant {
                return Ok(None);
            }
            Handles::secret(&self.0.record, tenant).await.map(Some)
        })
    }

    fn max_waiting(&self) -> u32 {
        MAX_WAITING
    }
}
