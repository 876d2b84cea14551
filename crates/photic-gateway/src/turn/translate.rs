//! Translates the reply of an upstream to the wire of the client.

use std::future::poll_fn;

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Response, StatusCode};
use photic::wire::{ErrorKind, ErrorWords, FramingKind};
use photic::{RenamedTool, Stream as StreamTranslator, Wire};

use super::client_words::Recovering;
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
    /// Set if the stream must consist of Amazon frames, each with one event (`InvokeModel`).
    pub(super) chunks: bool,
    /// The tools that the endpoint knows by another name, or in another form.
    pub(super) renamed: Vec<RenamedTool>,
    /// Set if the client recovers from rejections by itself.
    pub(super) client: Option<Recovering>,
}

impl Translation {
    /// Returns the rejection of a request in the words of the client, if it has words for it.
    fn rejection(&self, status: StatusCode, answer: &[u8]) -> Option<String> {
        let Recovering { client, shows_media } =
            self.client.filter(|_| status.is_client_error())?;
        let message =
            client.message(status.as_u16(), &String::from_utf8_lossy(answer), shows_media)?;
        let kind = self.to.error_word(ErrorKind::Invalid);
        let words = ErrorWords::new(status.as_u16(), kind, &message);
        Some(self.to.error_body(&words).to_string())
    }

    fn translator(self) -> (&'static str, StreamTranslator) {
        if self.array {
            return (JSON, StreamTranslator::array(self.from, self.to).renaming(self.renamed));
        }
        let translator = if self.usage_in_stream {
            StreamTranslator::with_usage(self.from, self.to)
        } else {
            StreamTranslator::new(self.from, self.to)
        };
        let translator = translator.renaming(self.renamed);
        if self.chunks {
            return (FramingKind::AmazonFrames.media_type(), translator.in_chunks());
        }
        (self.to.http().framing.media_type(), translator)
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
    let written = if let Some(rejection) = translation.rejection(parts.status, &body) {
        // Its recovery reads these two.
        if parts.status != StatusCode::PAYLOAD_TOO_LARGE {
            parts.status = StatusCode::BAD_REQUEST;
        }
        Bytes::from(rejection)
    } else {
        let mut lifted = photic::lift_reply(translation.from, &body);
        lifted.rename_calls(&translation.renamed);
        Bytes::from(photic::lower_reply(&lifted, translation.to).to_vec())
    };
    drop(body);
    charge.shrink_to(written.len() as u64);
    Ok(Response::from_parts(parts, ReplyBody::whole(charged(written, charge))))
}

/// Returns `true` if a reply is streamed. Errors are not, even if the client asked for a stream.
pub(super) fn is_stream(headers: &HeaderMap) -> bool {
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
