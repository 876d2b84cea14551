//! Passes each request to the part of the gateway that answers it.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::{HeaderMap, Method, Request, Response};
use hyper::body::Incoming;
use photic::Wire;
use photic_net::Outgoing;

use super::entry::{Entry, ListenerKind};
use super::media_api::MediaApi;
#[cfg(feature = "openwop")]
use super::openwop::{self, Openwop};
use super::status::{Status, not_found};
use crate::config::{NamedPrefix, PathPrefixes, Prefix};
use crate::http::{
    Failure, Passed, Refusal, ReplyBody, Route, asks_for_socket, carries_files, check_length,
    check_target, codings, could_hold_pictures, declared_length, drain, headers, is_upload, read,
};
use crate::observe::{RequestGuard, RequestLog, Watched, Watchers};
use crate::socket::{SocketRequest, Sockets};
use crate::tenant::{Admission, Admitted, KeyPlace};
use crate::turn::{Repair, Turns};
use crate::upstream::{UpstreamClient, Upstreams, pass_on};

/// Answers every request, by the part of the gateway that it is for.
#[derive(Debug)]
pub(crate) struct Dispatcher {
    /// Set if request paths must begin with a secret prefix.
    pub(crate) prefixes: Option<PathPrefixes>,
    pub(crate) stopping: Arc<AtomicBool>,
    pub(crate) watchers: Arc<Watchers>,
    pub(crate) status: Status,
    pub(crate) admission: Arc<Admission>,
    pub(crate) upstreams: Arc<Upstreams>,
    pub(crate) client: Arc<UpstreamClient>,
    /// Maximum size of an upload that is passed on unread.
    pub(crate) upload_bytes: u64,
    pub(crate) turns: Arc<Turns>,
    pub(crate) sockets: Sockets,
    pub(crate) media: MediaApi,
    /// Set if recorded sessions are shown on the listener for operators.
    pub(crate) inspector: Option<photic_inspector::Service>,
    /// Set if the gateway is an openwop host.
    #[cfg(feature = "openwop")]
    pub(crate) openwop: Option<Arc<Openwop>>,
}

impl Dispatcher {
    /// Answers a request. A failure becomes an answer, too.
    pub(crate) async fn answer(
        self: Arc<Self>,
        mut request: Request<Incoming>,
        entry: Arc<Entry>,
        peer: IpAddr,
        is_spare: bool,
    ) -> Response<Watched> {
        if let Some(inspector) = self.inspector_for(&request, &entry) {
            // Boxed for the same reason as below.
            let answer = Box::pin(inspector.respond(request)).await;
            return answer.map(|body| Watched::not(ReplyBody::Own(body)));
        }
        let route = match self.check(&mut request, &entry) {
            Ok(route) => route,
            Err(refused) => return (*refused).map(Watched::not),
        };
        if let Some(own) = self.status.answer(route, entry.kind, &self.watchers) {
            return own.map(Watched::not);
        }
        let mut guard = RequestGuard::begin(&self.watchers, route, &mut request, peer);
        let admitted = if self.stopping.load(Ordering::Relaxed) {
            Err(Refusal::Stopping.into())
        } else if is_spare {
            Err(Refusal::Full.into())
        } else {
            self.check_length(&request)
        };
        let answer = match admitted {
            Err(failure) => {
                drain(request.into_body());
                match route {
                    #[cfg(feature = "openwop")]
                    Route::Openwop if self.openwop.is_some() => Ok(openwop::flat(&failure)),
                    _ => Err(failure),
                }
            }
            // Boxed, so that the future of requests that are answered without it stays small.
            Ok(()) => Box::pin(self.forward(route, request, peer, &mut guard.log)).await,
        };
        guard.answered(answer)
    }

    /// Returns the inspector, if a request of an operator is for it. It checks host and origin by its
    /// own rules, because it is a web page itself.
    fn inspector_for(
        &self,
        request: &Request<Incoming>,
        entry: &Entry,
    ) -> Option<photic_inspector::Service> {
        let is_ours = entry.kind == ListenerKind::Admin
            && photic_inspector::Service::is_ours(request.uri().path());
        self.inspector.as_ref().filter(|_| is_ours).cloned()
    }

    /// Checks the declared length of a request.
    fn check_length<B>(&self, request: &Request<B>) -> Result<(), Failure> {
        let limit = self.client.bounds().bytes;
        match check_length(request.headers(), limit) {
            Err(Failure::TooLarge { .. })
                if carries_files(request.uri().path(), request.headers()) =>
            {
                let limit = limit.max(self.upload_bytes);
                check_length(request.headers(), limit)
                    .map_err(|_| Failure::UploadTooLarge { limit })
            }
            checked => checked,
        }
    }

    /// Checks host, origin, path and prefix of a request, removes the prefix, and returns the route.
    /// The body is not read.
    fn check(
        &self,
        request: &mut Request<Incoming>,
        entry: &Entry,
    ) -> Result<Route, Box<Response<ReplyBody>>> {
        let (method, uri, headers) = (request.method(), request.uri(), request.headers());
        let checked = check_target(method, uri)
            .and_then(|()| entry.hosts.check(uri, headers).map_err(Refusal::from));
        let prefix = self.prefixes.as_ref().map(|prefixes| prefixes.strip(uri.path()));
        if let Some(None) = prefix {
            // A client that does not know the token learns nothing else, either.
            return Err(Box::new(not_found()));
        }
        // A socket is opened by GET, but its path means what it means for POST.
        let method = if asks_for_socket(headers) { &Method::POST } else { method };
        let prefix = prefix.flatten();
        let route =
            Route::of(method, prefix.as_ref().map_or(uri.path(), |(path, _)| path), headers);
        if let Err(refusal) = checked {
            return Err(Box::new(Failure::Refused(refusal).render(route.served_by())));
        }
        let Some((path, prefix)) = prefix else { return Ok(route) };
        let route = match &prefix {
            Prefix::Family(family) => route.within(*family),
            Prefix::Named(_) => route.of_provider(),
        };
        let target = match uri.query() {
            Some(query) => format!("/{}?{query}", path.trim_start_matches('/')),
            None => format!("/{}", path.trim_start_matches('/')),
        };
        let target =
            target.parse().map_err(|_| Box::new(Failure::BadPath.render(route.served_by())))?;
        *request.uri_mut() = target;
        match prefix {
            Prefix::Family(family) => {
                request.extensions_mut().insert(family);
            }
            Prefix::Named(name) => {
                request.extensions_mut().insert(name);
            }
        }
        Ok(route)
    }

    pub(crate) async fn forward(
        self: Arc<Self>,
        route: Route,
        mut request: Request<Incoming>,
        peer: IpAddr,
        log: &mut RequestLog,
    ) -> Result<Response<ReplyBody>, Failure> {
        let is_socket = asks_for_socket(request.headers());
        if is_socket && !self.sockets.may_serve(route, &request) {
            return Err(Refusal::NoSocket.into());
        }
        if route == Route::Media {
            return Box::pin(self.media.answer(request, peer, log)).await;
        }
        #[cfg(feature = "openwop")]
        if let Some(openwop) = self.openwop.as_ref().filter(|_| route == Route::Openwop) {
            return Ok(Box::pin(openwop.answer(&self.turns, request, peer, log)).await);
        }
        // Before an upstream is chosen, which may depend on the key that is left.
        self.admission.move_key(&mut request);
        let query = request.uri().query();
        let admitted = match self.upstreams.permit(route, &request) {
            Ok(wire) => {
                let place = KeyPlace::OwnHeader;
                let admitted = self.admission.admit(request.headers(), query, peer, place).await;
                admitted.map(|admitted| (wire, admitted))
            }
            Err(refusal) => Err(refusal.into()),
        };
        let (wire, admitted) = match admitted {
            Ok(admitted) => admitted,
            Err(failure) => {
                drain(request.into_body());
                return Err(failure);
            }
        };
        log.caller.clone_from(&admitted.caller.named);
        if is_socket {
            // What a response costs is counted where it has a reply of its own.
            let limits = admitted.caller.named.as_ref().map(|caller| &caller.limits);
            if limits.is_some_and(|limits| limits.meters_turns()) {
                return Err(Refusal::NoSocket.into());
            }
            let asked = SocketRequest { route, wire, request, admitted, peer };
            return Box::pin(self.sockets.answer(asked, &self.watchers, log)).await;
        }
        if self.is_model_list(request.method(), request.uri().path()) {
            let (head, _) = request.into_parts();
            return Box::pin(self.list_models(&head, wire)).await;
        }
        let is_off = headers::is_off(request.headers());
        let is_unknown = codings(request.headers()).is_none();
        let is_upload = is_upload(request.uri().path(), request.headers());
        match route {
            // A file that is too large to be read is no batch.
            Route::Other(_) if is_upload && self.is_large(request.headers()) => {
                let reason = Passed::UnknownPath;
                Box::pin(self.pass((route, wire), request, reason, &admitted, log)).await
            }
            Route::Batch(_) if !is_off && !is_unknown => {
                Box::pin(self.turns.answer_batch(route, wire, request, &admitted, log)).await
            }
            Route::Other(_) if !is_off && !is_unknown && is_upload => {
                Box::pin(self.turns.answer_batch(route, wire, request, &admitted, log)).await
            }
            // Without an openwop host, its paths are passed on like any other.
            Route::Other(_) | Route::Openwop | Route::Batch(_) => {
                let reason = match (is_off, is_unknown) {
                    (true, _) => Passed::Off,
                    (false, true) => Passed::UnknownEncoding,
                    (false, false) => Passed::UnknownPath,
                };
                if self.is_by_model(&request) {
                    let passing =
                        self.pass_by_model((route, wire), request, reason, &admitted, log);
                    return Box::pin(passing).await;
                }
                Box::pin(self.pass((route, wire), request, reason, &admitted, log)).await
            }
            _ if is_unknown => {
                let reason = Passed::UnknownEncoding;
                Box::pin(self.pass((route, wire), request, reason, &admitted, log)).await
            }
            // If upstreams differ by model, the body must be read to find the upstream.
            _ if is_off && !self.upstreams.differ_by_model() => {
                Box::pin(self.pass((route, wire), request, Passed::Off, &admitted, log)).await
            }
            _ => {
                let repair = if is_off { Repair::Off } else { Repair::On };
                Box::pin(self.turns.answer(route, repair, request, &admitted, log)).await
            }
        }
    }

    /// Returns `true` if a body is declared to be larger than those that are read.
    fn is_large(&self, headers: &HeaderMap) -> bool {
        declared_length(headers).is_some_and(|length| length > self.client.bounds().bytes)
    }

    /// Sends a request to its upstream unchanged. It is streamed, unless the gateway has to sign it.
    async fn pass(
        &self,
        (route, wire): (Route, Wire),
        request: Request<Incoming>,
        reason: Passed,
        admitted: &Admitted,
        log: &mut RequestLog,
    ) -> Result<Response<ReplyBody>, Failure> {
        let (mut parts, mut incoming) = request.into_parts();
        if let Err(failure) = Admission::check_unread(&admitted.caller, &parts) {
            drain(incoming);
            return Err(failure);
        }
        log.passed = could_hold_pictures(&parts).then_some(reason);
        if log.passed.is_some() {
            log.conclusion = self.turns.conclusion(&admitted.caller, &parts.headers);
        }
        let prefix = parts.extensions.get::<NamedPrefix>();
        let chosen = self.upstreams.choose_for_path(wire, parts.uri.path(), prefix);
        let upstream = chosen.ok_or_else(|| self.upstreams.refusal())?;
        upstream.check_key(&parts.headers, parts.uri.query())?;
        log.upstream = Some((Arc::clone(upstream), wire));
        log.bytes_in = declared_length(&parts.headers).unwrap_or(0);
        let query = upstream.query(parts.uri.query());
        let uri = upstream.unread(route, parts.uri.path(), query.as_deref());
        parts.uri = uri.ok_or(Failure::BadPath)?;
        headers::request(&mut parts.headers);
        upstream.set_credentials(&mut parts.headers, wire);
        let is_upload = carries_files(parts.uri.path(), &parts.headers);
        let mut bounds = self.client.bounds();
        if is_upload {
            bounds.bytes = bounds.bytes.max(self.upload_bytes);
        }
        let body = match upstream.signer_for(&parts.headers) {
            None => Outgoing::stream(incoming, bounds.bytes),
            Some(signer) => {
                let read = read(&mut incoming, bounds, &self.turns.buffers, &admitted.share).await;
                let pieces = vec![read.inspect_err(|_| drain(incoming))?.bytes];
                signer.sign(&mut parts, &pieces).await?;
                Outgoing::pieces(pieces)
            }
        };
        let mut outgoing = Request::new(body);
        *outgoing.method_mut() = parts.method;
        *outgoing.uri_mut() = parts.uri;
        *outgoing.headers_mut() = parts.headers;
        let reply = self.client.send(upstream, outgoing).await?;
        Ok(pass_on(reply))
    }
}
