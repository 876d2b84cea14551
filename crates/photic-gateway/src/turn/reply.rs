//! Stage **reply**: observes the reply of an upstream, and translates it for a client of another wire.

use std::sync::Arc;

use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Response, Uri};
use photic::Wire;

use super::lower::OutboundRequest;
use super::translate::{Translation, translate};
use super::usage_tap::UsageTap;
use crate::http::{Failure, ReplyBody, Stream};
use crate::learned::Learned;
use crate::memory::Share;
use crate::observe::Outcome;
use crate::record::Bill;
use crate::tenant::Caller;
use crate::upstream::pass_on;

/// Attaches a tap that reads the usage of a reply, to compare it with the estimate.
pub(super) fn watch(
    reply: Response<Stream>,
    outbound: &mut OutboundRequest,
    outcome: &Arc<Outcome>,
    bill: Option<Bill>,
    caller: &Caller,
    learned: &Arc<Learned>,
) -> Response<Stream> {
    let Some(media) = outbound.media.take() else { return reply };
    let tap = UsageTap {
        learned: Arc::clone(learned),
        outcome: Arc::clone(outcome),
        wire: outbound.wire,
        host: outbound.upstream.host().to_owned(),
        teacher: caller.identity.clone(),
        media,
        estimate: outbound.tokens,
        bill,
        head: Vec::new(),
        tail: Vec::new(),
    };
    reply.map(|stream| stream.tapped(Box::new(tap)))
}

/// Returns the reply for the client, translated if its wire differs.
pub(super) async fn reply(
    reply: Response<Stream>,
    outbound: OutboundRequest,
    caller: Wire,
    uri: &Uri,
    share: &Share,
) -> Result<Response<ReplyBody>, Failure> {
    if outbound.wire == caller {
        return Ok(pass_on(reply));
    }
    let mut query = uri.query().unwrap_or_default().split('&');
    let array = caller.http().stream_query.is_some_and(|events| !query.any(|pair| pair == events));
    let OutboundRequest { upstream, wire, usage_in_stream, renamed, .. } = outbound;
    let translation = Translation { from: wire, to: caller, usage_in_stream, array, renamed };
    translate(translation, upstream.host(), reply, share).await
}

/// Answers a request to count tokens with the estimate, because an upstream of another wire has no
/// endpoint for it.
pub(super) fn estimate(outbound: &OutboundRequest) -> Response<ReplyBody> {
    let body = format!("{{\"input_tokens\":{}}}", outbound.tokens);
    let mut response = Response::new(ReplyBody::whole(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
