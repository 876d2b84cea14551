//! Stage **send**: posts a request to its upstream.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, HeaderValue};
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response};
use photic::wire::Envelope;
use photic_net::Outgoing;
use photic_store::record::Attempt;

use super::lower::OutboundRequest;
use super::picking::rename_in_path;
use super::recall::RecalledRequest;
use super::unwrap::unwrap;
use crate::http::{Endpoint, Failure, Refusal, ReplyDecoder, Stream, codings, headers};
use crate::memory::{Share, Use, charged};
use crate::observe::Outcome;
use crate::upstream::UpstreamClient;

/// The address and headers that a turn is sent with.
#[derive(Debug)]
pub(super) struct Delivery<'t> {
    /// The turn, as long as it may have to be repaired again.
    pub(super) recalled: Option<Arc<RecalledRequest>>,
    pub(super) headers: HeaderMap,
    pub(super) path: Cow<'t, str>,
    pub(super) query: Option<Cow<'t, str>>,
    /// Set if the path is that of an envelope, which is sent as the client wrote it.
    is_prefixed: bool,
    /// The envelope that is taken off the body, because the upstream speaks the wire inside.
    envelope: Option<&'static Envelope>,
    /// Set if the gateway reads the reply, which must not be compressed then.
    reads_reply: bool,
    /// The memory that it is charged to.
    pub(super) share: &'t Share,
}

/// The answer to a request.
#[derive(Debug)]
pub(super) struct AnsweredRequest {
    pub(super) reply: Response<Stream>,
    /// Set for a request that showed media.
    pub(super) outcome: Option<Outcome>,
}

impl<'t> Delivery<'t> {
    /// Makes the head of the request to the upstream. Headers of one connection are removed, and for
    /// another wire the path and the key are translated.
    pub(super) fn new(
        head: &'t mut Parts,
        caller: Endpoint,
        outbound: &OutboundRequest,
        recalled: Option<Arc<RecalledRequest>>,
        share: &'t Share,
    ) -> Self {
        headers::request(&mut head.headers);
        if outbound.upstream.serves(caller) {
            let path = match &outbound.renamed_in_path {
                None => Cow::Borrowed(head.uri.path()),
                Some((old, new)) => Cow::Owned(rename_in_path(head.uri.path(), old, new)),
            };
            let query = outbound.upstream.query(head.uri.query());
            outbound.upstream.set_credentials(&mut head.headers, outbound.wire);
            return Self {
                recalled,
                headers: std::mem::take(&mut head.headers),
                path,
                query,
                is_prefixed: caller.envelope.is_some(),
                envelope: None,
                reads_reply: false,
                share,
            };
        }
        headers::translate(&mut head.headers, outbound.wire, head.uri.query());
        outbound.upstream.drop_foreign_key(&mut head.headers, outbound.wire);
        outbound.upstream.set_credentials(&mut head.headers, outbound.wire);
        let (path, query) = outbound.wire.path(&outbound.params);
        let path = Cow::Owned(path.into_owned());
        // The query of one wire may contain a key, and has no meaning in another.
        let own = head.uri.query().filter(|_| caller.wire.names_model() && query.is_none());
        let query = query.or(own.filter(|_| caller.envelope.is_none()));
        let query = outbound.upstream.query(query);
        let headers = std::mem::take(&mut head.headers);
        let envelope = caller
            .envelope
            .filter(|envelope| outbound.wire == caller.wire && !envelope.body_headers.is_empty());
        let (is_prefixed, reads_reply) = (false, false);
        let mut this =
            Self { recalled, headers, path, query, is_prefixed, envelope, reads_reply, share };
        this.reads_reply();
        this
    }

    /// Asks the upstream for a reply that the gateway can read. If it comes compressed all the same,
    /// it is decoded.
    pub(super) fn reads_reply(&mut self) {
        self.reads_reply = true;
        self.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    }

    /// Returns the texts beside the body that an endpoint may quote: the path and every header.
    pub(super) fn quotable(&self) -> Vec<String> {
        let headers = self.headers.iter().flat_map(|(name, value)| {
            [name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned()]
        });
        let address = std::iter::once(&*self.path).chain(self.query.as_deref()).map(str::to_owned);
        headers.chain(address).collect()
    }

    /// Posts a request once.
    pub(super) async fn post(
        &self,
        client: &UpstreamClient,
        outbound: &OutboundRequest,
        mut headers: HeaderMap,
        mut pieces: Vec<Bytes>,
    ) -> Result<Response<Stream>, Failure> {
        if let Some(envelope) = self.envelope {
            let length: usize = pieces.iter().map(Bytes::len).sum();
            // The body in one piece, and the one that is sent.
            let mut charge = self.share.charge(Use::Bodies, 2 * length as u64).await?;
            let body = unwrap(&pieces.concat(), envelope, &outbound.params, &mut headers);
            let body = Bytes::from(body.ok_or(Refusal::OtherApi)?);
            charge.shrink_to(body.len() as u64);
            pieces = vec![charged(body, charge)];
        }
        let upstream = &outbound.upstream;
        let query = self.query.as_deref();
        upstream.check_key(&headers, query)?;
        let uri = if self.is_prefixed {
            upstream.prefixed(&self.path, query)
        } else {
            upstream.route(&self.path, query)
        };
        let uri = uri.ok_or(Failure::BadPath)?;
        let signed = upstream.signer().map(|_| pieces.clone()).unwrap_or_default();
        let mut outgoing = Request::new(Outgoing::pieces(pieces));
        *outgoing.method_mut() = Method::POST;
        *outgoing.uri_mut() = uri;
        *outgoing.headers_mut() = headers;
        // The HTTP client sets the length.
        outgoing.headers_mut().remove(CONTENT_LENGTH);
        if let Some(signer) = upstream.signer() {
            let (mut head, body) = outgoing.into_parts();
            Box::pin(signer.sign(&mut head, &signed)).await?;
            outgoing = Request::from_parts(head, body);
        }
        drop(signed);
        let reply = client.send(upstream, outgoing).await?;
        if self.reads_reply { decoded(reply, upstream.host()) } else { Ok(reply) }
    }
}

/// Decodes a reply that came in a content encoding although none was asked for.
fn decoded(reply: Response<Stream>, host: &str) -> Result<Response<Stream>, Failure> {
    if !reply.headers().contains_key(CONTENT_ENCODING) {
        return Ok(reply);
    }
    let mut codings = codings(reply.headers()).ok_or(Failure::ReplyEncoding(host.to_owned()))?;
    let (mut parts, mut stream) = reply.into_parts();
    if let Some(coding) = codings.pop() {
        let decoder = ReplyDecoder::new(coding).filter(|_| codings.is_empty());
        stream = stream.decoded(decoder.ok_or(Failure::ReplyEncoding(host.to_owned()))?);
        parts.headers.remove(CONTENT_LENGTH);
    }
    parts.headers.remove(CONTENT_ENCODING);
    Ok(Response::from_parts(parts, stream))
}

/// Returns the length of a body in pieces.
pub(super) fn length(pieces: &[Bytes]) -> u64 {
    pieces.iter().map(|piece| piece.len() as u64).sum()
}

/// Returns the milliseconds since a moment.
pub(super) fn milliseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Sends a request without media, and drops its body. It is sent once, and a rejection is passed on
/// unread.
pub(super) async fn send(
    client: &UpstreamClient,
    mut delivery: Delivery<'_>,
    outbound: &mut OutboundRequest,
) -> Result<AnsweredRequest, Failure> {
    let pieces = std::mem::take(&mut outbound.pieces);
    let headers = std::mem::take(&mut delivery.headers);
    // The body is not needed again, and its buffer can be used for another one.
    delivery.recalled = None;
    let (bytes, begun) = (length(&pieces), Instant::now());
    let reply = delivery.post(client, outbound, headers, pieces).await;
    outbound.drop_body();
    let status = reply.as_ref().ok().map(|reply| reply.status().as_u16());
    outbound.attempts.push(Attempt::new(status, bytes, milliseconds(begun)));
    let reply = reply?;
    Ok(AnsweredRequest { reply, outcome: None })
}
