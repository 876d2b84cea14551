//! What was done for tenants, so that it can be shown afterwards: rows that are only ever added, each
//! bound to the one before by a hash.
//!
//! It never holds pixels, words of a conversation, keys or whole addresses: a [`Subject`] cannot be
//! made of them, and a decision is a word of photic's own. Whoever can write to the database could
//! write a whole chain anew; so [`Audit::verify`] says the last hash, to be noted somewhere else.

mod chain;
mod subject;
mod write;

use photic_store::{Error, Tenant};
use serde::Serialize;

pub(crate) use chain::{Frame, NOTHING};
pub use chain::{Row, Verdict, Verified};
pub use subject::{NoSubject, Subject};
pub use write::Audit;

use crate::keys::KeyId;

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// Something was fetched from somewhere.
    Fetch,
    /// A picture was shown.
    View,
    /// A request was changed so that a model can see.
    Fix,
    /// Something was refused.
    Refusal,
    /// Something was uploaded.
    Upload,
    /// A reference was given out.
    Mint,
    /// A key was made, rotated or revoked.
    Key,
    /// The tenant was forgotten.
    Forget,
}

impl What {
    /// The word in the rows.
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

/// Something that was done, to be written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// With which key, if with one.
    pub key: Option<KeyId>,
    /// What was done.
    pub what: What,
    /// To what.
    pub subject: Subject,
    /// What was decided: a word of photic's own, such as the code of a refusal.
    pub decision: &'static str,
    /// Bytes that came in.
    pub bytes_in: u64,
    /// Bytes that went out to the model, or to whoever looked.
    pub bytes_out: u64,
}

impl Audit {
    /// Rows of a tenant after a number, a page of them; none if there are no more.
    pub async fn export(&self, tenant: &Tenant, after: u64) -> Result<Vec<Row>, Error> {
        self.record().audit_page(tenant, after).await
    }
}
