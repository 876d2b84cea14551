//! The record and blobs of a fleet: many gateways and tenants on one `PostgreSQL` and one S3
//! bucket. It implements the traits of `photic-store`, so that everything works as on one machine. It adds
//! what a shared service needs: API keys, quotas, an audit log, retention by day, and forgetting a
//! tenant.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use photic_fleet::{Bucket, BucketOptions, Fleet, Postgres, PostgresOptions};
//! use photic_store::Tenant;
//!
//! let record = Postgres::open("postgres://photic@database/photic", PostgresOptions::default());
//! let bucket = Bucket::open("s3://photic?region=eu-central-1", BucketOptions::default())?;
//! let fleet = Fleet { record: record.await?, bucket };
//! let sessions = fleet.store(Tenant::new("acme")).sessions().await?;
//! fleet.retire(30).await?;
//! # Ok(())
//! # }
//! ```
//!
//! API keys work without a server:
//!
//! ```
//! use photic_fleet::ApiKey;
//!
//! let key = ApiKey::random()?;
//! let shown_once = key.reveal();
//! assert!(shown_once.starts_with("pk_"));
//! assert_eq!(shown_once.parse::<ApiKey>()?.hash(), key.hash());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The contract suite of `photic-store` runs on this backend, too.
//!
//! | module | purpose |
//! |---|---|
//! | `postgres` | the record in `PostgreSQL`, one file per topic |
//! | `bucket` | objects in an S3 bucket |
//! | `blobs`, `packs` | blobs as ranges of objects, packed by day |
//! | `incoming` | uploads directly into the bucket |
//! | `keys` | API keys and their cache |
//! | `quota` | limits per tenant, shared by all replicas |
//! | `audit` | hash-chained audit log |
//! | `lessons` | learned facts about endpoints |
//! | `retire` | deletes old days |
//! | `forget` | deletes a tenant |
//! | `examine` | tests what a bucket guarantees |
//!
//! # What it does not do
//!
//! It serves nothing and decodes no pixels, and a single machine does not need it. It never gives
//! clients the keys of the bucket. It requires of an S3 server only that it returns what it stored;
//! [`examine`] reports what else a server guarantees.

mod audit;
mod blobs;
mod bucket;
mod examine;
mod forget;
mod incoming;
mod keys;
mod lessons;
mod packs;
mod postgres;
mod quota;
mod retire;

use photic_store::{Store, Tenant};

pub use audit::{Audit, AuditAction, Entry, NoSubject, Row, Subject, Verdict, Verified};
pub use blobs::BucketBlobs;
pub use bucket::{Bucket, BucketError, BucketOptions};
pub use examine::{Creation, Examined, Expiry, examine};
pub use forget::{Forgotten, RemainingData};
pub use incoming::Upload;
pub use keys::{ApiKey, KeyCache, KeyFacts, KeyId, Keys, NotAKey, SecretHash};
pub use lessons::LESSONS;
pub use postgres::{BlobLocation, Derivatives, Document, Documents, Postgres, PostgresOptions};
pub use quota::{
    InFlightGuard, Limits, QuotaExceeded, QuotaKind, QuotaOptions, QuotaRequest, Quotas,
};
pub use retire::Retired;

/// Sessions of a tenant of the fleet.
pub type FleetStore = Store<Postgres, BucketBlobs>;

/// The servers that all replicas share.
#[derive(Clone, Debug)]
pub struct Fleet {
    /// The record and the index of blobs.
    pub record: Postgres,
    /// The bucket of blobs.
    pub bucket: Bucket,
}

impl Fleet {
    /// Returns the sessions of a tenant. It is cheap enough to call for every request.
    pub fn store(&self, tenant: Tenant) -> FleetStore {
        let blobs = BucketBlobs::new(self.record.clone(), self.bucket.clone(), tenant.clone());
        Store::new(self.record.clone(), blobs, tenant)
    }
}
