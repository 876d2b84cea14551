//! What a tenant may use.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What each tenant may use, by all gateways together, unless `photic fleet limits` says otherwise
/// for it. What is not set is not limited.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct QuotaConfig {
    /// Requests in a minute.
    #[schemars(example = 600)]
    pub requests_per_minute: Option<u64>,
    /// What requests under way may take together, in MiB.
    #[schemars(example = 512)]
    pub in_flight_mib: Option<u64>,
    /// Pixels that are decoded in a minute, in millions.
    #[schemars(example = 3000)]
    pub megapixels_per_minute: Option<u64>,
    /// What may be kept, in MiB.
    #[schemars(example = 102_400)]
    pub stored_mib: Option<u64>,
}
