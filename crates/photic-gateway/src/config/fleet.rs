//! Settings of a fleet: the database and the bucket that gateways share, and tenant keys.

use std::time::Duration;

use photic_fleet::{Bucket, BucketError, BucketOptions, Fleet, Postgres, PostgresOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::ConfigError;

/// The servers that several gateways share. With both set, conversations are stored there, and
/// tenants have keys. A single gateway needs none of this.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct FleetConfig {
    /// Address of the database, `PostgreSQL` 15 or later. Its password is read from the variable
    /// `PGPASSWORD` or from a password file, never from this file.
    #[schemars(example = "postgres://photic@database/photic?sslmode=verify-full")]
    pub postgres: Option<String>,
    /// Bucket for images, on any server that speaks S3. Its keys are read from the AWS variables.
    #[schemars(example = "s3://photic?endpoint=https://s3.example&region=eu-central-1")]
    pub bucket: Option<String>,
    /// If true, requests must carry a tenant key in `x-photic-key`. If false, all callers are one
    /// tenant.
    pub keys: bool,
    /// Days for which conversations and their images are kept.
    pub days: u16,
    /// Maximum connections of this gateway to the database.
    pub connections: u32,
}

impl Default for FleetConfig {
    fn default() -> Self {
        Self { postgres: None, bucket: None, keys: true, days: 30, connections: 16 }
    }
}

/// Time for which a request waits for the database. Then the gateway continues without it.
const DATABASE_TIMEOUT: Duration = Duration::from_secs(2);
/// Time limit and retries of requests to the bucket.
const BUCKET_OPTIONS: BucketOptions =
    BucketOptions { patience: Duration::from_secs(8), retries: 2 };

impl FleetConfig {
    /// Returns `true` if requests must carry a tenant key. Keys need a database to be checked.
    pub(crate) fn asks_for_keys(&self) -> bool {
        self.keys && self.postgres.as_ref().is_some_and(|address| !address.is_empty())
    }

    /// Opens the configured servers, or returns `None` if none are configured. It does not connect:
    /// the servers may start later.
    ///
    /// # Errors
    ///
    /// Fails if only one of the two servers is set, or if an address cannot be used.
    pub fn open(&self) -> Result<Option<Fleet>, ConfigError> {
        let named = |address: &Option<String>| address.clone().filter(|one| !one.is_empty());
        let wrong =
            |key: &str, problem: String| ConfigError::Value { key: key.to_owned(), problem };
        let (postgres, bucket) = match (named(&self.postgres), named(&self.bucket)) {
            (None, None) => return Ok(None),
            (Some(postgres), Some(bucket)) => (postgres, bucket),
            (Some(_), None) => {
                let problem = "not set; a fleet needs a bucket beside `fleet.postgres`";
                return Err(wrong("fleet.bucket", problem.into()));
            }
            (None, Some(_)) => {
                let problem = "not set; a fleet needs a database beside `fleet.bucket`";
                return Err(wrong("fleet.postgres", problem.into()));
            }
        };
        if has_password(&postgres) {
            let problem = "the address contains a password; remove it and set `PGPASSWORD`";
            return Err(wrong("fleet.postgres", problem.into()));
        }
        let options = PostgresOptions { connections: self.connections, patience: DATABASE_TIMEOUT };
        let record = Postgres::lazy(&postgres, options).map_err(|_| {
            let problem = "invalid address; write it like `postgres://USER@HOST/DATABASE`";
            wrong("fleet.postgres", problem.into())
        })?;
        let bucket = Bucket::open(&bucket, BUCKET_OPTIONS)
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
