//! Every sighting of a transcript: where it stands, how it came, what its header says.
//!
//! Headers only. No pixel is decoded, and no long string is hashed before somebody asks.

use crate::json::Str;
use crate::media::{Found, Header, MediaKind, Source, is_type};
use crate::profile::{self, Detail};
use crate::transcript::{CallKind, MediaId, Part, Role, Transcript};
use crate::wire::Wire;

/// What a survey found.
#[derive(Clone, Debug)]
pub struct Survey {
    /// The wire the transcript came from.
    pub wire: Wire,
    /// One for each medium, in the order they stand: `sightings[id]` is medium `id`.
    pub sightings: Vec<Sighting>,
    /// The first message after the last of the assistant's.
    pub current_turn: usize,
}

/// One occurrence of a medium.
#[derive(Clone, Debug)]
pub struct Sighting {
    /// Which medium.
    pub media: MediaId,
    /// Picture, document or sound.
    pub kind: MediaKind,
    /// The message it stands in.
    pub message: usize,
    /// Whose words it stands among.
    pub slot: Slot,
    /// How it stood there.
    pub found: Found,
    /// What its header says; empty for what is not in the body.
    pub header: Header,
    /// How its bytes would reach the provider; `None` where they cannot.
    pub source: Option<profile::Source>,
    /// Whether there is an address, of whatever use.
    pub has_address: bool,
    /// Whether the declared type differs from the type of the bytes.
    pub mislabeled: bool,
    /// The type it declares, where the bytes do not tell.
    pub declared: Option<String>,
    /// The detail its sender asked for.
    pub detail: Option<Detail>,
    /// Bytes it takes in the body.
    pub wire_bytes: usize,
}

/// Whose words a medium stands among.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// A message of that role.
    Message(Role),
    /// The result of a tool.
    Result {
        /// Whether the tool failed.
        error: bool,
        /// Whether the slot takes a picture of the screen and nothing else.
        screen: bool,
    },
}

/// Lists every sighting.
pub fn survey(transcript: &Transcript<'_>) -> Survey {
    let mut places = vec![(0, Slot::Message(Role::Unknown)); transcript.media.len()];
    for (index, message) in transcript.messages.iter().enumerate() {
        for part in &message.parts {
            let slot = match part {
                Part::Result(result) => {
                    Slot::Result { error: result.is_error, screen: result.kind == CallKind::Screen }
                }
                _ => Slot::Message(message.role),
            };
            part.each_media(&mut |id| places[id] = (index, slot));
        }
    }
    let sightings: Vec<Sighting> = places
        .into_iter()
        .enumerate()
        .map(|(id, (message, slot))| look(transcript, id, message, slot))
        .collect();
    let last_assistant =
        transcript.messages.iter().rposition(|message| message.role == Role::Assistant);
    Survey {
        wire: transcript.wire,
        current_turn: last_assistant.map_or(0, |unit| unit + 1),
        sightings,
    }
}

fn look(transcript: &Transcript<'_>, id: MediaId, message: usize, slot: Slot) -> Sighting {
    let media = &transcript.media[id];
    let header = media.header();
    let declared = media
        .declared
        .as_ref()
        .map(|label| {
            label.decode().split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
        })
        .filter(|label| is_type(label));
    let mislabeled = media.kind == MediaKind::Image
        && header.is_image()
        && declared.as_deref().is_some_and(|declared| Some(declared) != header.media_type);
    let (source, wire_bytes) = match &media.source {
        Source::Data(payload) => (Some(profile::Source::Data), payload.base64().len()),
        Source::Text(text) => (Some(profile::Source::Data), text.len()),
        Source::Url(text) if is_out_of_reach(text) => (None, text.len()),
        Source::Url(text) => (Some(profile::Source::Url), text.len()),
        Source::File(text) => (Some(profile::Source::File), text.len()),
        Source::Missing => (None, 0),
    };
    Sighting {
        media: id,
        kind: media.kind,
        message,
        slot,
        found: media.found,
        header,
        source,
        has_address: matches!(media.source, Source::Url(_)),
        mislabeled,
        declared,
        detail: media.detail.as_ref().and_then(|detail| Detail::from_name(&detail.decode())),
        wire_bytes,
    }
}

/// Addresses on the sender's own machine, and what is no address at all.
fn is_out_of_reach(address: &Str<'_>) -> bool {
    let address = address.decode();
    let scheme = address.split_once(':').map_or("", |(scheme, _)| scheme.trim());
    scheme.len() < 2 || ["file", "blob"].iter().any(|local| scheme.eq_ignore_ascii_case(local))
}
