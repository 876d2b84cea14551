//! The outcome of a request that carried media.

use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use photic::rejection::Class;
use photic::reply::Usage;

/// The outcome of a request that carried media. Parts of it are known at the end of the reply.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// The rejections that it was healed of, in order.
    pub(crate) healed: Vec<Class>,
    /// The usage that the provider reported.
    pub(crate) usage: OnceLock<Usage>,
    /// Set if its images were billed as text.
    pub(crate) billed_as_text: AtomicBool,
}
