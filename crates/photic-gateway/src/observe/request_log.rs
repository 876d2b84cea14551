//! The log of one request: filled while it is processed, read by metrics, the log and traces.
//!
//! It holds counts, names and positions. It never holds a key, a text, a query or a byte of media,
//! because anything in it may be written to a log, a metric or a trace. What is for the record alone is
//! in the attempts, the outcome and the conclusion.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use photic::Wire;
use photic::reply::Usage;
use photic_net::ConnectFailure;
use photic_store::record::Attempt;

use super::access::Access;
use super::facts::Facts;
use super::fixes::Fixes;
use super::outcome::Outcome;
use super::price::TurnPrice;
use super::trace::Trace;
use crate::http::{Failure, Passed, Route};
use crate::record::Conclusion;
use crate::tenant::{NamedCaller, Spending};
use crate::upstream::Upstream;

/// The log of one request.
#[derive(Debug)]
pub(crate) struct RequestLog {
    /// The id of the request, as in `x-photic-request-id`.
    pub(crate) id: u64,
    pub(crate) route: Route,
    pub(crate) begun: Instant,
    /// The upstream that it was sent to, and its wire.
    pub(crate) upstream: Option<(Arc<Upstream>, Wire)>,
    pub(crate) facts: Facts,
    pub(crate) fixes: Fixes,
    /// Estimated input tokens, or 0 if they were not estimated.
    pub(crate) tokens: u64,
    /// Bytes of the request from the client, as far as they were declared or read.
    pub(crate) bytes_in: u64,
    /// Bytes of the request to the upstream.
    pub(crate) bytes_sent: u64,
    /// Bytes of the reply's body that were sent to the client.
    pub(crate) bytes_out: u64,
    pub(crate) status: u16,
    /// The code of a failure of the gateway itself.
    pub(crate) failure: Option<&'static str>,
    /// The reason for which no connection to the upstream was made.
    pub(crate) cause: Option<ConnectFailure>,
    /// The outcome of a request: rejections that were healed, and its usage.
    pub(crate) outcome: Option<Arc<Outcome>>,
    /// The times that it was sent.
    pub(crate) attempts: Vec<Attempt>,
    /// The provider's id of the request.
    pub(crate) provider_request: Option<String>,
    /// Set if its outcome is recorded.
    pub(crate) conclusion: Option<Box<Conclusion>>,
    /// The most output tokens that it asks for, if it says so and could be read.
    pub(crate) max_tokens: Option<u64>,
    /// The caller, if it is known by name.
    pub(crate) caller: Option<NamedCaller>,
    /// The part of its caller's limits that it holds.
    pub(crate) spending: Option<Spending>,
    /// The prices of a turn of a caller that is known by name.
    pub(crate) price: Option<TurnPrice>,
    /// The words of the client in its head, if the log needs them.
    pub(crate) access: Option<Box<Access>>,
    /// Time from the request to the first byte of the reply's body.
    pub(crate) first_byte: Option<Duration>,
    pub(crate) ending: Ending,
    /// Set if it could hold pictures and was passed on unread.
    pub(crate) passed: Option<Passed>,
    /// A hash of the name of the client's software.
    pub(crate) client: u64,
    pub(crate) trace: Option<Trace>,
}

/// The end of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The reply has not ended. If it stays so, the client disconnected.
    Open,
    /// The reply was sent completely.
    Complete,
    /// The upstream closed the connection, or sent nothing for too long.
    Broken,
}

impl RequestLog {
    /// Creates the log of a request that begins now.
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
            cause: None,
            outcome: None,
            attempts: Vec::new(),
            provider_request: None,
            conclusion: None,
            max_tokens: None,
            caller: None,
            spending: None,
            price: None,
            access: None,
            first_byte: None,
            ending: Ending::Open,
            passed: None,
            client: 0,
            trace: None,
        }
    }

    /// Sets the failure of a request.
    pub(crate) fn fail(&mut self, failure: &Failure) {
        self.failure = Some(failure.code());
        self.cause = failure.connect_failure();
    }

    /// Sets the upstream of a request before it is sent, in case it gets no reply.
    pub(crate) fn expect(&mut self, upstream: &Arc<Upstream>, wire: Wire, tokens: u64, bytes: u64) {
        self.upstream = Some((Arc::clone(upstream), wire));
        self.tokens = tokens;
        self.bytes_sent = bytes;
    }

    /// Returns the number of rejections after which it was repaired and sent again.
    pub(crate) fn healed(&self) -> usize {
        self.outcome.as_ref().map_or(0, |outcome| outcome.healed.len())
    }

    /// Returns the input tokens that the upstream reported. Known at the end of the reply.
    pub(crate) fn reported(&self) -> Option<u64> {
        self.usage().map(|usage| usage.input)
    }

    /// Returns the usage that the upstream reported. Known at the end of the reply.
    pub(crate) fn usage(&self) -> Option<&Usage> {
        self.outcome.as_ref()?.usage.get()
    }

    /// Returns `true` if the usage of its reply is wanted, although it shows no media.
    pub(crate) const fn wants_usage(&self) -> bool {
        self.caller.is_some() || self.trace.is_some()
    }

    /// Returns `true` if the upstream billed images as text. Known at the end of the reply.
    pub(crate) fn billed_as_text(&self) -> bool {
        let outcome = self.outcome.as_ref();
        outcome.is_some_and(|outcome| outcome.billed_as_text.load(Ordering::Relaxed))
    }

    /// Returns `true` if the upstream answered with a status of success.
    pub(crate) const fn is_success(&self) -> bool {
        self.status >= 200 && self.status < 300
    }

    /// Returns the code of a failure, or `None` for a complete reply, even if it is a rejection.
    pub(crate) fn trouble(&self) -> Option<&'static str> {
        self.failure.or(match self.ending {
            Ending::Complete => None,
            Ending::Open => Some("caller_gone"),
            Ending::Broken => Some("upstream_broke_off"),
        })
    }

    /// Returns the host and port of its upstream, as configured.
    pub(crate) fn host(&self) -> Option<&str> {
        self.upstream.as_ref().map(|(upstream, _)| upstream.host())
    }
}
