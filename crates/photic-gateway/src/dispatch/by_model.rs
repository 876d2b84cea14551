//! Requests that are no turns and name a model: embeddings, speech, pictures. They go to the upstreams
//! of their `[[model]]`, or to that of their path, and are passed on as they are apart from the name of
//! the model.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use http::request::Parts;
use http::{Method, Request, Response};
use hyper::body::Incoming;
use photic::Wire;
use photic::json::Doc;
use photic_net::Outgoing;

use super::dispatcher::Dispatcher;
use crate::config::{Family, NamedPrefix};
use crate::http::{
    Failure, Passed, ReplyBody, Route, Stream, codings, could_hold_pictures, decode, drain,
    headers, read,
};
use crate::observe::RequestLog;
use crate::tenant::{Admission, Admitted};
use crate::turn::{judge, say_upstream};
use crate::upstream::{Cause, ModelRoutes, Picked, Trail, Upstream, pass_on};

/// Parts of paths whose requests create something that stays, so that it must not be done twice.
const CREATES: [&str; 9] = [
    "assistants",
    "batches",
    "containers",
    "evals",
    "fine_tuning",
    "threads",
    "uploads",
    "vector_stores",
    "videos",
];

/// A request to be passed on, with its body.
#[derive(Debug)]
struct Passing<'p> {
    route: Route,
    wire: Wire,
    head: &'p Parts,
    body: Bytes,
    /// The place of the model's name in the body, with its quotes.
    name: Option<std::ops::Range<usize>>,
}

impl Dispatcher {
    /// Returns `true` if the body of a request has to be read to find its upstream.
    pub(super) fn is_by_model(&self, request: &Request<Incoming>) -> bool {
        let media_type = request.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes);
        let is_json = media_type.is_some_and(|it| it.starts_with(b"application/json"));
        let upstreams = &self.upstreams;
        (upstreams.routes().is_some() || upstreams.models().deny_unmatched)
            && request.method() == Method::POST
            && is_json
            && codings(request.headers()).is_some()
    }

    /// Passes a request on to the upstream of its model. Upstreams are asked one after the other until
    /// one answers.
    pub(super) async fn pass_by_model(
        &self,
        (route, wire): (Route, Wire),
        request: Request<Incoming>,
        reason: Passed,
        admitted: &Admitted,
        log: &mut RequestLog,
    ) -> Result<Response<ReplyBody>, Failure> {
        let (mut head, mut incoming) = request.into_parts();
        if let Err(failure) = Admission::check_unread(&admitted.caller, &head) {
            drain(incoming);
            return Err(failure);
        }
        log.passed = could_hold_pictures(&head).then_some(reason);
        if log.passed.is_some() {
            log.conclusion = self.turns.conclusion(&admitted.caller, &head.headers);
        }
        let (bounds, buffers) = (self.client.bounds(), &self.turns.buffers);
        let body = read(&mut incoming, bounds, buffers, &admitted.share).await;
        let body = body.inspect_err(|_| drain(incoming))?;
        let codings = codings(&head.headers).unwrap_or_default();
        let body = Box::pin(decode(body, &codings, bounds, buffers, &admitted.share)).await?.bytes;
        head.headers.remove(CONTENT_ENCODING);
        head.headers.remove(CONTENT_LENGTH);
        log.bytes_in = body.len() as u64;
        let (model, name) = model(&body).unzip();
        let passing = Passing { route, wire, head: &head, body, name };
        let routes = self.upstreams.routes();
        let found = routes.and_then(|routes| Some((routes, routes.find(model.as_deref())?)));
        if let Some((routes, found)) = found {
            routes.budget().add_request();
            let first = routes.pick(found, &[], |one| is_of_family(one, wire), false);
            let first = first.ok_or(crate::http::Refusal::OtherApi)?;
            return self.pass_to_one_of(&passing, routes, first, admitted, log).await;
        }
        let (path, prefix) = (passing.head.uri.path(), head.extensions.get::<NamedPrefix>());
        let by_model = || self.upstreams.choose(wire, model.as_deref(), prefix);
        let upstream = match self.upstreams.choose_by_path(path, prefix).or_else(by_model) {
            Some(upstream) if is_of_family(upstream, wire) => upstream,
            _ => {
                let other = self.upstreams.choose_for_other(wire, prefix);
                other.ok_or_else(|| self.upstreams.refusal())?
            }
        };
        Ok(pass_on(self.pass_to(&passing, upstream, None, log).await?))
    }

    async fn pass_to_one_of(
        &self,
        passing: &Passing<'_>,
        routes: &ModelRoutes,
        first: Picked,
        admitted: &Admitted,
        log: &mut RequestLog,
    ) -> Result<Response<ReplyBody>, Failure> {
        let mut trail = Trail::new(&first);
        let mut picked = first;
        let reply = loop {
            if !picked.pause.is_zero() {
                self.turns.wait_for(&picked).await?;
            }
            let candidate = picked.candidate();
            let (upstream, model) = (&candidate.upstream, candidate.model.as_deref());
            let mut reply = self.pass_to(passing, upstream, model, log).await;
            let cause = judge(reply.as_mut().map_err(|it| &*it), upstream, routes, &admitted.share);
            let Some(cause) = cause.await else { break reply };
            if !may_be_repeated(passing.head.uri.path(), cause) {
                break reply;
            }
            let can_serve = |one: &Upstream| is_of_family(one, passing.wire);
            let Some(next) = trail.next(routes, &picked, cause, can_serve) else { break reply };
            let times = trail.times(next.index);
            if times > 0 {
                tokio::time::sleep(routes.backoff(times)).await;
            }
            picked = next;
        };
        let mut reply = pass_on(reply?);
        say_upstream(reply.headers_mut(), &trail);
        Ok(reply)
    }

    /// Sends a request to one upstream.
    async fn pass_to(
        &self,
        passing: &Passing<'_>,
        upstream: &Arc<Upstream>,
        model: Option<&str>,
        log: &mut RequestLog,
    ) -> Result<Response<Stream>, Failure> {
        let Passing { route, wire, head, body, name } = passing;
        upstream.check_key(&head.headers, head.uri.query())?;
        log.upstream = Some((Arc::clone(upstream), *wire));
        let query = upstream.query(head.uri.query());
        let uri = upstream.unread(*route, head.uri.path(), query.as_deref());
        let (mut outgoing, ()) = Request::new(()).into_parts();
        outgoing.method = head.method.clone();
        outgoing.uri = uri.ok_or(Failure::BadPath)?;
        outgoing.headers.clone_from(&head.headers);
        headers::request(&mut outgoing.headers);
        upstream.set_credentials(&mut outgoing.headers, *wire);
        let pieces = match (model, name) {
            (Some(model), Some(at)) => {
                let model = serde_json::Value::from(model).to_string();
                vec![body.slice(..at.start), model.into(), body.slice(at.end..)]
            }
            _ => vec![body.clone()],
        };
        if let Some(signer) = upstream.signer_for(&outgoing.headers) {
            signer.sign(&mut outgoing, &pieces).await?;
        }
        let outgoing = Request::from_parts(outgoing, Outgoing::pieces(pieces));
        self.client.send(upstream, outgoing).await
    }
}

/// Returns the model that a body names, and the place of its name.
fn model(body: &[u8]) -> Option<(String, std::ops::Range<usize>)> {
    let doc = Doc::read(body)?;
    let model = doc.root()?.get("model")?;
    Some((model.str()?.decode().into_owned(), model.span()))
}

/// Returns `true` if a request that failed like this can be sent again: it was refused, or nothing is
/// lost if it is done twice.
fn may_be_repeated(path: &str, cause: Cause) -> bool {
    let is_refused =
        matches!(cause, Cause::NoConnection(_) | Cause::RateLimited | Cause::KeyRefused);
    is_refused || !path.split('/').any(|part| CREATES.contains(&part))
}

/// Returns `true` if an upstream speaks a wire of the same family. Such requests are not translated.
fn is_of_family(upstream: &Upstream, wire: Wire) -> bool {
    Family::of(wire).wires().any(|wire| upstream.accepts(wire))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_creates_something_is_repeated_only_if_it_was_refused() {
        for (path, cause, may) in [
            ("/v1/embeddings", Cause::NoAnswer, true),
            ("/v1/fine_tuning/jobs", Cause::NoAnswer, false),
            ("/v1/videos", Cause::ServerError, false),
            ("/v1/videos", Cause::RateLimited, true),
        ] {
            assert_eq!(may_be_repeated(path, cause), may, "{path}");
        }
    }

    #[test]
    fn the_name_of_the_model_is_found_where_it_stands() {
        let body = br#"{"input":{"model":"no"},"model":"fa\u0073t"}"#;
        let (name, at) = model(body).unwrap();
        assert_eq!((name.as_str(), &body[at]), ("fast", br#""fa\u0073t""#.as_slice()));
        for none in [b"{}".as_slice(), b"[]", b"{\"model\":1}", b"no json"] {
            assert_eq!(model(none), None);
        }
    }
}
