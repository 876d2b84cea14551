//! Settings of the default quota of a tenant.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Quota of each tenant over all gateways together. `photic fleet limits` overrides it for one
/// tenant. A value that is not set is not limited.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct QuotaConfig {
    /// Requests per minute.
    #[schemars(example = 600)]
    pub requests_per_minute: Option<u64>,
    /// Total size of running requests, in MiB.
    #[schemars(example = 512)]
    pub in_flight_mib: Option<u64>,
    /// Pixels decoded per minute, in millions.
    #[schemars(example = 3000)]
    pub megapixels_per_minute: Option<u64>,
    /// Stored bytes, in MiB.
    #[schemars(example = 102_400)]
    pub stored_mib: Option<u64>,
}
