//! The storage behind the tools: originals that can be looked at again, and answers about them.
//!
//! The tools know one trait, [`Originals`], with one implementation per backend: [`LocalOriginals`]
//! on disk, and [`MemoryAnswers`] for tools without a store. A handle is opaque: only the backend
//! knows what it stands for, and a digest never works as one.

mod local;
mod memory;

use std::fmt;
use std::io;

pub use local::LocalOriginals;
pub(crate) use memory::MemoryAnswers;

/// Reason why a handle has no original.
#[derive(Debug)]
#[non_exhaustive]
pub enum LookupError {
    /// The backend keeps no originals.
    NoStore,
    /// The handle was never issued, or its original was removed; with a short reason.
    Absent(String),
    /// The store failed.
    Failed(io::Error),
}

/// A storage of originals and of answers about them. Calls may block; they run on a worker thread.
pub trait Originals: Send + Sync + fmt::Debug {
    /// Stores an original and returns its handle. An original that is stored already keeps its
    /// handle. Fails if the backend keeps no originals.
    fn put(&self, bytes: &[u8], media_type: &str) -> io::Result<String>;

    /// Reads the original behind a handle.
    fn get(&self, handle: &str) -> Result<Vec<u8>, LookupError>;

    /// Returns the answer that was stored under this key.
    fn answer(&self, key: &str) -> Option<String>;

    /// Stores an answer.
    fn keep_answer(&self, key: &str, text: &str) -> io::Result<()>;
}
