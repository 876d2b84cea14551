//! Stage **send**: posts a request to its upstream.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response};
use photic::Wire;
use photic_net::Outgoing;

use super::lower::OutboundRequest;
use super::recall::RecalledRequest;
use crate::http::{Failure, Stream, headers};
use crate::memory::Share;
use crate::observe::Outcome;
use crate::upstream::UpstreamClient;

/// The address and headers that a turn is sent with.
#[derive(Debug)]
pub(super) struct Delivery<'t> {
    /// The turn, as long as it may have to be repaired again.
    pub(super) recalled: Option<Arc<RecalledRequest>>,
    pub(super) headers: HeaderMap,
    pub(super) path: Cow<'t, str>,
    pub(super) query: Option<&'t str>,
    /// The memory that it is charged to.
    pub(super) share: &'t Share,
}

/// A request that was answered.
#[derive(Debug)]
pub(super) struct AnsweredRequest {
    /// The request as it was sent last, without its body.
    pub(super) outbound: OutboundRequest,
    pub(super) reply: Response<Stream>,
    /// Set for a request that showed media.
    pub(super) outcome: Option<Outcome>,
}

impl<'t> Delivery<'t> {
    /// Makes the head of the request to the upstream. Headers of one connection are removed, and for
    /// another wire the path and the key are translated.
    pub(super) fn new(
        head: &'t mut Parts,
        caller: Wire,
        outbound: &OutboundRequest,
        recalled: Option<Arc<RecalledRequest>>,
        share: &'t Share,
    ) -> Self {
        headers::request(&mut head.headers);
        if outbound.wire == caller {
            let (path, query) = (Cow::Borrowed(head.uri.path()), head.uri.query());
            return Self {
                recalled,
                headers: std::mem::take(&mut head.headers),
                path,
                query,
                share,
            };
        }
        headers::translate(&mut head.headers, outbound.wire, head.uri.query());
        let (path, query) = outbound.wire.path(&outbound.params);
        let path = Cow::Owned(path.into_owned());
        // The query of one wire may contain a key, and has no meaning in another.
        let own = head.uri.query().filter(|_| caller.names_model() && query.is_none());
        let query = query.or(own);
        Self { recalled, headers: std::mem::take(&mut head.headers), path, query, share }
    }

    /// Returns the texts beside the body that an endpoint may quote: the path and every header.
    pub(super) fn quotable(&self) -> Vec<String> {
        let headers = self.headers.iter().flat_map(|(name, value)| {
            [name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned()]
        });
        let address = std::iter::once(&*self.path).chain(self.query).map(str::to_owned);
        headers.chain(address).collect()
    }

    /// Posts a request once.
    pub(super) async fn post(
        &self,
        client: &UpstreamClient,
        outbound: &OutboundRequest,
        headers: HeaderMap,
        pieces: Vec<Bytes>,
    ) -> Result<Response<Stream>, Failure> {
        let upstream = &outbound.upstream;
        let uri = upstream.route(&self.path, self.query).ok_or(Failure::BadPath)?;
        let signed = upstream.signer().map(|_| pieces.clone()).unwrap_or_default();
        let mut outgoing = Request::new(Outgoing::pieces(pieces));
        *outgoing.method_mut() = Method::POST;
        *outgoing.uri_mut() = uri;
        *outgoing.headers_mut() = headers;
        // The HTTP client sets the length.
        outgoing.headers_mut().remove(CONTENT_LENGTH);
        if let Some(signer) = upstream.signer() {
            let (mut head, body) = outgoing.into_parts();
            signer.sign(&mut head, &signed).await?;
            outgoing = Request::from_parts(head, body);
        }
        drop(signed);
        client.send(upstream.host(), outgoing).await
    }
}

/// Sends a request without media. It is sent once, and a rejection is passed on unread.
pub(super) async fn send(
    client: &UpstreamClient,
    mut delivery: Delivery<'_>,
    mut outbound: OutboundRequest,
) -> Result<AnsweredRequest, Failure> {
    let pieces = std::mem::take(&mut outbound.pieces);
    let headers = std::mem::take(&mut delivery.headers);
    // The body is not needed again, and its buffer can be used for another one.
    delivery.recalled = None;
    let reply = delivery.post(client, &outbound, headers, pieces).await?;
    outbound.drop_body();
    Ok(AnsweredRequest { outbound, reply, outcome: None })
}
