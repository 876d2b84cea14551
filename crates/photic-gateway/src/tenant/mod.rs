//! Callers: their identity, their quota, and the audit of what was done for them.

mod admission;
mod audit;
mod callers;
mod identity;

pub(crate) use admission::{Admission, Admitted};
pub(crate) use audit::Auditing;
pub(crate) use callers::{Caller, Callers, KeyPlace};
pub use identity::{Identity, NoIdentity};
