//! Opens the servers of a fleet.

use std::time::Duration;

use photic_fleet::{Bucket, BucketError, BucketOptions, Fleet, Limits, Postgres, PostgresOptions};

use crate::config::{ConfigError, FleetConfig, QuotaConfig};

/// Time for which a request waits for the database. Then the gateway continues without it.
const DATABASE_TIMEOUT: Duration = Duration::from_secs(2);
/// Time limit and retries of requests to the bucket.
const BUCKET_OPTIONS: BucketOptions =
    BucketOptions { patience: Duration::from_secs(8), retries: 2 };

impl FleetConfig {
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

/// Returns the default limits of a tenant.
pub(super) fn limits(quota: QuotaConfig) -> Limits {
    Limits {
        requests_per_minute: quota.requests_per_minute,
        bytes_in_flight: quota.in_flight_mib.map(|mib| mib << 20),
        megapixels_per_minute: quota.megapixels_per_minute,
        stored_bytes: quota.stored_mib.map(|mib| mib << 20),
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
    fn passwords_are_found_in_every_part_of_an_address() {
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
