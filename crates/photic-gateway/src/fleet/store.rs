//! A store on servers that many gateways share: `PostgreSQL` and a bucket.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use photic_fleet::Fleet;
use photic_store::record::{RequestOutcome, StoredReply};
use photic_store::{
    BlobError, BlobId, Blobs as _, Error, FinishedTurn, Handles as _, History, LeftOutMessages,
    Media as _, MediaRecord, MediaRef, Record as _, Secret, Tenant, WrittenMessages,
};

use super::availability::Availability;
use crate::future::BoxFuture;
use crate::record::{
    self, DirectUploads, MediaUpload, Server, SessionContext, SignedUpload, StoreBackend, Turn,
};

/// Maximum number of turns that may wait to be written. Servers write many at once.
const MAX_WAITING: u32 = 64;

/// A store on servers. While one of them does not answer, no request waits for it.
#[derive(Debug)]
pub(crate) struct FleetBackend {
    fleet: Fleet,
    availability: Availability,
}

impl FleetBackend {
    /// Creates a store on the servers of a fleet.
    pub(crate) fn new(fleet: Fleet) -> Self {
        Self { fleet, availability: Availability::default() }
    }
}

impl StoreBackend for FleetBackend {
    fn recall(
        &self,
        mut context: SessionContext,
        references: bool,
    ) -> BoxFuture<'_, SessionContext> {
        Box::pin(async move {
            if self.availability.is_away(Server::Record) {
                return context;
            }
            let store = self.fleet.store(context.tenant.clone());
            let read = record::recall(&store, &mut context, references).await;
            let _ = self.availability.notice(read);
            context
        })
    }

    fn append<'a>(
        &'a self,
        context: &'a SessionContext,
        done: &'a FinishedTurn<'a, 'a>,
        left_out: Option<LeftOutMessages<'a>>,
    ) -> BoxFuture<'a, Result<(Turn, WrittenMessages), Error>> {
        Box::pin(async move {
            // A turn without media needs no bucket.
            let has_media = !done.transcript.media.is_empty();
            let needed: &[Server] = if has_media { &Server::ALL } else { &[Server::Record] };
            self.availability.require(needed)?;
            let store = self.fleet.store(context.tenant.clone());
            self.availability.notice(record::append(&store, context, done, left_out).await)
        })
    }

    fn conclude<'a>(
        &'a self,
        tenant: &'a Tenant,
        outcome: &'a RequestOutcome,
        reply: Option<&'a StoredReply>,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            self.availability.require(&[Server::Record])?;
            let concluded = self.fleet.record.conclude(tenant, outcome, reply).await;
            self.availability.notice(concluded)
        })
    }

    fn history(&self, tenant: &Tenant) -> Arc<dyn History> {
        Arc::new(self.fleet.store(tenant.clone()))
    }

    fn media<'a>(
        &'a self,
        tenant: &'a Tenant,
        references: &'a [MediaRef],
    ) -> BoxFuture<'a, Result<BTreeMap<MediaRef, MediaRecord>, Error>> {
        Box::pin(async move {
            self.availability.notice(self.fleet.record.media(tenant, references).await)
        })
    }

    fn read<'a>(
        &'a self,
        tenant: &'a Tenant,
        blob: &'a BlobId,
    ) -> BoxFuture<'a, Result<Vec<u8>, BlobError>> {
        Box::pin(async move {
            let read = self.fleet.store(tenant.clone()).blobs.get(blob).await;
            self.availability.notice_blobs(read)
        })
    }

    fn create_media<'a>(
        &'a self,
        tenant: &'a Tenant,
        upload: &'a MediaUpload,
    ) -> BoxFuture<'a, Result<(MediaRef, BlobId), Error>> {
        Box::pin(async move {
            self.availability.require(&Server::ALL)?;
            let stored = async {
                let blob = self.fleet.store(tenant.clone()).blobs.put(&upload.bytes).await?;
                let media = upload.stored_as(blob);
                Ok((self.fleet.record.create_media(tenant, &media).await?, blob))
            };
            self.availability.notice(stored.await)
        })
    }

    fn delete_media<'a>(
        &'a self,
        tenant: &'a Tenant,
        reference: &'a MediaRef,
    ) -> BoxFuture<'a, Result<bool, Error>> {
        Box::pin(async move {
            self.availability.notice(self.fleet.record.delete_media(tenant, reference).await)
        })
    }

    fn secret<'a>(&'a self, tenant: &'a Tenant) -> BoxFuture<'a, Result<Secret, Error>> {
        Box::pin(async move { self.availability.notice(self.fleet.record.secret(tenant).await) })
    }

    fn existing_secret<'a>(
        &'a self,
        tenant: &'a Tenant,
    ) -> BoxFuture<'a, Result<Option<Secret>, Error>> {
        Box::pin(
            async move { self.availability.notice(self.fleet.record.known_secret(tenant).await) },
        )
    }

    fn max_waiting(&self) -> u32 {
        MAX_WAITING
    }

    fn unavailable(&self) -> Vec<Server> {
        Server::ALL.into_iter().filter(|server| self.availability.is_away(*server)).collect()
    }

    fn watch_servers(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.availability.watch(&self.fleet))
    }

    fn direct_uploads(&self) -> Option<&dyn DirectUploads> {
        Some(self)
    }
}

impl DirectUploads for FleetBackend {
    fn expect<'a>(
        &'a self,
        tenant: &'a Tenant,
        bytes: u64,
        lifetime: Duration,
    ) -> BoxFuture<'a, Result<Option<SignedUpload>, Error>> {
        Box::pin(async move {
            let expected = self.fleet.expect_upload(tenant, bytes, lifetime).await;
            let upload = self.availability.notice(expected)?;
            Ok(upload.map(|upload| SignedUpload { id: upload.id, url: upload.url }))
        })
    }

    fn expected_bytes<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Option<u64>, Error>> {
        Box::pin(
            async move { self.availability.notice(self.fleet.expected_bytes(tenant, id).await) },
        )
    }

    fn take<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Option<Bytes>, Error>> {
        Box::pin(async move { self.availability.notice(self.fleet.take_upload(tenant, id).await) })
    }
}
