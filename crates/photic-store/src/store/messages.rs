//! The messages of a turn, as the client sent them and as the model got them.

use photic::Digest;
use photic::media::{Payload, Source};

use super::Store;
use crate::blobs::{BlobId, Blobs};
use crate::error::Error;
use crate::record::{Record, SessionId, StoredSegment};

/// A side of the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodySide {
    /// The request as the client sent it.
    Client,
    /// The request as the model got it.
    Model,
}

/// A page of messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessagePage {
    /// The messages, in order.
    pub messages: Vec<MessageText>,
    /// Number of messages of the turn.
    pub total: usize,
}

/// A message of a body: an element of its list of messages, without media.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageText {
    /// Its JSON in the wire of the body. Strings of media are empty.
    pub json: Vec<u8>,
    /// Its media: the offset in `json` where the base64 or text belongs, and the digest of the
    /// decoded bytes.
    pub media: Vec<(usize, Digest)>,
}

impl<R: Record, B: Blobs> Store<R, B> {
    /// Returns up to `limit` messages of a turn from number `from`, counted from 0.
    pub async fn message_page(
        &self,
        id: &SessionId,
        number: u64,
        side: BodySide,
        from: usize,
        limit: usize,
    ) -> Result<MessagePage, Error> {
        let turn = self.turn(id, number).await?;
        match side {
            BodySide::Client => {
                let messages = self.record.messages(&turn).await?;
                let total = messages.len();
                let page = messages.into_iter().skip(from).take(limit).map(MessageText::from);
                Ok(MessagePage { messages: page.collect(), total })
            }
            BodySide::Model => {
                let wire = self.terms(&turn).await?.profile.wire;
                let body = self.lower(id, number).await?.body;
                let (transcript, _) = photic::lift(wire, &body);
                let split = photic::split_media(&transcript);
                let total = split.messages.len();
                let page = split.messages.iter().skip(from).take(limit).map(|message| {
                    let mut text = MessageText::default();
                    let mut end = 0;
                    for cut in &message.cuts {
                        text.json.extend_from_slice(&message.raw[end..cut.range.start]);
                        end = cut.range.end;
                        let source = transcript.media.get(cut.media.index());
                        let digest = match source.map(|media| &media.source) {
                            Some(Source::Data(payload)) => Payload::digest(payload),
                            _ => *BlobId::of(&message.raw[cut.range.clone()]).as_bytes(),
                        };
                        text.media.push((text.json.len(), digest));
                    }
                    text.json.extend_from_slice(&message.raw[end..]);
                    text.without_comma()
                });
                Ok(MessagePage { messages: page.collect(), total })
            }
        }
    }
}

impl From<StoredSegment> for MessageText {
    fn from(segment: StoredSegment) -> Self {
        let media = segment.pieces.iter().map(|(at, piece)| (*at, *piece.blob.as_bytes()));
        Self { media: media.collect(), json: segment.text }.without_comma()
    }
}

impl MessageText {
    /// Removes the comma and the white space before the message.
    fn without_comma(mut self) -> Self {
        let is_between = |byte: &u8| *byte == b',' || byte.is_ascii_whitespace();
        let length = self.json.iter().take_while(|byte| is_between(byte)).count();
        self.json.drain(..length);
        for (at, _) in &mut self.media {
            *at = at.saturating_sub(length);
        }
        self
    }
}
