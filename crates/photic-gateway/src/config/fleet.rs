//! Settings of a fleet: the database and the bucket that gateways share, and tenant keys.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

impl FleetConfig {
    /// Returns `true` if a server is configured.
    #[cfg(not(feature = "fleet"))]
    pub(crate) fn is_set(&self) -> bool {
        let named = |address: &Option<String>| address.as_ref().is_some_and(|one| !one.is_empty());
        named(&self.postgres) || named(&self.bucket)
    }

    /// Returns `true` if requests must carry a tenant key. Keys need a database to be checked.
    pub(crate) fn asks_for_keys(&self) -> bool {
        self.keys && self.postgres.as_ref().is_some_and(|address| !address.is_empty())
    }
}
