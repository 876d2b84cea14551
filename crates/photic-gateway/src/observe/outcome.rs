//! The outcome of a request: what healed it, and what the provider reported.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use photic::rejection::Class;
use photic::reply::Usage;
use photic_store::record::StoredReply;

use crate::upstream::ResolvedProfile;

/// The outcome of a request that carried media, or of one whose usage is counted. Parts of it are
/// known at the end of the reply.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// The rejections that it was healed of, in order.
    pub(crate) healed: Vec<Class>,
    /// The usage that the provider reported.
    pub(crate) usage: OnceLock<Usage>,
    /// The profile that it was planned with, which has the price.
    pub(crate) profile: Option<Arc<ResolvedProfile>>,
    /// The reply, if it is recorded.
    pub(crate) reply: OnceLock<Box<StoredReply>>,
    /// Set if its images were billed as text.
    pub(crate) billed_as_text: AtomicBool,
}
