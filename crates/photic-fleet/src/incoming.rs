//! Uploads that go directly into the bucket. They are stored apart, under a name that only their
//! tenant knows, and a gateway reads them completely before they become media.
//!
//! The holder of an upload URL chooses its bytes. So a blob is never named by an upload: its bytes
//! are hashed and stored again, and the upload is removed. A URL is signed for a size, which counts
//! as used from then on. Uploads that are too large, late or never taken are removed.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use object_store::signer::Signer as _;
use photic_store::{BlobError, Error, Tenant};

use crate::{BucketError, Fleet};

/// An expected upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// Its name, for [`Fleet::take_upload`].
    pub id: String,
    /// Signed URL for the `PUT` of its bytes. Its holder may write there.
    pub url: String,
}

/// Folder of all uploads.
pub(crate) const INCOMING: &str = "incoming";

impl Fleet {
    /// Creates a URL for an upload of at most `bytes` bytes, valid for some time. Returns `None` if
    /// the tenant has too many unused ones.
    pub async fn expect_upload(
        &self,
        tenant: &Tenant,
        bytes: u64,
        lasting: Duration,
    ) -> Result<Option<Upload>, Error> {
        let owner = self.record.owner_id(tenant).await?;
        // Late uploads are removed first, so that they do not count.
        self.remove_late_uploads(Some(owner)).await?;
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|_| Error::Random)?;
        let day = self.record.today().await?;
        let id = format!("up_{day}_{:032x}", u128::from_le_bytes(random));
        let key = self.bucket.path(&key(owner, &id).unwrap_or_default());
        if !self.record.expect_upload(tenant, &id, bytes, lasting).await? {
            return Ok(None);
        }
        let url = self.bucket.signer().signed_url(Method::PUT, &key, lasting).await;
        let url = url.map_err(|error| BlobError::Unavailable(error.into()))?;
        Ok(Some(Upload { id, url: url.to_string() }))
    }

    /// Returns the signed size of an upload; `None` if it is not expected any more.
    pub async fn expected_bytes(&self, tenant: &Tenant, id: &str) -> Result<Option<u64>, Error> {
        self.record.expected_bytes(tenant, id).await
    }

    /// Reads and removes an upload. Returns `None` if it is not expected or is larger than signed
    /// for; it is removed then, too.
    pub async fn take_upload(&self, tenant: &Tenant, id: &str) -> Result<Option<Bytes>, Error> {
        let Some(most) = self.record.expected_bytes(tenant, id).await? else { return Ok(None) };
        let owner = self.record.owner_id(tenant).await?;
        let Some(key) = key(owner, id) else { return Ok(None) };
        let bytes = match self.bucket.get(&key, 0..most + 1).await {
            Ok(bytes) => bytes,
            Err(BucketError::Absent) => return Ok(None),
            Err(error) => return Err(BlobError::Unavailable(error.into()).into()),
        };
        self.bucket.remove(&key).await.map_err(|error| BlobError::Unavailable(error.into()))?;
        self.record.end_upload(owner, id).await?;
        Ok(Some(bytes).filter(|bytes| bytes.len() as u64 <= most && !bytes.is_empty()))
    }

    /// Removes expired uploads of a tenant or of all tenants. Returns their number.
    pub(crate) async fn remove_late_uploads(&self, owner: Option<i64>) -> Result<usize, Error> {
        let late = self.record.late_uploads(owner).await?;
        for upload in &late {
            if let Some(key) = key(upload.owner, &upload.name) {
                self.bucket.remove(&key).await.map_err(|error| Error::Unavailable(error.into()))?;
            }
            self.record.end_upload(upload.owner, &upload.name).await?;
        }
        self.record.forget_uploads().await?;
        Ok(late.len())
    }

    /// Lists all uploads of a tenant's number.
    pub(crate) async fn uploaded(&self, owner: i64) -> Result<Vec<String>, BucketError> {
        let mut found = Vec::new();
        for day in self.bucket.folders(INCOMING).await? {
            found.extend(self.bucket.list(&format!("{INCOMING}/{day}/{owner}")).await?);
        }
        Ok(found)
    }

    /// Removes uploads of unknown tenants and of days whose URLs have all expired. Returns their
    /// number.
    pub(crate) async fn remove_stray_uploads(
        &self,
        owners: &[i64],
        today: i32,
    ) -> Result<usize, Error> {
        let away = |error: BucketError| Error::Unavailable(error.into());
        let mut removed = 0;
        for day in self.bucket.folders(INCOMING).await.map_err(away)? {
            let is_over = day.parse::<i32>().map_or(true, |day| day < today - 1);
            let folder = format!("{INCOMING}/{day}");
            for owner in self.bucket.folders(&folder).await.map_err(away)? {
                let is_known = owner.parse().is_ok_and(|owner| owners.contains(&owner));
                if is_known && !is_over {
                    continue;
                }
                for object in self.bucket.list(&format!("{folder}/{owner}")).await.map_err(away)? {
                    self.bucket.remove(&object).await.map_err(away)?;
                    removed += 1;
                }
            }
        }
        Ok(removed)
    }
}

/// Returns the key of an upload. The name of another tenant's upload leads to a key that does not
/// exist.
fn key(owner: i64, id: &str) -> Option<String> {
    let mut parts = id.strip_prefix("up_")?.split('_');
    let (day, random) = (parts.next()?, parts.next()?);
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_day = day.parse::<u16>().is_ok() && day.bytes().all(|byte| byte.is_ascii_digit());
    let is_name = is_day && random.len() == 32 && is_hex(random) && parts.next().is_none();
    is_name.then(|| format!("{INCOMING}/{day}/{owner}/{random}"))
}
