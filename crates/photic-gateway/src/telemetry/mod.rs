//! Whoever watches requests: metrics, the log, traces. They get an account when the head of a reply
//! is known, and again when its body has ended, also where the caller went away before.
//!
//! Watching never waits: counters are atomic, and what cannot be written down at once is dropped
//! and counted.

mod body;
mod log;
mod metrics;
mod otlp;
mod series;
mod trace;

pub(crate) use body::Watched;
pub(crate) use log::Log;
pub(crate) use otlp::{Exporter, Spans, endpoint};
pub(crate) use series::Counter;
pub(crate) use trace::Trace;

use std::sync::Arc;

use http::header::{HeaderName, HeaderValue};
use http::{Request, Response};

use crate::account::{Ending, RequestLog};
use crate::failure::Failure;
use crate::headers;
use crate::reply::ReplyBody;
use crate::route::Route;
use metrics::Metrics;
use trace::Ids;

/// Which lines of the log and which trace belong to a reply.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-photic-request-id");

/// Everybody who watches.
#[derive(Debug)]
pub(crate) struct Watchers {
    pub(crate) metrics: Metrics,
    pub(crate) log: Log,
    pub(crate) spans: Option<Spans>,
    ids: Ids,
}

/// A request that is watched, until it is dropped.
#[derive(Debug)]
pub(crate) struct RequestGuard {
    pub(crate) account: RequestLog,
    watchers: Arc<Watchers>,
}

impl Watchers {
    pub(crate) fn new(log: Log, spans: Option<Spans>) -> Self {
        Self { metrics: Metrics::new(), log, spans, ids: Ids::new() }
    }

    /// Whether somebody reads what was done one by one.
    pub(crate) fn want_details(&self) -> bool {
        self.spans.is_some() || self.log.tells_requests()
    }
}

impl RequestGuard {
    /// Begins to watch a request. Where it is traced, it carries the trace on.
    pub(crate) fn begin<B>(
        watchers: &Arc<Watchers>,
        route: Route,
        request: &mut Request<B>,
    ) -> Box<Self> {
        watchers.metrics.began();
        let mut account = RequestLog::new(route, watchers.ids.next());
        if watchers.spans.is_some()
            && matches!(route, Route::Turn(_))
            && !headers::is_off(request.headers())
        {
            account.trace = Trace::take_over(request.headers_mut(), &watchers.ids);
        }
        Box::new(Self { account, watchers: Arc::clone(watchers) })
    }

    /// The head of the reply is known; its body takes the watch along.
    pub(crate) fn answered(
        mut self: Box<Self>,
        answer: Result<Response<ReplyBody>, Failure>,
    ) -> Response<Watched> {
        let mut reply = answer.unwrap_or_else(|failure| {
            self.account.failure = Some(failure.code());
            failure.render(self.account.route.wire())
        });
        self.account.status = reply.status().as_u16();
        self.watchers.metrics.answered(&self.account);
        if self.watchers.want_details()
            && let Ok(id) = HeaderValue::from_str(&format!("{:016x}", self.account.id))
        {
            reply.headers_mut().insert(REQUEST_ID, id);
        }
        reply.map(|body| Watched::new(body, self))
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        let Self { account, watchers } = self;
        // A failure is told in a few bytes; whether they were read is no concern of anybody.
        if account.failure.is_some() {
            account.ending = Ending::Complete;
        }
        watchers.metrics.ended(account);
        watchers.log.ended(account, &watchers.metrics.lines_dropped);
        if let Some(spans) = &watchers.spans {
            spans.ended(account, &watchers.metrics.spans_dropped);
        }
    }
}
