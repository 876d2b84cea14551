//! Callers: their identity, their quota, and the audit of what was done for them.

mod admission;
mod audit;
mod callers;
mod identity;
mod quota;

pub(crate) use admission::{Admission, Admitted};
#[cfg(feature = "fleet")]
pub(crate) use audit::AuditLog;
pub(crate) use audit::{AuditAction, AuditEntry, AuditSubject, Auditing};
pub(crate) use callers::{Caller, Callers, KeyPlace};
#[cfg(feature = "fleet")]
pub(crate) use callers::{KeyOwner, KeyRing, KeysAway};
pub use identity::{Identity, NoIdentity};
pub(crate) use quota::Quota;
#[cfg(feature = "fleet")]
pub(crate) use quota::QuotaGuard;
