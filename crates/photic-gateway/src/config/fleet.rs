//! The servers that many gateways share, and who may come in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

impl FleetConfig {
    /// Returns `true` if a server is named.
    #[cfg(not(feature = "fleet"))]
    pub(crate) fn is_set(&self) -> bool {
        let named = |address: &Option<String>| address.as_ref().is_some_and(|one| !one.is_empty());
        named(&self.postgres) || named(&self.bucket)
    }

    /// Whether callers have to show a key: without a database there is nothing to compare it with.
    pub(crate) fn asks_for_keys(&self) -> bool {
        self.keys && self.postgres.as_ref().is_some_and(|address| !address.is_empty())
    }
}
