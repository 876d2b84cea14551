//! The record: every answered turn is stored, with its images as blobs.
//!
//! A user's choices for single images apply from the next turn on. If a turn cannot be recorded, it
//! is not saved, but the client still gets the answer. If `record.acknowledge` is set, a reply waits
//! until its turn is saved and then names it. A reply that names no turn was not saved.

mod backend;
mod conclusion;
mod local;
mod recorder;
mod run_sessions;
mod session_context;
mod store;
mod written_turn;

pub(crate) use backend::{DirectUploads, MediaUpload, Server, SignedUpload, StoreBackend};
pub(crate) use conclusion::Conclusion;
pub(crate) use local::LocalBackend;
pub(crate) use recorder::{Made, Recorder};
pub(crate) use session_context::{Named, SessionContext};
#[cfg(feature = "fleet")]
pub(crate) use store::{append, recall};
pub(crate) use written_turn::Turn;
