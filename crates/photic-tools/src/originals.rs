//! Where originals are kept, so that a handle can be looked at again.
//!
//! Owns the seam to a store; must never let a digest be a way in: a handle is opaque, and what it
//! stands for is the store's business.

use std::fmt;
use std::io;

/// Why a handle leads to nothing.
#[derive(Debug)]
pub enum Gone {
    /// It was never given out, or what it stood for was dropped; the reason in a few words.
    Absent(String),
    /// The store failed.
    Failed(io::Error),
}

/// A place for originals and for answers about them. Calls may block; they are made on a worker.
pub trait Originals: Send + Sync + fmt::Debug {
    /// Keeps an original once, however often it is put, and says by which handle it goes.
    fn put(&self, bytes: &[u8], media_type: &str) -> io::Result<String>;

    /// The original behind a handle.
    fn get(&self, handle: &str) -> Result<Vec<u8>, Gone>;

    /// An answer that was kept under this key.
    fn answer(&self, key: &str) -> Option<String>;

    /// Keeps an answer.
    fn keep_answer(&self, key: &str, text: &str) -> io::Result<()>;
}
