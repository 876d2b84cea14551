//! The servers that many gateways share, and who may come in.

use std::time::Duration;

use photic_fleet::{Bucket, BucketError, BucketOptions, Fleet, Postgres, PostgresOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::ConfigError;

/// The servers that many gateways share: with both set, conversations are kept there, and tenants
/// have keys. Somebody who runs one gateway needs none of this.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct FleetConfig {
    /// The address of the record's database, `PostgreSQL` 15 or later. Its password comes from the
    /// variable `PGPASSWORD` or a password file, and never stands here.
    #[schemars(example = "postgres://photic@database/photic?sslmode=verify-full")]
    pub postgres: Option<String>,
    /// The bucket of pictures, on any server that speaks S3. Its keys come from the variables of AWS.
    #[schemars(example = "s3://photic?endpoint=https://s3.example&region=eu-central-1")]
    pub bucket: Option<String>,
    /// Whether callers have to show a key of their tenant in `x-photic-key`. Without, all are one.
    pub keys: bool,
    /// How many days conversations and their pictures are kept.
    pub days: u16,
    /// Most connections of this gateway to the database.
    pub connections: u32,
}

impl Default for FleetConfig {
    fn default() -> Self {
        Self { postgres: None, bucket: None, keys: true, days: 30, connections: 16 }
    }
}

/// How long a request waits for the database: the gateway goes on without it.
const DATABASE: Duration = Duration::from_secs(2);
/// How long one waits for the bucket.
const BUCKET: BucketOptions = BucketOptions { patience: Duration::from_secs(8), retries: 2 };

impl FleetConfig {
    /// Whether callers have to show a key: without a database there is nothing to compare it with.
    pub(crate) fn asks_for_keys(&self) -> bool {
        self.keys && self.postgres.as_ref().is_some_and(|address| !address.is_empty())
    }

    /// The servers, if they are named. They need not be there yet.
    pub fn open(&self) -> Result<Option<Fleet>, ConfigError> {
        let named = |address: &Option<String>| address.clone().filter(|one| !one.is_empty());
        let wrong =
            |key: &str, problem: String| ConfigError::Value { key: key.to_owned(), problem };
        let (postgres, bucket) = match (named(&self.postgres), named(&self.bucket)) {
            (None, None) => return Ok(None),
            (Some(postgres), Some(bucket)) => (postgres, bucket),
            (Some(_), None) => return Err(wrong("fleet.bucket", "a bucket is wanted, too".into())),
            (None, Some(_)) => {
                return Err(wrong("fleet.postgres", "a database is wanted, too".into()));
            }
        };
        if has_password(&postgres) {
            let problem = "a password does not belong into a file that others read: set PGPASSWORD";
            return Err(wrong("fleet.postgres", problem.into()));
        }
        let options = PostgresOptions { connections: self.connections, patience: DATABASE };
        let record = Postgres::lazy(&postgres, options).map_err(|_| {
            wrong("fleet.postgres", "`postgres://USER@HOST/DATABASE` is wanted".into())
        })?;
        let bucket = Bucket::open(&bucket, BUCKET)
            .map_err(|error: BucketError| wrong("fleet.bucket", error.to_string()))?;
        Ok(Some(Fleet { record, bucket }))
    }
}

fn has_password(address: &str) -> bool {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let user = authority.rsplit_once('@').map(|(user, _)| user);
    user.is_some_and(|user| user.contains(':')) || address.contains("password=")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_found_wherever_they_stand() {
        for (address, found) in [
            ("postgres://photic@database/photic", false),
            ("postgres://photic@database:5432/photic?sslmode=require", false),
            ("postgres://photic:secret@database/photic", true),
            ("postgres://database/photic?user=photic&password=secret", true),
        ] {
            assert_eq!(has_password(address), found, "{address}");
        }
    }
}
