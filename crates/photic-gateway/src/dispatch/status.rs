//! The gateway's own pages: `/health`, `/ready` and `/metrics`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};

use super::entry::ListenerKind;
use crate::http::{ReplyBody, Route};
use crate::media::PixelWork;
use crate::observe::{Gauges, UpstreamFigures, Watchers};
use crate::record::{Recorder, Server, StoreBackend};
use crate::tenant::{Admission, Auditing};
use crate::turn::{Conversations, Pipeline};
use crate::upstream::Availability;

/// Media type of the text format of Prometheus.
const METRICS: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// Answers requests about the gateway itself.
#[derive(Debug)]
pub(crate) struct Status {
    pub(crate) stopping: Arc<AtomicBool>,
    pub(crate) admission: Arc<Admission>,
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) conversations: Option<Arc<Conversations>>,
    pub(crate) pixels: Arc<PixelWork>,
    pub(crate) recorder: Option<Arc<Recorder>>,
    pub(crate) backend: Option<Arc<dyn StoreBackend>>,
}

impl Status {
    /// Answers a request about the gateway itself. Returns `None` for all others.
    pub(super) fn answer(
        &self,
        route: Route,
        listener: ListenerKind,
        watchers: &Watchers,
    ) -> Option<Response<ReplyBody>> {
        let is_own = matches!(route, Route::Health | Route::Ready | Route::Metrics);
        Some(match (route, listener) {
            (_, ListenerKind::Admin) if !is_own => not_found(),
            (_, ListenerKind::Public) if is_own => not_found(),
            (Route::Health, _) => status(StatusCode::OK, "ok"),
            (Route::Ready, _) if self.stopping.load(Ordering::Relaxed) => {
                status(StatusCode::SERVICE_UNAVAILABLE, "stopping")
            }
            (Route::Ready, _) => ready(&self.unavailable(), &self.upstreams()),
            // Metrics cover all tenants, so they are for the operator only.
            (Route::Metrics, ListenerKind::Both) if self.admission.requires_keys() => not_found(),
            (Route::Metrics, _) => {
                let page = watchers.metrics.page(&self.gauges());
                let mut page = Response::new(ReplyBody::whole(page));
                page.headers_mut().insert(CONTENT_TYPE, METRICS);
                page
            }
            _ => return None,
        })
    }

    fn unavailable(&self) -> Vec<Server> {
        self.backend.as_ref().map(|backend| backend.unavailable()).unwrap_or_default()
    }

    /// Returns the figures of all upstreams, those of one name together.
    fn upstreams(&self) -> Vec<UpstreamFigures> {
        let upstreams = &self.pipeline.planner.upstreams;
        let watched = upstreams.routes().map(|routes| routes.upstreams()).unwrap_or_default();
        let mut all: Vec<UpstreamFigures> = Vec::new();
        for upstream in upstreams.iter() {
            let is_watched = watched.iter().any(|one| Arc::ptr_eq(one, upstream));
            let is_resting = upstream.health().availability() != Availability::Ready;
            let is_resting = is_watched.then_some(is_resting);
            let attempts = upstream.attempts().iter();
            match all.iter_mut().find(|one| one.name == upstream.name()) {
                None => all.push(UpstreamFigures {
                    name: upstream.name().to_owned(),
                    attempts: attempts.collect(),
                    is_resting,
                }),
                Some(same) => {
                    for (cause, count) in attempts {
                        match same.attempts.iter_mut().find(|(name, _)| *name == cause) {
                            Some((_, sum)) => *sum += count,
                            None => same.attempts.push((cause, count)),
                        }
                    }
                    same.is_resting = same.is_resting.or(is_resting);
                }
            }
        }
        all
    }

    fn gauges(&self) -> Gauges {
        let memory = self.admission.memory();
        Gauges {
            picture_cache: self.pipeline.derivatives.figures(),
            conversations: self.conversations.as_ref().map_or((0, 0, 0), |kept| kept.figures()),
            turns: self.recorder.as_ref().map_or((0, 0), |one| (one.kept.get(), one.lost.get())),
            recorded_bytes: self
                .recorder
                .as_ref()
                .map_or((0, 0), |one| (one.bytes.get(), one.bytes_read.get())),
            audit_lost: self.admission.auditing().map_or(0, Auditing::lost),
            pixel_jobs: self.pixels.running() as u64,
            memory_total: memory.total(),
            memory_used: memory.used(),
            upstreams: self.upstreams(),
            unavailable: self.unavailable(),
        }
    }
}

/// Answers a readiness check. Without its store the gateway is still ready: it repairs and passes on
/// requests, and only features that need the store fail. It is not ready if every upstream failed.
fn ready(unavailable: &[Server], upstreams: &[UpstreamFigures]) -> Response<ReplyBody> {
    let resting = upstreams.iter().filter(|one| one.is_resting == Some(true));
    let resting: Vec<&str> = resting.map(|one| one.name.as_str()).collect();
    if unavailable.is_empty() && resting.is_empty() {
        return status(StatusCode::OK, "ready");
    }
    let names: Vec<&str> = unavailable.iter().map(|server| server.name()).collect();
    let has_none = !upstreams.is_empty() && resting.len() == upstreams.len();
    let (code, word) = if has_none {
        (StatusCode::SERVICE_UNAVAILABLE, "no upstream")
    } else {
        (StatusCode::OK, "degraded")
    };
    let mut response = status(code, word);
    let mut body = serde_json::json!({"status": word, "away": names});
    if !resting.is_empty() {
        body["upstreams"] = resting.into();
    }
    *response.body_mut() = ReplyBody::whole(body.to_string());
    response
}

/// Answers with 404.
pub(super) fn not_found() -> Response<ReplyBody> {
    status(StatusCode::NOT_FOUND, "not found")
}

fn status(status: StatusCode, word: &str) -> Response<ReplyBody> {
    let body = format!("{{\"status\":\"{word}\"}}");
    let mut response = Response::new(ReplyBody::whole(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
