//! Examines what a bucket guarantees by trying it, because S3 servers differ in detail.
//!
//! Test objects are written below `examination/<random>/` and removed again.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use http::{Method, Request};
use object_store::client::HttpRequestBody;
use object_store::signer::Signer as _;
use object_store::{PutMode, PutOptions};
use serde::Serialize;

use crate::bucket::{Bucket, BucketError, BucketOptions, Connections, failed};

/// Result of the examination of a bucket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Examined {
    /// It returns what it stored, whole and in ranges. This is required.
    pub gives_back: bool,
    /// Behavior when an object to create exists already.
    pub creation: Creation,
    /// Number of concurrent creators of one object that were told they succeeded.
    pub winners: usize,
    /// It refuses bytes that differ from the signed ones.
    pub refuses_damage: bool,
    /// Behavior of signed URLs.
    pub expiry: Expiry,
    /// It reports a deleted object as absent.
    pub removes: bool,
}

/// Behavior when an object to create exists already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Creation {
    /// The object stays, and the second creator gets an error.
    Refused,
    /// The server does not support the condition and says so.
    NotKnown,
    /// The object is overwritten silently.
    Overwritten,
}

/// Behavior of signed URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Expiry {
    /// A valid URL works.
    pub good_works: bool,
    /// A URL with a changed signature is refused.
    pub refuses_changed: bool,
    /// An expired URL is refused.
    pub refuses_old: bool,
}

impl Examined {
    /// Returns whether photic can store blobs there. It needs no more.
    pub const fn suffices(&self) -> bool {
        self.gives_back && self.removes
    }

    /// Returns whether signed URLs of the bucket may be given to clients.
    pub const fn may_be_signed_for(&self) -> bool {
        self.expiry.good_works && self.expiry.refuses_changed && self.expiry.refuses_old
    }

    /// Returns whether a created object stays as its creator wrote it.
    pub fn creates_once(&self) -> bool {
        self.creation == Creation::Refused && self.winners == 1
    }
}

/// Number of concurrent creators in the race test.
const RACERS: u8 = 8;

/// Examines the bucket at this URL. See [`Bucket::open`].
pub async fn examine(address: &str) -> Result<Examined, BucketError> {
    let options = BucketOptions { retries: 0, ..BucketOptions::default() };
    let bucket = Bucket::open(address, options)?;
    let damaging = Bucket::open_with(address, options, Connections::tampering(Arc::new(damage)))?;
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|_| BucketError::Random)?;
    let folder = format!("examination/{:032x}", u128::from_le_bytes(random));
    let trial = Trial { bucket: &bucket, folder };
    let examined = trial.run(&damaging).await;
    trial.tidy().await;
    examined
}

struct Trial<'b> {
    bucket: &'b Bucket,
    folder: String,
}

impl Trial<'_> {
    async fn run(&self, damaging: &Bucket) -> Result<Examined, BucketError> {
        Ok(Examined {
            gives_back: self.gives_back().await?,
            creation: self.creation().await?,
            winners: self.winners().await,
            refuses_damage: self.refuses_damage(damaging).await,
            expiry: self.expiry().await?,
            removes: self.removes().await?,
        })
    }

    fn key(&self, name: &str) -> String {
        format!("{}/{name}", self.folder)
    }

    async fn gives_back(&self) -> Result<bool, BucketError> {
        let key = self.key("given");
        let bytes: Vec<u8> = (0..70_000_u32).map(|at| (at % 251) as u8).collect();
        let (one, two) = bytes.split_at(12_345);
        let pieces = [one, two].map(Bytes::copy_from_slice).to_vec();
        self.bucket.put(&key, pieces).await?;
        let whole = self.bucket.get(&key, 0..70_000).await?;
        let stretch = self.bucket.get(&key, 12_000..13_000).await?;
        Ok(whole == bytes && stretch == bytes[12_000..13_000])
    }

    async fn creation(&self) -> Result<Creation, BucketError> {
        let key = self.key("created");
        self.bucket.put(&key, vec![Bytes::from_static(b"first")]).await?;
        let created = self.create(&key, Bytes::from_static(b"second")).await;
        // Only reading reveals a silent overwrite.
        let is_first = self.bucket.get(&key, 0..100).await? == "first";
        Ok(match created {
            _ if !is_first => Creation::Overwritten,
            Err(BucketError::There) => Creation::Refused,
            _ => Creation::NotKnown,
        })
    }

    async fn winners(&self) -> usize {
        let key = self.key("raced");
        let racers = (0..RACERS).map(|racer| self.create(&key, Bytes::from(vec![racer; 1000])));
        join_all(racers).await.iter().filter(|created| created.is_ok()).count()
    }

    async fn create(&self, key: &str, bytes: Bytes) -> Result<(), BucketError> {
        let options = PutOptions::from(PutMode::Create);
        self.bucket.put_with(key, bytes.into(), options).await
    }

    async fn refuses_damage(&self, damaging: &Bucket) -> bool {
        let bytes = Bytes::from_static(b"what was signed");
        damaging.put(&self.key("damaged"), vec![bytes]).await.is_err()
    }

    async fn expiry(&self) -> Result<Expiry, BucketError> {
        let key = self.bucket.path(&self.key("given"));
        let signed = async |seconds| {
            let lasting = Duration::from_secs(seconds);
            let signed = self.bucket.signer().signed_url(Method::GET, &key, lasting).await;
            signed.map(|address| address.to_string()).map_err(failed)
        };
        let good = signed(60).await?;
        let short = signed(1).await?;
        let good_works = self.is_answered(&good).await?;
        let last = if good.ends_with('0') { '1' } else { '0' };
        let changed = format!("{}{last}", &good[..good.len() - 1]);
        let refuses_changed = !self.is_answered(&changed).await?;
        // Clocks differ, and some servers round to seconds.
        tokio::time::sleep(Duration::from_millis(3200)).await;
        Ok(Expiry { good_works, refuses_changed, refuses_old: !self.is_answered(&short).await? })
    }

    async fn is_answered(&self, address: &str) -> Result<bool, BucketError> {
        let request = Request::get(address).body(HttpRequestBody::empty());
        let request = request.map_err(|_| BucketError::Address)?;
        let reply = self.bucket.client().execute(request).await;
        let reply = reply.map_err(|error| BucketError::Unreached(error.into()))?;
        Ok(reply.status().is_success())
    }

    async fn removes(&self) -> Result<bool, BucketError> {
        let key = self.key("given");
        self.bucket.remove(&key).await?;
        let gone = self.bucket.get(&key, 0..10).await;
        Ok(matches!(gone, Err(BucketError::Absent)))
    }

    /// Removes the test objects, as far as possible. Remaining ones are small.
    async fn tidy(&self) {
        for key in self.bucket.list(&self.folder).await.unwrap_or_default() {
            let _ = self.bucket.remove(&key).await;
        }
    }
}

/// Flips one bit.
fn damage(mut pieces: Vec<Bytes>) -> Vec<Bytes> {
    if let Some(piece) = pieces.iter_mut().find(|piece| !piece.is_empty()) {
        let mut bytes = piece.to_vec();
        bytes[0] ^= 1;
        *piece = bytes.into();
    }
    pieces
}
