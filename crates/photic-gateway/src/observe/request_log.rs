//! The log of one request: written on its way, read by metrics, the log and traces.
//!
//! It holds counts, names and positions. It never holds a key, a text, a query or a byte of media,
//! because anything in it may be written to a log, a metric or a trace.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use photic::Wire;

use super::facts::Facts;
use super::fixes::Fixes;
use super::outcome::Outcome;
use super::trace::Trace;
use crate::http::Route;
use crate::upstream::Upstream;

/// The log of one request.
#[derive(Debug)]
pub(crate) struct RequestLog {
    pub(crate) id: u64,
    pub(crate) route: Route,
    pub(crate) begun: Instant,
    /// Whom it was sent to, and in which wire.
    pub(crate) upstream: Option<(Arc<Upstream>, Wire)>,
    pub(crate) facts: Facts,
    pub(crate) fixes: Fixes,
    /// What it costs to read, by estimate; 0 where nobody estimated.
    pub(crate) tokens: u64,
    /// Bytes of the request as it came, as far as they were declared or read.
    pub(crate) bytes_in: u64,
    /// Bytes of a conversation as it was sent on.
    pub(crate) bytes_sent: u64,
    /// Bytes of the reply's body that were handed to the caller.
    pub(crate) bytes_out: u64,
    pub(crate) status: u16,
    /// The code of a failure of the gateway's own.
    pub(crate) failure: Option<&'static str>,
    /// What came of healing and of looking at the reply, where it carried media.
    pub(crate) outcome: Option<Arc<Outcome>>,
    /// When the first byte of the reply's body was there.
    pub(crate) first_byte: Option<Duration>,
    pub(crate) ending: Ending,
    pub(crate) trace: Option<Trace>,
}

/// How a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Not yet; if it stays so, the caller went away.
    Open,
    Complete,
    /// The upstream broke off or fell silent.
    Broken,
}

impl RequestLog {
    pub(crate) fn new(route: Route, id: u64) -> Self {
        Self {
            id,
            route,
            begun: Instant::now(),
            upstream: None,
            facts: Facts::default(),
            fixes: Fixes::default(),
            tokens: 0,
            bytes_in: 0,
            bytes_sent: 0,
            bytes_out: 0,
            status: 0,
            failure: None,
            outcome: None,
            first_byte: None,
            ending: Ending::Open,
            trace: None,
        }
    }

    /// Notes where a request goes before it is sent, in case it gets no reply.
    pub(crate) fn expect(&mut self, upstream: &Arc<Upstream>, wire: Wire, tokens: u64, bytes: u64) {
        self.upstream = Some((Arc::clone(upstream), wire));
        self.tokens = tokens;
        self.bytes_sent = bytes;
    }

    /// How often it was sent again, because the upstream refused it.
    pub(crate) fn healed(&self) -> usize {
        self.outcome.as_ref().map_or(0, |outcome| outcome.healed.len())
    }

    /// What it cost to read, as the upstream told; known at its end.
    pub(crate) fn reported(&self) -> Option<u64> {
        self.outcome.as_ref()?.usage.get().map(|usage| usage.input)
    }

    /// Whether the upstream took images for text, by what it charged; known at its end.
    pub(crate) fn billed_as_text(&self) -> bool {
        let outcome = self.outcome.as_ref();
        outcome.is_some_and(|outcome| outcome.billed_as_text.load(Ordering::Relaxed))
    }

    pub(crate) const fn is_success(&self) -> bool {
        self.status >= 200 && self.status < 300
    }

    /// Why it did not go well, in a word; `None` for what did, and for what a provider refused.
    pub(crate) fn trouble(&self) -> Option<&'static str> {
        self.failure.or(match self.ending {
            Ending::Complete => None,
            Ending::Open => Some("caller_gone"),
            Ending::Broken => Some("upstream_broke_off"),
        })
    }

    /// The host and port it was sent to, as the operator wrote them.
    pub(crate) fn host(&self) -> Option<&str> {
        self.upstream.as_ref().map(|(upstream, _)| upstream.host())
    }
}
