//! Translates the reply of an upstream to the wire of the client.

use std::future::poll_fn;

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Response};
use photic::wire::FramingKind;
use photic::{Stream as StreamTranslator, Wire};

use crate::http::{Failure, ReplyBody, Stream, headers};
use crate::memory::{Charge, Share, Use, charged};

/// Maximum size of a reply that is not streamed.
const MAX_REPLY: usize = 64 << 20;
/// Bytes that are charged at once.
const STEP: usize = 64 << 10;

/// The wires of a translation, and the client's options for streams.
#[derive(Clone, Debug)]
pub(super) struct Translation {
    pub(super) from: Wire,
    pub(super) to: Wire,
    /// Set if the stream must end with its usage (Chat Completions).
    pub(super) usage_in_stream: bool,
    /// Set if the stream must be one array instead of server-sent events (Gemini).
    pub(super) array: bool,
    /// Renamed tools: each new name with the old one.
    pub(super) renamed: Vec<(String, String)>,
}

impl Translation {
    fn translator(self) -> (&'static str, StreamTranslator) {
        if self.array {
            return (JSON, StreamTranslator::array(self.from, self.to).renaming(self.renamed));
        }
        let translator = if self.usage_in_stream {
            StreamTranslator::with_usage(self.from, self.to)
        } else {
            StreamTranslator::new(self.from, self.to)
        };
        (self.to.http().framing.media_type(), translator.renaming(self.renamed))
    }
}

/// Translates a reply for a client of another wire.
pub(super) async fn translate(
    translation: Translation,
    host: &str,
    reply: Response<Stream>,
    share: &Share,
) -> Result<Response<ReplyBody>, Failure> {
    let (mut parts, stream) = reply.into_parts();
    headers::reply(&mut parts.headers);
    parts.headers.remove(CONTENT_LENGTH);
    parts.version = http::Version::default();
    if is_stream(&parts.headers) {
        let (media_type, translator) = translation.translator();
        parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        let body = ReplyBody::translated(stream, translator, share);
        return Ok(Response::from_parts(parts, body));
    }
    let mut charge = share.nothing(Use::Replies);
    let body = whole(stream, host, &mut charge).await?;
    // Three copies: the received body, the translated one, and that one in a single piece.
    charge.reach(3 * body.len() as u64).await?;
    parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    let mut lifted = photic::lift_reply(translation.from, &body);
    lifted.rename_calls(&translation.renamed);
    let written = Bytes::from(photic::lower_reply(&lifted, translation.to).to_vec());
    drop(lifted);
    drop(body);
    charge.shrink_to(written.len() as u64);
    Ok(Response::from_parts(parts, ReplyBody::whole(charged(written, charge))))
}

/// Returns `true` if a reply is streamed. Errors are not, even if the client asked for a stream.
fn is_stream(headers: &HeaderMap) -> bool {
    let media_type = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    FramingKind::ALL.iter().any(|kind| media_type.starts_with(kind.media_type().as_bytes()))
}

const JSON: &str = "application/json";

async fn whole(mut stream: Stream, host: &str, charge: &mut Charge) -> Result<Bytes, Failure> {
    let mut whole = BytesMut::new();
    while let Some(frame) = poll_fn(|context| stream.poll(context)).await {
        let frame = frame.map_err(|_| Failure::Closed(host.to_owned()))?;
        if let Ok(data) = frame.into_data() {
            if whole.len() + data.len() > MAX_REPLY {
                return Err(Failure::ReplyTooLarge(host.to_owned()));
            }
            // The buffer grows by doubling.
            let held = 2 * (whole.len() + data.len());
            charge.reach(held.next_multiple_of(STEP) as u64).await?;
            whole.extend_from_slice(&data);
        }
    }
    Ok(whole.freeze())
}
