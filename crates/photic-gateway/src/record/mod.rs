//! The record: every turn that was answered is kept, with its pictures as blobs.
//!
//! A user's choices for single pictures hold from the next turn on. If a turn cannot be recorded, it
//! is not saved, but its caller still gets the answer. Where `record.acknowledge` is set, a reply
//! waits until its turn is saved and then names it; a reply that names no turn was not saved.

mod backend;
mod local;
mod recorder;
mod session_context;
mod store;

pub(crate) use backend::{DirectUploads, MediaUpload, Server, SignedUpload, StoreBackend};
pub(crate) use local::LocalBackend;
pub(crate) use recorder::{Bill, Made, Recorder};
pub(crate) use session_context::{Named, SessionContext, Turn};
#[cfg(feature = "fleet")]
pub(crate) use store::{append, recall};
