//! Callers: their identity, their quota, and the audit of what was done for them.

mod admission;
mod audit;
mod budget;
mod caller_keys;
mod callers;
mod identity;
mod limits;
mod meters;
mod oidc;
mod quota;
mod spending;

pub(crate) use admission::{Admission, Admitted};
#[cfg(feature = "fleet")]
pub(crate) use audit::AuditLog;
pub(crate) use audit::{AuditAction, AuditEntry, AuditSubject, Auditing};
pub(crate) use budget::Budgets;
pub(crate) use caller_keys::CallerKeys;
pub(crate) use callers::{Caller, Callers, KeyPlace, NamedCaller};
#[cfg(feature = "fleet")]
pub(crate) use callers::{KeyError, KeyOwner, KeyRing};
pub use identity::{Identity, NoIdentity};
pub use limits::NewCallerKey;
pub(crate) use quota::Quota;
#[cfg(feature = "fleet")]
pub(crate) use quota::QuotaGuard;
pub(crate) use spending::{Cost, Spending};
