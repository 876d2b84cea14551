//! Observes a request until the end of its reply, or until its client disconnects.
//!
//! Observing never waits: counters are atomic, and log lines or spans that cannot be queued at once
//! are dropped and counted.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};

use super::access::Access;
use super::conclude::conclude;
use super::log::Log;
use super::metrics::Metrics;
use super::otlp::Spans;
use super::request_log::{Ending, RequestLog};
use super::tally::Tally;
use super::trace::{Ids, Trace};
use super::usage_log::UsageLog;
use crate::http::{Broken, Failure, PASSED, ReplyBody, Route, headers};

/// The id of a request, as in its log lines and its trace.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-photic-request-id");

/// The observers of requests: metrics, log and traces.
#[derive(Debug)]
pub(crate) struct Watchers {
    pub(crate) metrics: Metrics,
    pub(crate) log: Log,
    pub(crate) spans: Option<Spans>,
    /// Counts for a program that embeds the gateway.
    pub(crate) tally: Arc<Tally>,
    /// The usage log, if there is one.
    pub(crate) usage_log: Option<UsageLog>,
    ids: Ids,
}

/// Observes a request. When it is dropped, the request is counted, logged and traced.
#[derive(Debug)]
pub(crate) struct RequestGuard {
    pub(crate) log: RequestLog,
    watchers: Arc<Watchers>,
}

impl Watchers {
    /// Creates the observers. Without `spans`, no traces are recorded.
    pub(crate) fn new(log: Log, spans: Option<Spans>, usage_log: Option<UsageLog>) -> Self {
        let (metrics, tally, ids) = (Metrics::new(), Arc::default(), Ids::new());
        Self { metrics, log, spans, tally, usage_log, ids }
    }

    /// Returns `true` if fixes are listed one by one, in the log or in traces.
    pub(crate) fn want_details(&self) -> bool {
        self.spans.is_some() || self.log.tells_requests()
    }
}

impl RequestGuard {
    /// Begins to observe a request. A traced request gets the headers of its trace.
    pub(crate) fn begin<B>(
        watchers: &Arc<Watchers>,
        route: Route,
        request: &mut Request<B>,
        peer: IpAddr,
    ) -> Box<Self> {
        watchers.metrics.began();
        let mut log = RequestLog::new(route, watchers.ids.next());
        log.client = client(request.headers());
        if watchers.log.tells_access() {
            log.access = Some(Box::new(Access::of(request, peer)));
        }
        if watchers.spans.is_some()
            && matches!(route, Route::Turn(_))
            && !headers::is_off(request.headers())
        {
            log.trace = Trace::take_over(request.headers_mut(), &watchers.ids);
        }
        Box::new(Self { log, watchers: Arc::clone(watchers) })
    }

    /// Begins to observe a turn that came as a frame of a socket.
    pub(crate) fn begin_frame(watchers: &Arc<Watchers>, route: Route) -> Box<Self> {
        watchers.metrics.began();
        let log = RequestLog::new(route, watchers.ids.next());
        Box::new(Self { log, watchers: Arc::clone(watchers) })
    }

    /// Observes the end of the reply to a frame.
    pub(crate) fn ended_frame(mut self: Box<Self>, status: u16) {
        self.log.status = status;
        self.log.ending = Ending::Complete;
        self.watchers.metrics.answered(&self.log);
    }

    /// Observes the head of the reply. The body of the reply takes the guard along.
    pub(crate) fn answered(
        mut self: Box<Self>,
        answer: Result<Response<ReplyBody>, Failure>,
    ) -> Response<Watched> {
        let mut reply = answer.unwrap_or_else(|failure| {
            self.log.fail(&failure);
            failure.render(self.log.route.served_by())
        });
        self.log.status = reply.status().as_u16();
        if let Some(passed) = self.log.passed {
            reply.headers_mut().insert(PASSED, HeaderValue::from_static(passed.name()));
            self.watchers.tally.pass(passed.name());
        }
        self.watchers.metrics.answered(&self.log);
        if self.watchers.want_details()
            && let Ok(id) = HeaderValue::from_str(&format!("{:016x}", self.log.id))
        {
            reply.headers_mut().insert(REQUEST_ID, id);
        }
        reply.map(|body| Watched::new(body, self))
    }
}

/// Returns a hash of the name of the client's software.
fn client(headers: &HeaderMap) -> u64 {
    let mut hasher = DefaultHasher::new();
    headers.get(USER_AGENT).map(HeaderValue::as_bytes).hash(&mut hasher);
    hasher.finish()
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        let Self { log, watchers } = self;
        // A failure has a short body. A client that does not read it is not counted as gone.
        if log.failure.is_some() {
            log.ending = Ending::Complete;
        }
        watchers.metrics.ended(log);
        watchers.tally.ended(log);
        if log.caller.is_some() {
            let (usage_log, lost) = (watchers.usage_log.as_ref(), &watchers.metrics.lines_dropped);
            watchers.metrics.callers.ended(log, usage_log, lost);
        }
        watchers.log.ended(log, &watchers.metrics.lines_dropped);
        if let Some(spans) = &watchers.spans {
            spans.ended(log, &watchers.metrics.spans_dropped);
        }
        conclude(log);
    }
}

/// The body of a reply, with the guard that observes it.
#[derive(Debug)]
pub(crate) struct Watched {
    body: ReplyBody,
    watch: Option<Box<RequestGuard>>,
}

impl Watched {
    fn new(body: ReplyBody, mut watch: Box<RequestGuard>) -> Self {
        // An empty body is never polled.
        if body.is_end_stream() {
            watch.log.ending = Ending::Complete;
        }
        Self { body, watch: Some(watch) }
    }

    /// Creates a body that is not observed, for the gateway's own endpoints.
    pub(crate) const fn not(body: ReplyBody) -> Self {
        Self { body, watch: None }
    }
}

impl Body for Watched {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        let Self { body, watch } = self.get_mut();
        let polled = Pin::new(&mut *body).poll_frame(context);
        let (Poll::Ready(frame), Some(watch)) = (&polled, watch) else { return polled };
        let log = &mut watch.log;
        match frame {
            Some(Ok(frame)) => {
                if log.first_byte.is_none() {
                    log.first_byte = Some(log.begun.elapsed());
                }
                log.bytes_out += frame.data_ref().map_or(0, |data| data.len() as u64);
                // A body of known length is not polled again after its last byte.
                if body.is_end_stream() {
                    log.ending = Ending::Complete;
                }
            }
            Some(Err(_)) => log.ending = Ending::Broken,
            None => log.ending = Ending::Complete,
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
