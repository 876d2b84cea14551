//! Uploads that go straight into the bucket, past every gateway: they lie apart, under a name that
//! only their tenant knows, and count for nothing until a gateway has read them, whole.
//!
//! Whoever has such an address chooses the bytes under its key. So no blob is ever named by one:
//! what was read is hashed and stored anew, and the upload is removed.

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
    /// An address for an upload of a tenant, for some time.
    pub async fn expect_upload(&self, tenant: &Tenant, lasting: Duration) -> Result<Upload, Error> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|_| Error::Random)?;
        let day = self.record.today().await?;
        let id = format!("up_{day}_{:032x}", u128::from_le_bytes(random));
        let key = self.bucket.path(&self.upload_key(tenant, &id).await?.unwrap_or_default());
        let url = self.bucket.signer().signed_url(Method::PUT, &key, lasting).await;
        let url = url.map_err(|error| BlobError::Away(error.into()))?;
        Ok(Upload { id, url: url.to_string() })
    }

    /// The bytes of an upload, which is gone then; `None` if there is none of that name, or it is
    /// larger than `most`, which is gone, too.
    pub async fn take_upload(
        &self,
        tenant: &Tenant,
        id: &str,
        most: u64,
    ) -> Result<Option<Bytes>, Error> {
        let Some(key) = self.upload_key(tenant, id).await? else { return Ok(None) };
        let bytes = match self.bucket.get(&key, 0..most + 1).await {
            Ok(bytes) => bytes,
            Err(BucketError::Absent) => return Ok(None),
            Err(error) => return Err(BlobError::Away(error.into()).into()),
        };
        self.bucket.remove(&key).await.map_err(|error| BlobError::Away(error.into()))?;
        Ok(Some(bytes).filter(|bytes| bytes.len() as u64 <= most && !bytes.is_empty()))
    }

    /// The key of an upload. Another tenant's name leads to another key, where nothing is.
    async fn upload_key(&self, tenant: &Tenant, id: &str) -> Result<Option<String>, Error> {
        let mut parts = id.strip_prefix("up_").unwrap_or_default().split('_');
        let (day, random) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_day = day.parse::<u16>().is_ok() && day.bytes().all(|byte| byte.is_ascii_digit());
        if !is_day || random.len() != 32 || !is_hex(random) || parts.next().is_some() {
            return Ok(None);
        }
        let owner = self.record.owner_id(tenant).await?;
        Ok(Some(format!("{INCOMING}/{day}/{owner}/{random}")))
    }
}
