//! Uploads that go straight into the bucket, past every gateway: they lie apart, under a name that
//! only their tenant knows, and a gateway reads them whole before they are anything.
//!
//! Whoever has such an address chooses the bytes under its key. So no blob is ever named by one:
//! what was read is hashed and stored anew, and the upload is removed. An address is signed for a
//! size, which counts as kept from then on; what is larger, late or never taken in is removed.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use object_store::signer::Signer as _;
use photic_store::{BlobError, Error, Tenant};

use crate::{BucketError, Fleet};

/// An upload that is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// Its name, for [`Fleet::take_upload`].
    pub id: String,
    /// Where its bytes go, by `PUT`. It is signed: whoever has it may write there.
    pub url: String,
}

/// The folder of all of them.
pub(crate) const INCOMING: &str = "incoming";

impl Fleet {
    /// An address for an upload of a tenant of at most so many bytes, for some time; `None` if the
    /// tenant has too many that it does not use.
    pub async fn expect_upload(
        &self,
        tenant: &Tenant,
        bytes: u64,
        lasting: Duration,
    ) -> Result<Option<Upload>, Error> {
        let owner = self.record.owner_id(tenant).await?;
        // Whoever asks for more tidies up after itself first.
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

    /// How many bytes an upload was signed for; `None` if none of that name is expected any more.
    pub async fn expected_bytes(&self, tenant: &Tenant, id: &str) -> Result<Option<u64>, Error> {
        self.record.expected_bytes(tenant, id).await
    }

    /// The bytes of an upload, which is gone then; `None` if none of that name is expected, or it is
    /// larger than it was signed for, which is gone, too.
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

    /// Removes what was uploaded and not taken in while there was time; how many uploads that were,
    /// of a tenant or of all.
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

    /// Everything that was uploaded under a tenant's number.
    pub(crate) async fn uploaded(&self, owner: i64) -> Result<Vec<String>, BucketError> {
        let mut found = Vec::new();
        for day in self.bucket.folders(INCOMING).await? {
            found.extend(self.bucket.list(&format!("{INCOMING}/{day}/{owner}")).await?);
        }
        Ok(found)
    }

    /// Removes uploads that belong to nobody, and those of days on which no address that still holds
    /// was signed; how many.
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

/// The key of an upload. Another tenant's name leads to another key, where nothing is.
fn key(owner: i64, id: &str) -> Option<String> {
    let mut parts = id.strip_prefix("up_")?.split('_');
    let (day, random) = (parts.next()?, parts.next()?);
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_day = day.parse::<u16>().is_ok() && day.bytes().all(|byte| byte.is_ascii_digit());
    let is_name = is_day && random.len() == 32 && is_hex(random) && parts.next().is_none();
    is_name.then(|| format!("{INCOMING}/{day}/{owner}/{random}"))
}
