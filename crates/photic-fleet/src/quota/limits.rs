//! Limits of tenants, and what exceeds them.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A limited quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum QuotaKind {
    /// Requests per minute.
    Requests,
    /// Bytes of requests that are being processed.
    BytesInFlight,
    /// Millions of decoded pixels per minute.
    Megapixels,
    /// Stored bytes.
    StoredBytes,
}

impl QuotaKind {
    /// Returns the name used in messages and in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::BytesInFlight => "bytes_in_flight",
            Self::Megapixels => "megapixels",
            Self::StoredBytes => "stored_bytes",
        }
    }
}

/// Limits of a tenant. `None` means unlimited, or the default if set for one tenant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Requests per minute of the clock.
    pub requests_per_minute: Option<u64>,
    /// Bytes of concurrent requests.
    pub bytes_in_flight: Option<u64>,
    /// Millions of pixels per minute of the clock.
    pub megapixels_per_minute: Option<u64>,
    /// Bytes in the bucket. Those stored by other replicas in the last seconds may be missing.
    pub stored_bytes: Option<u64>,
}

impl Limits {
    /// Fills missing limits with defaults.
    #[must_use]
    pub fn or(self, defaults: Self) -> Self {
        Self {
            requests_per_minute: self.requests_per_minute.or(defaults.requests_per_minute),
            bytes_in_flight: self.bytes_in_flight.or(defaults.bytes_in_flight),
            megapixels_per_minute: self.megapixels_per_minute.or(defaults.megapixels_per_minute),
            stored_bytes: self.stored_bytes.or(defaults.stored_bytes),
        }
    }
}

/// Options of the quotas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaOptions {
    /// Limits of tenants without their own.
    pub defaults: Limits,
    /// Assumed number of replicas until the database reports it.
    pub replicas: u32,
    /// Longest time a request waits for the database.
    pub patience: Duration,
    /// Time after which a silent replica is considered gone.
    pub lease: Duration,
}

impl Default for QuotaOptions {
    fn default() -> Self {
        Self {
            defaults: Limits::default(),
            replicas: 1,
            patience: Duration::from_millis(500),
            lease: Duration::from_secs(15),
        }
    }
}

/// Amounts that a request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaRequest {
    /// Number of requests it counts as.
    pub requests: u64,
    /// Its size in bytes.
    pub bytes: u64,
}

/// Error of a request that exceeds a limit of its tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the tenant's limit of {} is reached", what.as_str())]
pub struct QuotaExceeded {
    /// The exceeded limit.
    pub what: QuotaKind,
    /// Time until a retry may succeed; `None` if the request exceeds the limit by itself.
    pub retry_after: Option<Duration>,
}

/// State under these locks is never left inconsistent.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
