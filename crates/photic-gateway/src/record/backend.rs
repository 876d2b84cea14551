//! The interface of the stores that a gateway can keep conversations in.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use photic::MediaStub;
use photic_store::record::{RequestOutcome, StoredReply};
use photic_store::{
    BlobError, BlobId, Error, Facts, FinishedTurn, History, LeftOutMessages, MediaRecord, MediaRef,
    NewMedia, Secret, Tenant, WrittenMessages,
};

use super::session_context::SessionContext;
use super::written_turn::Turn;
use crate::future::BoxFuture;

/// A server of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Server {
    /// The database of conversations.
    Record,
    /// The bucket of blobs.
    Blobs,
}

impl Server {
    /// All servers.
    pub(crate) const ALL: [Self; 2] = [Self::Record, Self::Blobs];

    /// Returns the name in metrics and in `/ready`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Blobs => "blobs",
        }
    }
}

/// An upload that a client puts into the store itself.
#[derive(Debug)]
pub(crate) struct SignedUpload {
    /// The id with which the upload is completed.
    pub(crate) id: String,
    /// The signed URL for a `PUT`. Every client that has it may write there.
    pub(crate) url: String,
}

/// Media that are to be stored under a new reference.
#[derive(Debug)]
pub(crate) struct MediaUpload {
    /// The bytes.
    pub(crate) bytes: Bytes,
    /// Type and size.
    pub(crate) facts: Facts,
    /// The properties that a plan needs while the bytes are not loaded.
    pub(crate) stub: MediaStub,
    /// The time for which the reference is valid.
    pub(crate) lifetime: Duration,
}

impl MediaUpload {
    /// Describes the media for the record, once their bytes are stored.
    pub(crate) fn stored_as(&self, blob: BlobId) -> NewMedia {
        NewMedia {
            blob,
            facts: self.facts.clone(),
            memory: self.stub.clone(),
            session: None,
            lasting: self.lifetime,
        }
    }
}

/// A store for conversations and for media that callers upload.
pub(crate) trait StoreBackend: std::fmt::Debug + Send + Sync {
    /// Loads the stored state of a conversation into a context, and with `references` the secret from
    /// which references to its images are made. State that cannot be read is left out.
    fn recall(&self, context: SessionContext, references: bool) -> BoxFuture<'_, SessionContext>;

    /// Writes a turn, and returns the keys of its messages. A conversation that is not known begins a
    /// session. May block.
    ///
    /// Messages that the session has may be left out. Then nothing is written if it does not have
    /// them.
    fn append<'a>(
        &'a self,
        context: &'a SessionContext,
        done: &'a FinishedTurn<'a, 'a>,
        left_out: Option<LeftOutMessages<'a>>,
    ) -> BoxFuture<'a, Result<(Turn, WrittenMessages), Error>>;

    /// Writes the outcome of a request, and the reply if it is kept.
    fn conclude<'a>(
        &'a self,
        tenant: &'a Tenant,
        outcome: &'a RequestOutcome,
        reply: Option<&'a StoredReply>,
    ) -> BoxFuture<'a, Result<(), Error>>;

    /// Returns the sessions of a tenant, for programs that show them.
    fn history(&self, tenant: &Tenant) -> Arc<dyn History>;

    /// Returns the media that references of a tenant refer to. References that are unknown, expired,
    /// or of another tenant are left out.
    fn media<'a>(
        &'a self,
        tenant: &'a Tenant,
        references: &'a [MediaRef],
    ) -> BoxFuture<'a, Result<BTreeMap<MediaRef, MediaRecord>, Error>>;

    /// Reads a blob of a tenant.
    fn read<'a>(
        &'a self,
        tenant: &'a Tenant,
        blob: &'a BlobId,
    ) -> BoxFuture<'a, Result<Vec<u8>, BlobError>>;

    /// Stores media, and returns the blob and the reference to it.
    fn create_media<'a>(
        &'a self,
        tenant: &'a Tenant,
        upload: &'a MediaUpload,
    ) -> BoxFuture<'a, Result<(MediaRef, BlobId), Error>>;

    /// Deletes a reference. Returns `true` if there was one.
    fn delete_media<'a>(
        &'a self,
        tenant: &'a Tenant,
        reference: &'a MediaRef,
    ) -> BoxFuture<'a, Result<bool, Error>>;

    /// Returns the secret of a tenant, and creates it if there is none.
    fn secret<'a>(&'a self, tenant: &'a Tenant) -> BoxFuture<'a, Result<Secret, Error>>;

    /// Returns the secret of a tenant if there is one. A claimed name creates no secret.
    fn existing_secret<'a>(
        &'a self,
        tenant: &'a Tenant,
    ) -> BoxFuture<'a, Result<Option<Secret>, Error>>;

    /// Returns the maximum number of turns that may wait to be written.
    fn max_waiting(&self) -> u32;

    /// Returns the servers that do not answer.
    fn unavailable(&self) -> Vec<Server> {
        Vec::new()
    }

    /// Checks its servers periodically. Returns at once if there are none.
    fn watch_servers(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Returns the interface for uploads that bypass the gateway, if the store supports them.
    fn direct_uploads(&self) -> Option<&dyn DirectUploads> {
        None
    }
}

/// Uploads that a client puts into the store itself, under a signed address.
pub(crate) trait DirectUploads: Send + Sync {
    /// Signs an address for an upload. Returns `None` if too many of the tenant are open.
    fn expect<'a>(
        &'a self,
        tenant: &'a Tenant,
        bytes: u64,
        lifetime: Duration,
    ) -> BoxFuture<'a, Result<Option<SignedUpload>, Error>>;

    /// Returns the bytes that were announced for an upload, if there is one.
    fn expected_bytes<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Option<u64>, Error>>;

    /// Takes the bytes of an upload out of the store, if they are there.
    fn take<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Option<Bytes>, Error>>;
}
