//! Answers requests for sockets.

use std::net::IpAddr;
use std::sync::Arc;

use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use photic::Wire;

use super::open::Opening;
use super::running::{Phase, Running};
use crate::config::NamedPrefix;
use crate::http::{Failure, Passed, Refusal, ReplyBody, Route, headers};
use crate::observe::{RequestLog, SocketKind, Watchers};
use crate::tenant::{Admission, Admitted};
use crate::turn::Turns;
use crate::upstream::{UpstreamClient, Upstreams};

/// Answers requests for sockets, and runs the sockets.
#[derive(Debug)]
pub(crate) struct Sockets {
    turns: Arc<Turns>,
    upstreams: Arc<Upstreams>,
    client: Arc<UpstreamClient>,
    admission: Arc<Admission>,
    running: Arc<Running>,
}

/// A request for a socket that was admitted.
#[derive(Debug)]
pub(crate) struct SocketRequest {
    /// The route that its path has for POST.
    pub(crate) route: Route,
    /// The wire whose upstream may get it.
    pub(crate) wire: Wire,
    pub(crate) request: Request<Incoming>,
    pub(crate) admitted: Admitted,
    pub(crate) peer: IpAddr,
}

impl Sockets {
    /// Creates the sockets of a gateway.
    pub(crate) fn new(
        turns: &Arc<Turns>,
        upstreams: &Arc<Upstreams>,
        client: &Arc<UpstreamClient>,
        admission: &Arc<Admission>,
    ) -> Self {
        let (turns, upstreams) = (Arc::clone(turns), Arc::clone(upstreams));
        let (client, admission) = (Arc::clone(client), Arc::clone(admission));
        Self { turns, upstreams, client, admission, running: Running::new() }
    }

    /// Creates sockets by other settings, which are counted and stopped together with these.
    pub(crate) fn beside(
        &self,
        turns: &Arc<Turns>,
        upstreams: &Arc<Upstreams>,
        client: &Arc<UpstreamClient>,
        admission: &Arc<Admission>,
    ) -> Self {
        let running = Arc::clone(&self.running);
        Self { running, ..Self::new(turns, upstreams, client, admission) }
    }

    /// Returns `true` if a request for a socket on this route may be answered with one.
    pub(crate) fn may_serve(&self, route: Route, request: &Request<Incoming>) -> bool {
        let prefix = request.extensions().get::<NamedPrefix>();
        if is_responses(route) {
            return self.upstreams.choose_for_socket(prefix).is_some();
        }
        matches!(route, Route::Other(_))
    }

    /// Answers a request for a socket, once the upstream has granted its own.
    ///
    /// # Errors
    ///
    /// Fails if there is no upstream for it, or if the upstream has no socket.
    pub(crate) async fn answer(
        &self,
        asked: SocketRequest,
        watchers: &Arc<Watchers>,
        log: &mut RequestLog,
    ) -> Result<Response<ReplyBody>, Failure> {
        let SocketRequest { route, wire, request, admitted, peer } = asked;
        let is_read = is_responses(route) && !headers::is_off(request.headers());
        let prefix = request.extensions().get::<NamedPrefix>();
        let (kind, upstream) = if is_read {
            let upstream = self.upstreams.choose_for_socket(prefix);
            (SocketKind::Responses, upstream.ok_or(Refusal::NoSocket)?)
        } else {
            let upstream = self.upstreams.choose_for_path(wire, request.uri().path(), prefix);
            (SocketKind::Tunnel, upstream.ok_or_else(|| self.upstreams.refusal())?)
        };
        upstream.check_key(request.headers(), request.uri().query())?;
        let upstream = Arc::clone(upstream);
        log.upstream = Some((Arc::clone(&upstream), wire));
        let opening = Opening {
            kind,
            upstream,
            wire,
            prefix: prefix.cloned(),
            turns: Arc::clone(&self.turns),
            client: Arc::clone(&self.client),
            admission: Arc::clone(&self.admission),
            watchers: Arc::clone(watchers),
            running: Arc::clone(&self.running),
            peer,
        };
        let reply = opening.open(request, admitted).await?;
        if kind == SocketKind::Tunnel && reply.status() == StatusCode::SWITCHING_PROTOCOLS {
            log.passed = Some(Passed::WebSocket);
        }
        Ok(reply)
    }

    /// Closes each socket as soon as no response runs in it.
    pub(crate) fn stop(&self) {
        self.running.enter(Phase::Stopping);
    }

    /// Closes all sockets at once.
    pub(crate) fn cut(&self) {
        self.running.enter(Phase::Cut);
    }

    /// Waits until no socket is open.
    pub(crate) async fn closed(&self) {
        self.running.closed().await;
    }
}

/// Returns `true` if a socket on this route carries Responses.
fn is_responses(route: Route) -> bool {
    matches!(route, Route::Turn(endpoint) if endpoint.wire == Wire::OpenAiResponses)
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, Method};

    use super::*;

    #[test]
    fn responses_are_known_by_the_end_of_their_path() {
        let of = |path: &str| is_responses(Route::of(&Method::POST, path, &HeaderMap::new()));
        for path in ["/v1/responses", "/responses", "/openai/v1/responses", "/v1/responses/"] {
            assert!(of(path), "{path}");
        }
        assert!(of("/backend-api/codex/responses"));
        for path in ["/v1/realtime", "/v1/responses/r_1", "/v1/chat/completions", "/v1/myresponses"]
        {
            assert!(!of(path), "{path}");
        }
    }
}
