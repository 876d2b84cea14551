//! The record and the blobs of many replicas and many tenants: `PostgreSQL` and any S3.
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
//! It keeps the same promises as the store on one machine: the same suite runs on both.
//!
//! # What it does not do
//!
//! It serves nothing, decodes no pixels, and is used by nobody on one machine. It gives no caller a
//! key of the bucket and takes none from one. It expects no more of a server that speaks S3 than
//! that it gives back what it took; [`examine`] says what else one can be trusted with.

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

pub use audit::{Audit, Entry, NoSubject, Row, Subject, Verdict, Verified, What};
pub use blobs::BucketBlobs;
pub use bucket::{Bucket, BucketError, BucketOptions};
pub use examine::{Creation, Examined, Expiry, examine};
pub use forget::{Forgotten, Left};
pub use incoming::Upload;
pub use keys::{ApiKey, Gate, KeyFacts, KeyId, Keys, NotAKey, SecretHash};
pub use lessons::LESSONS;
pub use postgres::{Derivatives, Document, Documents, Place, Postgres, PostgresOptions};
pub use quota::{Ask, Guard, Kind, Limits, Over, QuotaOptions, Quotas};
pub use retire::Retired;

/// Sessions of a tenant of the fleet.
pub type FleetStore = Store<Postgres, BucketBlobs>;

/// What all replicas share.
#[derive(Clone, Debug)]
pub struct Fleet {
    /// The record, and where blobs are.
    pub record: Postgres,
    /// The blobs.
    pub bucket: Bucket,
}

impl Fleet {
    /// The sessions of a tenant. It costs nothing to make one for every request.
    pub fn store(&self, tenant: Tenant) -> FleetStore {
        let blobs = BucketBlobs::new(self.record.clone(), self.bucket.clone(), tenant.clone());
        Store::new(self.record.clone(), blobs, tenant)
    }
}
