//! The audit log of tenants: rows that are only appended, each linked to the previous one by a
//! hash.
//!
//! It never contains pixels, words of a conversation, keys or full URLs: a [`Subject`] cannot be
//! made from them, and decisions are fixed words. A writer with access to the database could
//! rewrite a whole chain; so [`Audit::verify`] returns the last hash, to be stored elsewhere.

mod chain;
mod subject;
mod write;

use photic_store::{Error, Tenant};
use serde::Serialize;

pub(crate) use chain::{ChainBounds, GENESIS_HASH};
pub use chain::{Row, Verdict, Verified};
pub use subject::{NoSubject, Subject};
pub use write::Audit;

use crate::keys::KeyId;

/// An audited action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditAction {
    /// A URL was fetched.
    Fetch,
    /// A picture was shown.
    View,
    /// A request was repaired.
    Fix,
    /// A request was refused.
    Refusal,
    /// Media were uploaded.
    Upload,
    /// A reference was issued.
    Mint,
    /// A key was created, rotated or revoked.
    Key,
    /// The tenant was forgotten.
    Forget,
}

impl AuditAction {
    /// Returns the word that rows contain.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fetch => "fetch",
            Self::View => "view",
            Self::Fix => "fix",
            Self::Refusal => "refusal",
            Self::Upload => "upload",
            Self::Mint => "mint",
            Self::Key => "key",
            Self::Forget => "forget",
        }
    }
}

/// An action to record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key that was used, if any.
    pub key: Option<KeyId>,
    /// The action.
    pub what: AuditAction,
    /// The subject of the action.
    pub subject: Subject,
    /// The decision: a fixed word, such as the code of a refusal.
    pub decision: &'static str,
    /// Bytes received.
    pub bytes_in: u64,
    /// Bytes sent to the model or the client.
    pub bytes_out: u64,
}

impl Audit {
    /// Returns a page of a tenant's rows after a number. The page is empty at the end.
    pub async fn export(&self, tenant: &Tenant, after: u64) -> Result<Vec<Row>, Error> {
        self.record().audit_page(tenant, after).await
    }
}
