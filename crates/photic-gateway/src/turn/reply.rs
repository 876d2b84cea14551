//! Stage **reply**: observes the reply of an upstream, and translates it for a client of another wire.

use std::sync::Arc;

use http::header::{CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Response, Uri};

use super::client_words::Recovering;
use super::kept_reply::KeptReply;
use super::lower::OutboundRequest;
use super::translate::{Translation, is_stream, translate};
use super::usage_tap::UsageTap;
use crate::http::{Endpoint, Failure, ReplyBody, Stream};
use crate::learned::Learned;
use crate::memory::Share;
use crate::observe::Outcome;
use crate::tenant::Caller;

/// Attaches a tap that reads the usage of a reply, to count it and to compare it with the estimate.
pub(super) fn watch(
    reply: Response<Stream>,
    outbound: &mut OutboundRequest,
    outcome: &Arc<Outcome>,
    kept: Option<KeptReply>,
    caller: &Caller,
    learned: &Arc<Learned>,
) -> Response<Stream> {
    let tap = UsageTap {
        learned: Arc::clone(learned),
        outcome: Arc::clone(outcome),
        wire: outbound.wire,
        host: outbound.upstream.host().to_owned(),
        teacher: caller.identity.clone(),
        media: outbound.media.take(),
        estimate: outbound.tokens,
        reply: kept,
        head: Vec::new(),
        tail: Vec::new(),
    };
    reply.map(|stream| stream.tapped(Box::new(tap)))
}

/// Names of the headers in which providers tell their id of a request.
const PROVIDER_REQUEST: [&str; 5] =
    ["x-request-id", "request-id", "x-amzn-requestid", "apim-request-id", "x-goog-request-id"];
/// Maximum length of such an id.
const MAX_ID_LENGTH: usize = 100;

/// Returns the provider's id of a request, if it told one that looks like one.
pub(super) fn provider_request(headers: &HeaderMap) -> Option<String> {
    let is_id = |id: &&str| {
        (1..=MAX_ID_LENGTH).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic())
    };
    let mut ids = PROVIDER_REQUEST.iter().filter_map(|name| headers.get(*name)?.to_str().ok());
    ids.find(is_id).map(str::to_owned)
}

/// The client that a reply is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Client<'c> {
    pub(super) endpoint: Endpoint,
    pub(super) uri: &'c Uri,
    /// Set if it recovers from rejections by itself.
    pub(super) recovering: Option<Recovering>,
}

/// Returns `true` if a reply is passed on as it comes: neither its wire nor the framing of its streams
/// differs from the client's.
pub(super) fn passes(
    reply: &Response<Stream>,
    outbound: &OutboundRequest,
    caller: Endpoint,
) -> bool {
    let is_reframed = caller.replies_in_chunks() && is_stream(reply.headers());
    outbound.upstream.serves(caller) || (outbound.wire == caller.wire && !is_reframed)
}

/// Returns the reply for the client, translated because it does not [pass](passes).
pub(super) async fn reply(
    reply: Response<Stream>,
    outbound: OutboundRequest,
    client: Client<'_>,
    share: &Share,
) -> Result<Response<ReplyBody>, Failure> {
    let Client { endpoint: caller, uri, recovering } = client;
    let mut query = uri.query().unwrap_or_default().split('&');
    let array =
        caller.wire.http().stream_query.is_some_and(|events| !query.any(|pair| pair == events));
    let OutboundRequest { upstream, wire, usage_in_stream, renamed, .. } = outbound;
    let translation = Translation {
        from: wire,
        to: caller.wire,
        usage_in_stream,
        array,
        chunks: caller.replies_in_chunks(),
        renamed,
        client: recovering,
    };
    translate(translation, upstream.host(), reply, share).await
}

/// Answers a request to count tokens with the estimate, because an upstream of another wire has no
/// endpoint for it.
pub(super) fn estimate(outbound: &OutboundRequest, caller: Endpoint) -> Response<ReplyBody> {
    let body = format!("{{\"{}\":{}}}", caller.count_member(), outbound.tokens);
    let mut response = Response::new(ReplyBody::whole(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
