//! Media that callers upload: an image is sent once, and every turn contains a reference to it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use photic::MediaStub;
use photic::media::{Header, Payload};
use photic_store::{BlobError, Error, Facts, MediaRecord, MediaRef, Tenant};

use super::cache::MediaCache;
use super::signed_path::{self, Claim, MAX_LIFETIME};
use crate::http::{Failure, OverQuota};
use crate::memory::{Share, Use, charged};
use crate::record::{DirectUploads, MediaUpload, SignedUpload, StoreBackend};
use crate::tenant::{Admission, AuditAction, AuditSubject, Caller};

/// Maximum size of an upload.
pub(crate) const MAX_UPLOAD: u64 = 32 << 20;
/// Lifetime of a reference, unless the caller asks for another.
const DEFAULT_LIFETIME: Duration = Duration::from_hours(7 * 24);

/// Media that callers upload.
#[derive(Debug)]
pub(crate) struct MediaLibrary {
    backend: Arc<dyn StoreBackend>,
    cache: Arc<MediaCache>,
    admission: Arc<Admission>,
    /// Maximum lifetime of a reference.
    max_lifetime: Duration,
}

/// A caller, and the memory that its request is charged to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MediaUser<'u> {
    pub(crate) caller: &'u Caller,
    pub(crate) share: &'u Share,
}

impl MediaLibrary {
    /// Creates the library of a store.
    pub(crate) fn new(
        backend: Arc<dyn StoreBackend>,
        cache: Arc<MediaCache>,
        admission: Arc<Admission>,
        max_lifetime: Duration,
    ) -> Self {
        Self { backend, cache, admission, max_lifetime }
    }

    /// Stores bytes of a caller, and returns a reference to them.
    pub(crate) async fn keep(
        &self,
        user: MediaUser<'_>,
        bytes: Bytes,
        lifetime_s: Option<u64>,
    ) -> Result<(MediaRef, MediaRecord), Failure> {
        let MediaUser { caller, share } = user;
        let size = bytes.len() as u64;
        self.admission.reserve_storage(caller, size).await?;
        let lifetime = lifetime_s.map_or(DEFAULT_LIFETIME, Duration::from_secs);
        let lifetime = lifetime.min(self.max_lifetime);
        // The bytes are inspected as base64. The job owns the charge, because it continues if the
        // client disconnects.
        let charge = share.charge(Use::Pixels, size + size / 2).await?;
        let inspecting = move || {
            let inspected = inspect(bytes, lifetime);
            drop(charge);
            inspected
        };
        let inspected = tokio::task::spawn_blocking(inspecting).await;
        let upload = inspected.map_err(|_| Failure::Broken)??;
        let created = self.backend.create_media(&caller.tenant, &upload).await;
        let (reference, blob) = created.map_err(|error| failure(&error))?;
        let subject = AuditSubject::Media(reference.clone());
        self.admission.note(caller, AuditAction::Upload, subject, "taken", size);
        let expires = (signed_path::now() + lifetime.as_millis() as u64).cast_signed();
        let MediaUpload { facts, stub, .. } = upload;
        Ok((reference, MediaRecord { blob, facts, memory: stub, expires }))
    }

    /// Returns the media that a reference refers to.
    ///
    /// # Errors
    ///
    /// Fails with one error if a reference is malformed, unknown, expired, or of another tenant, so
    /// that callers cannot learn about the media of others.
    pub(crate) async fn find(
        &self,
        tenant: &Tenant,
        reference: &str,
    ) -> Result<(MediaRef, MediaRecord), Failure> {
        let reference: MediaRef = reference.parse().map_err(|_| Failure::NoSuchMedia)?;
        let found = self.backend.media(tenant, std::slice::from_ref(&reference)).await;
        let record = found.map_err(|error| failure(&error))?.remove(&reference);
        record.map(|record| (reference, record)).ok_or(Failure::NoSuchMedia)
    }

    /// Reads the bytes of media, charged to a request.
    pub(crate) async fn read(
        &self,
        tenant: &Tenant,
        share: &Share,
        record: &MediaRecord,
    ) -> Result<Bytes, Failure> {
        let charge = share.charge(Use::Fetched, record.facts.bytes).await?;
        let read = self.backend.read(tenant, &record.blob).await;
        let bytes = read.map_err(|error| failure(&error.into()))?;
        Ok(charged(bytes.into(), charge))
    }

    /// Deletes a reference. Returns `true` if there was one.
    pub(crate) async fn forget(
        &self,
        tenant: &Tenant,
        reference: &MediaRef,
    ) -> Result<bool, Failure> {
        let removed = self.backend.delete_media(tenant, reference).await;
        self.cache.forget(tenant, reference);
        removed.map_err(|error| failure(&error))
    }

    /// Signs a path that shows a picture without a key. Returns it with its end, in milliseconds since
    /// 1970.
    pub(crate) async fn sign(
        &self,
        tenant: &Tenant,
        reference: &str,
        lifetime_s: Option<u64>,
    ) -> Result<(String, u64), Failure> {
        let (reference, record) = self.find(tenant, reference).await?;
        let lifetime = lifetime_s.map_or(MAX_LIFETIME, Duration::from_secs).min(MAX_LIFETIME);
        let expires = signed_path::now() + lifetime.as_millis() as u64;
        let expires = expires.min(record.expires.cast_unsigned());
        let secret = self.backend.secret(tenant).await.map_err(|error| failure(&error))?;
        Ok((signed_path::path(&secret, tenant, &reference, expires), expires))
    }

    /// Checks a signed path, and returns the media that it shows with their tenant.
    pub(crate) async fn signed(&self, path: &str) -> Result<(Tenant, MediaRecord), Failure> {
        let claim = Claim::read(path).ok_or(Failure::NotSigned)?;
        // A claim creates no secret for the tenant that it names.
        let secret = self.backend.existing_secret(&claim.tenant).await;
        let secret = secret.map_err(|error| failure(&error))?.ok_or(Failure::NotSigned)?;
        if !claim.holds(&secret, signed_path::now()) {
            return Err(Failure::NotSigned);
        }
        let (_, record) = self.find(&claim.tenant, claim.name.as_str()).await?;
        Ok((claim.tenant, record))
    }

    /// Signs an address at which a client may put bytes itself. The announced bytes count as stored
    /// from now on. Returns the upload, its bytes, and its end in milliseconds since 1970.
    pub(crate) async fn expect_upload(
        &self,
        caller: &Caller,
        bytes: Option<u64>,
        lifetime_s: Option<u64>,
    ) -> Result<(SignedUpload, u64, u64), Failure> {
        let uploads = self.direct_uploads()?;
        let lifetime = lifetime_s.map_or(MAX_LIFETIME, Duration::from_secs).min(MAX_LIFETIME);
        let bytes = bytes.unwrap_or(MAX_UPLOAD);
        if bytes > MAX_UPLOAD {
            return Err(Failure::TooLarge { limit: MAX_UPLOAD });
        }
        self.admission.reserve_storage(caller, bytes).await?;
        let expected = uploads.expect(&caller.tenant, bytes, lifetime).await;
        let expected = expected.map_err(|error| failure(&error)).transpose();
        match expected.unwrap_or_else(|| Err(self.too_many_uploads(caller))) {
            Ok(upload) => Ok((upload, bytes, signed_path::now() + lifetime.as_millis() as u64)),
            Err(failure) => {
                self.admission.release_storage(caller, bytes).await;
                Err(failure)
            }
        }
    }

    /// Takes over the bytes that a client has put at a signed address.
    pub(crate) async fn take_upload(
        &self,
        user: MediaUser<'_>,
        id: &str,
        lifetime_s: Option<u64>,
    ) -> Result<(MediaRef, MediaRecord), Failure> {
        let uploads = self.direct_uploads()?;
        let tenant = &user.caller.tenant;
        let expected = uploads.expected_bytes(tenant, id).await;
        let expected = expected.map_err(|error| failure(&error))?.ok_or(Failure::NoSuchMedia)?;
        let mut charge = user.share.charge(Use::Fetched, expected).await?;
        let taken = uploads.take(tenant, id).await.map_err(|error| failure(&error))?;
        let bytes = taken.ok_or(Failure::NoSuchMedia)?;
        charge.shrink_to(bytes.len() as u64);
        // From here on the actual size counts instead of the announced one.
        self.admission.release_storage(user.caller, expected).await;
        self.keep(user, charged(bytes, charge), lifetime_s).await
    }

    fn direct_uploads(&self) -> Result<&dyn DirectUploads, Failure> {
        self.backend.direct_uploads().ok_or(Failure::NoStore)
    }

    /// Returns the failure for a tenant with too many unused upload addresses.
    fn too_many_uploads(&self, caller: &Caller) -> Failure {
        let quota = OverQuota::STORED_BYTES;
        let over = OverQuota { quota, retry_after: Some(MAX_LIFETIME) };
        self.admission.over_quota(caller, over)
    }
}

/// Detects type and size of bytes. Only images and PDF documents are accepted.
fn inspect(bytes: Bytes, lifetime: Duration) -> Result<MediaUpload, Failure> {
    let payload = Payload::encode(&bytes);
    let Header { media_type, size, .. } = payload.header();
    let is_document = media_type == Some("application/pdf");
    if !is_document && (size.is_none() || media_type == Some("image/svg+xml")) {
        return Err(Failure::NotAPicture);
    }
    let stub = MediaStub::of(&payload).ok_or(Failure::NotAPicture)?;
    let facts = Facts {
        media_type: media_type.map(str::to_owned),
        size,
        bytes: bytes.len() as u64,
        label: None,
    };
    Ok(MediaUpload { bytes, facts, stub, lifetime })
}

fn failure(error: &Error) -> Failure {
    match error {
        Error::Blob(BlobError::Absent(_) | BlobError::Damaged(_)) => Failure::NoSuchMedia,
        _ => Failure::StoreAway,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pictures_and_documents_are_accepted() {
        for bad in
            [b"".as_slice(), b"<html>", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"PK\x03\x04"]
        {
            let refused = inspect(Bytes::copy_from_slice(bad), Duration::ZERO);
            assert!(matches!(refused, Err(Failure::NotAPicture)), "{bad:?}");
        }
        let upload = inspect(Bytes::from_static(b"%PDF-1.7\n"), Duration::ZERO).unwrap();
        assert_eq!(upload.facts.media_type.as_deref(), Some("application/pdf"));
    }
}
