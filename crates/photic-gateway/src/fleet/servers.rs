//! Connects to the servers of a fleet.

use std::time::Duration;

use photic_fleet::{Bucket, BucketError, BucketOptions, Fleet, Limits, Postgres, PostgresOptions};

use crate::config::{ConfigError, FleetConfig, QuotaConfig};

/// How long a request waits for the database: the gateway goes on without it.
const DATABASE: Duration = Duration::from_secs(2);
/// How long one waits for the bucket.
const BUCKET: BucketOptions = BucketOptions { patience: Duration::from_secs(8), retries: 2 };

impl FleetConfig {
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

/// Returns the limits of a tenant for which nothing else is set.
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
