//! Values that are read for the metrics when their page is asked for.

use crate::memory::Use;
use crate::record::Server;

/// Values of other parts of the gateway at the time of a page.
#[derive(Debug)]
pub(crate) struct Gauges {
    /// Hits, misses and bytes of the cache of prepared images.
    pub(crate) picture_cache: (u64, u64, u64),
    /// Requests that went on with a known conversation, requests that were read whole, and the bytes
    /// of the conversations that are kept.
    pub(crate) conversations: (u64, u64, u64),
    /// Turns that were recorded, and turns that could not be.
    pub(crate) turns: (u64, u64),
    /// Bytes of the turns that were recorded, and those of them that were read for it.
    pub(crate) recorded_bytes: (u64, u64),
    /// Audit entries that could not be written.
    pub(crate) audit_lost: u64,
    /// Running jobs on pixels.
    pub(crate) pixel_jobs: u64,
    /// Bytes that requests and caches may take together.
    pub(crate) memory_total: u64,
    /// Bytes in use, by purpose.
    pub(crate) memory_used: [u64; Use::ALL.len()],
    /// The upstreams by name.
    pub(crate) upstreams: Vec<UpstreamFigures>,
    /// Servers of the store that do not answer.
    pub(crate) unavailable: Vec<Server>,
}

/// Values of one upstream.
#[derive(Debug)]
pub(crate) struct UpstreamFigures {
    pub(crate) name: String,
    /// Requests to it, by outcome.
    pub(crate) attempts: Vec<(&'static str, u64)>,
    /// Set if it is asked last at the moment, or not at all. `None` if no `[[model]]` names it.
    pub(crate) is_resting: Option<bool>,
}
