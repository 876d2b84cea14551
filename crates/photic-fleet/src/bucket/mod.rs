//! An S3 bucket with keys that only photic chooses.
//!
//! A key is written once, so no guarantee about overwriting is needed. Readers verify the content.
//! Clients never learn a key.

mod connections;

use std::error::Error as StdError;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _};
use object_store::aws::{AmazonS3, AmazonS3Builder, Checksum};
use object_store::client::HttpClient;
use object_store::path::Path;
use object_store::{
    GetOptions, ObjectStore, ObjectStoreExt as _, PutOptions, PutPayload, RetryConfig,
};
use url::Url;

pub(crate) use connections::Connections;

/// Options of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketOptions {
    /// Longest time of an operation, retries included.
    pub patience: Duration,
    /// Number of retries.
    pub retries: usize,
}

impl Default for BucketOptions {
    fn default() -> Self {
        Self { patience: Duration::from_secs(20), retries: 3 }
    }
}

/// Longest time of a health check.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(2);

/// A bucket. Clones share their connections.
#[derive(Clone, Debug)]
pub struct Bucket {
    objects: Arc<AmazonS3>,
    client: HttpClient,
    /// Prefix of every key: empty, or a folder with a slash.
    folder: String,
    patience: Duration,
}

/// Error of a bucket.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BucketError {
    /// The URL is not that of a bucket.
    #[error(
        "a bucket URL is `s3://NAME` or `s3://NAME/FOLDER`, with `?endpoint=…&region=…` outside of \
         AWS"
    )]
    Address,
    /// The object does not exist.
    #[error("the object does not exist")]
    Absent,
    /// The object exists already.
    #[error("the object exists already")]
    There,
    /// The operation took too long.
    #[error("the server of the bucket did not answer in time")]
    Late,
    /// The system has no random numbers.
    #[error("the system has no random numbers")]
    Random,
    /// A signed URL was not answered.
    #[error("the server of the bucket is unreachable")]
    Unreached(#[source] Box<dyn StdError + Send + Sync>),
    /// The server refused or is unreachable.
    #[error("the server of the bucket failed")]
    Server(#[source] Box<dyn StdError + Send + Sync>),
}

impl Bucket {
    /// Opens a bucket by its URL: `s3://NAME`, or `s3://NAME/FOLDER` for a shared bucket, with
    /// `?endpoint=` and `&region=` outside of AWS. Credentials come from the usual environment
    /// variables of S3 clients, never from the URL.
    pub fn open(address: &str, options: BucketOptions) -> Result<Self, BucketError> {
        Self::open_with(address, options, Connections::default())
    }

    /// Opens a bucket with special connections.
    pub(crate) fn open_with(
        address: &str,
        options: BucketOptions,
        connections: Connections,
    ) -> Result<Self, BucketError> {
        let address = Url::parse(address).map_err(|_| BucketError::Address)?;
        let name = address.host_str().filter(|_| address.scheme() == "s3");
        let holds_secrets = !address.username().is_empty() || address.password().is_some();
        let name = name.filter(|_| !holds_secrets).ok_or(BucketError::Address)?;
        let folder = match address.path().trim_matches('/') {
            "" => String::new(),
            folder => format!("{folder}/"),
        };
        let mut builder = AmazonS3Builder::from_env()
            .with_bucket_name(name)
            .with_checksum_algorithm(Checksum::SHA256)
            // Not every server supports bulk deletion.
            .with_disable_bulk_delete(true)
            .with_retry(RetryConfig {
                max_retries: options.retries,
                retry_timeout: options.patience,
                ..RetryConfig::default()
            })
            .with_http_connector(connections.clone());
        for (key, value) in address.query_pairs() {
            builder = match &*key {
                // Plain HTTP only if the operator configured it.
                "endpoint" => {
                    builder.with_allow_http(value.starts_with("http:")).with_endpoint(value)
                }
                "region" => builder.with_region(value),
                _ => return Err(BucketError::Address),
            };
        }
        let client = HttpClient::new(connections);
        let objects = Arc::new(builder.build().map_err(failed)?);
        Ok(Self { objects, client, folder, patience: options.patience })
    }

    /// Writes an object from these chunks.
    pub async fn put(&self, key: &str, pieces: Vec<Bytes>) -> Result<(), BucketError> {
        let payload: PutPayload = pieces.into_iter().collect();
        self.put_with(key, payload, PutOptions::default()).await
    }

    pub(crate) async fn put_with(
        &self,
        key: &str,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<(), BucketError> {
        let path = self.path(key);
        self.in_time(self.objects.put_opts(&path, payload, options)).await.map(drop)
    }

    /// Reads a range of an object, or as much of it as exists.
    pub async fn get(&self, key: &str, range: Range<u64>) -> Result<Bytes, BucketError> {
        let path = self.path(key);
        let options = GetOptions { range: Some(range.into()), ..GetOptions::default() };
        self.in_time(async { self.objects.get_opts(&path, options).await?.bytes().await }).await
    }

    /// Deletes an object. A missing object is not an error.
    pub async fn remove(&self, key: &str) -> Result<(), BucketError> {
        let path = futures_util::stream::iter([Ok(self.path(key))]).boxed();
        let removed = self.objects.delete_stream(path).try_collect::<Vec<Path>>();
        match self.in_time(removed).await {
            Ok(_) | Err(BucketError::Absent) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Lists the keys below a folder.
    pub async fn list(&self, folder: &str) -> Result<Vec<String>, BucketError> {
        let keys = self.objects.list(Some(&self.path(folder)));
        let keys = keys.map_ok(|object| {
            let key = object.location.as_ref();
            key.strip_prefix(&self.folder).unwrap_or(key).to_owned()
        });
        self.in_time(keys.try_collect()).await
    }

    /// Lists the folders directly below a folder, by name.
    pub async fn folders(&self, folder: &str) -> Result<Vec<String>, BucketError> {
        let folder = self.path(folder);
        let found = self.in_time(self.objects.list_with_delimiter(Some(&folder))).await?;
        let names = found.common_prefixes.iter().filter_map(|path| path.filename());
        Ok(names.map(str::to_owned).collect())
    }

    /// Returns whether the server of the bucket answers within a moment. It asks for an object that
    /// never exists.
    pub async fn is_there(&self) -> bool {
        let path = self.path("there");
        let asking = tokio::time::timeout(HEALTH_TIMEOUT, self.objects.head(&path));
        matches!(asking.await, Ok(Ok(_) | Err(object_store::Error::NotFound { .. })))
    }

    /// Returns the full key of an object.
    pub(crate) fn path(&self, key: &str) -> Path {
        Path::from(format!("{}{key}", self.folder))
    }

    /// Returns the signer of URLs for this bucket.
    pub(crate) fn signer(&self) -> &AmazonS3 {
        &self.objects
    }

    /// Returns the HTTP client for signed URLs.
    pub(crate) const fn client(&self) -> &HttpClient {
        &self.client
    }

    async fn in_time<T>(
        &self,
        doing: impl Future<Output = Result<T, object_store::Error>>,
    ) -> Result<T, BucketError> {
        let done = tokio::time::timeout(self.patience, doing).await;
        done.map_err(|_| BucketError::Late)?.map_err(failed)
    }
}

/// Converts an error of the client.
pub(crate) fn failed(error: object_store::Error) -> BucketError {
    match error {
        object_store::Error::NotFound { .. } => BucketError::Absent,
        object_store::Error::AlreadyExists { .. } => BucketError::There,
        error => BucketError::Server(error.into()),
    }
}

impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.objects)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_address_of_a_bucket_is_one_and_none_holds_a_key() {
        for good in ["s3://photic", "s3://photic/a/b?endpoint=http://127.0.0.1:1&region=here"] {
            Bucket::open(good, BucketOptions::default()).unwrap();
        }
        for bad in [
            "photic",
            "http://photic",
            "s3://key:secret@photic",
            "s3://photic?endpoint=http://127.0.0.1:1&secret=word",
        ] {
            let error = Bucket::open(bad, BucketOptions::default()).unwrap_err();
            assert!(matches!(error, BucketError::Address), "{bad}: {error:?}");
        }
    }
}
