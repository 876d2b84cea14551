//! The record: every turn that was answered is kept, with its pictures as blobs.
//!
//! A user's choices for single pictures hold from the next turn on. If a turn cannot be recorded, it
//! is not saved, but its caller still gets the answer. Where `record.acknowledge` is set, a reply
//! waits until its turn is saved and then names it; a reply that names no turn was not saved.

mod availability;
mod backend;
mod fleet;
mod local;
mod recorder;
mod session_context;
mod store;

pub(crate) use availability::Server;
pub(crate) use backend::{DirectUploads, MediaUpload, StoreBackend};
pub(crate) use fleet::FleetBackend;
pub(crate) use local::LocalBackend;
pub(crate) use recorder::{Bill, Made, Recorder};
pub(crate) use session_context::{Named, SessionContext, Turn};
