//! The record: every answered turn is stored, with its images as blobs.
//!
//! A user's choices for single images apply from the next turn on. If a turn cannot be recorded, it
//! is not saved, but the client still gets the answer. If `record.acknowledge` is set, a reply waits
//! until its turn is saved and then names it. A reply that names no turn was not saved.

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
