//! Lists every sighting of a transcript: its position, its form, and the facts in its header.
//!
//! Reads headers only; no pixel is decoded. Long strings are hashed only to compare media that look
//! alike, or if a caller asks for it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::json::Str;
use crate::media::{
    Digest, Found, Header, Media, MediaKind, Payload, Source, Spelled, index_by_media, is_type,
};
use crate::plan::{Former, Reason};
use crate::profile::{self, Detail, Mark, Profile};
use crate::server_side::{self, Clearing, Note};
use crate::transcript::{Bounds, CallKind, Home, MediaId, Message, Part, Role, Transcript};
use crate::wire::Wire;

/// The result of a survey.
#[derive(Clone, Debug)]
pub struct Survey {
    /// The wire the transcript came from; `None` for a dump.
    pub wire: Option<Wire>,
    /// One sighting for each medium, in order: `sightings[id]` is medium `id`.
    pub sightings: Vec<Sighting>,
    /// The end of each request of this conversation: the number of messages it held. The last one
    /// is this request.
    pub requests: Vec<usize>,
    /// Bytes of each message, without media.
    pub words: Vec<usize>,
    /// Bytes of the body outside messages: settings and tools.
    pub settings: usize,
    /// `true` if the body marks positions for the endpoint's cache.
    pub is_marked: bool,
    /// The previous request as it was sent, if the host knows it.
    pub former: Option<Former>,
    /// Content that the provider keeps, removes or changes by itself.
    pub notes: Vec<Note>,
    /// The tool results that the request asks its provider to clear.
    pub clearing: Option<Clearing>,
}

/// One occurrence of a medium.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each named at its use")]
pub struct Sighting {
    /// The id of the medium.
    pub media: MediaId,
    /// Picture, document or sound.
    pub kind: MediaKind,
    /// The message that holds it.
    pub message: usize,
    /// The role or tool result that holds it.
    pub slot: Slot,
    /// The form in which it was found.
    pub found: Found,
    /// The spelling of its part.
    pub spelled: Spelled,
    /// The facts in its header; empty if its bytes are not in the body.
    pub header: Header,
    /// The form in which its bytes would reach the provider. `None` if they cannot.
    pub source: Option<profile::Source>,
    /// `true` if there is an address, usable or not.
    pub has_address: bool,
    /// `true` if the address is a path on a machine, which a server there may open.
    pub is_local: bool,
    /// `true` if its own wire allows nothing beside the result that holds it.
    pub alone: bool,
    /// `true` if code reads the result that holds it, and the model does not.
    pub for_code: bool,
    /// The reason why the bytes behind its address are missing, if the host tried to fetch them.
    pub withheld: Option<Reason>,
    /// `true` if the declared type differs from the type of the bytes.
    pub mislabeled: bool,
    /// The media type that its part declares, in lower case, if it is a valid one.
    pub declared: Option<String>,
    /// The detail that its sender asked for. In a [`Plan`](crate::Plan) it is the detail that its
    /// part states when it is sent.
    pub detail: Option<Detail>,
    /// The number of pages, if it is a PDF and they could be counted.
    pub pages: Option<u32>,
    /// Bytes it takes in the body.
    pub wire_bytes: usize,
    /// `true` if its own wire takes only text in its place.
    pub words_only: bool,
    /// The tool that returned it, if its name is a plain word.
    pub tool: Option<String>,
    /// An earlier medium of identical bytes.
    pub twin: Option<MediaId>,
    /// The digest of its bytes, if a caller asked for it ([`Survey::identify`],
    /// [`Survey::recall`]).
    pub digest: Option<Digest>,
    /// The name by which the model can ask to see it again, if the host keeps it.
    pub reference: Option<String>,
}

index_by_media!(Sighting);

/// The role or tool result that holds a medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// A message of this role.
    Message(Role),
    /// The result of a tool.
    Result {
        /// `true` if the tool failed.
        error: bool,
        /// `true` if the slot takes only a picture of the screen.
        screen: bool,
    },
}

impl Survey {
    /// Returns `true` if a medium is in a result that code reads and the model does not. The
    /// provider runs the code, so that this holds on its own wire only.
    pub(crate) fn is_for_code(&self, sighting: &Sighting, profile: &Profile) -> bool {
        sighting.for_code && self.wire == Some(profile.wire)
    }

    /// Returns `true` if the provider may clear the result that holds a medium by itself.
    pub(crate) fn is_cleared_there(&self, sighting: &Sighting, profile: &Profile) -> bool {
        self.wire == Some(profile.wire)
            && matches!(sighting.slot, Slot::Result { .. })
            && self
                .clearing
                .as_ref()
                .is_some_and(|clearing| clearing.edit.concerns(sighting.tool.as_deref()))
    }
}

impl Sighting {
    /// Describes one medium by itself.
    pub fn of(media: &Media<'_>, id: MediaId, message: usize, slot: Slot) -> Self {
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
        Self {
            media: id,
            kind: media.kind,
            message,
            slot,
            found: media.found,
            spelled: media.spelled,
            header,
            source,
            has_address: matches!(media.source, Source::Url(_)),
            is_local: matches!(&media.source, Source::Url(address) if is_local(address)),
            alone: false,
            for_code: false,
            withheld: media.withheld,
            mislabeled,
            declared,
            detail: media.detail.as_ref().and_then(|detail| Detail::from_name(&detail.decode())),
            pages: match &media.source {
                Source::Data(payload) if header.media_type == Some("application/pdf") => {
                    payload.pages()
                }
                _ => None,
            },
            wire_bytes,
            words_only: false,
            tool: None,
            twin: None,
            digest: None,
            reference: None,
        }
    }
}

/// Lists every image, document and sound of a transcript, with the facts in its header.
///
/// No pixel is decoded and nothing is fetched.
///
/// ```
/// use photic::Wire;
///
/// let body = br#"{"messages":[{"role":"user","content":[
///   {"type":"image_url","image_url":{"url":"https://a.example/p.png"}}]}]}"#;
/// let (transcript, _) = photic::lift(Wire::OpenAiChat, body);
/// let survey = photic::survey(&transcript);
/// assert!(survey.sightings[0].has_address);
/// ```
pub fn survey(transcript: &Transcript<'_>) -> Survey {
    let messages = &transcript.messages;
    let nowhere = (0, Slot::Message(Role::Unknown), None, Bounds::default(), false);
    let mut places = vec![nowhere; transcript.media.len()];
    let mut tools: BTreeMap<Cow<'_, str>, &Str<'_>> = BTreeMap::new();
    // Without media, there are no places to find.
    let holders = if transcript.media.is_empty() { &[] } else { messages.as_slice() };
    for (index, message) in holders.iter().enumerate() {
        tools.extend(message.calls().map(|call| (call.id.decode(), &call.name)));
        for part in &message.parts {
            let slot = match part {
                Part::Result(result) => {
                    Slot::Result { error: result.is_error, screen: result.kind == CallKind::Screen }
                }
                _ => Slot::Message(message.role),
            };
            part.each_media(&mut |id| {
                let (tool, bounds) = match part {
                    Part::Result(result) => (tools.get(&*result.call_id.decode()), result.bounds),
                    _ => (None, Bounds::default()),
                };
                let hosted =
                    matches!(part, Part::Result(result) if result.kind == CallKind::Hosted);
                let tool = tool.and_then(|name| name.plain_word());
                places[id.index()] = (index, slot, tool, bounds, hosted);
            });
        }
    }
    let mut sightings: Vec<Sighting> = places
        .into_iter()
        .zip(&transcript.media)
        .enumerate()
        .map(|(id, ((message, slot, tool, bounds, words_only), media))| {
            let mut sighting = Sighting::of(media, MediaId::new(id), message, slot);
            sighting.words_only = words_only;
            sighting.tool = tool;
            sighting.alone = bounds.alone;
            sighting.for_code = bounds.for_code;
            sighting.detail = sighting.detail.or(transcript.settings.detail);
            sighting
        })
        .collect();
    find_twins(transcript, &mut sightings);
    let mut words: Vec<usize> =
        messages.iter().map(|message| length(transcript, message)).collect();
    let settings = transcript.body.len().saturating_sub(words.iter().sum());
    for sighting in &sightings {
        words[sighting.message] = words[sighting.message].saturating_sub(sighting.wire_bytes);
    }
    let clearing = Clearing::of(transcript, |id| sightings[id].wire_bytes);
    Survey {
        wire: transcript.own_wire(),
        sightings,
        requests: requests(messages),
        words,
        settings,
        is_marked: is_marked(transcript),
        former: None,
        notes: server_side::notes(transcript),
        clearing,
    }
}

/// Returns `true` if any object of the body has a member that marks a position for the cache.
fn is_marked(transcript: &Transcript<'_>) -> bool {
    let doc = &transcript.doc;
    let is_marked =
        |name: &str| doc.objects().any(|object| object.named(name).any(|member| !member.is_null()));
    Mark::ALL.iter().any(|mark| doc.has_string(mark.name()) && is_marked(mark.name()))
}

/// Returns the end of each request. One was made wherever the assistant begins to speak, and one at
/// the end.
fn requests(messages: &[Message<'_>]) -> Vec<usize> {
    let speaks = |index: usize| messages[index].role == Role::Assistant;
    let mut requests: Vec<usize> =
        (1..messages.len()).filter(|&index| speaks(index) && !speaks(index - 1)).collect();
    requests.push(messages.len());
    requests
}

fn length(transcript: &Transcript<'_>, message: &Message<'_>) -> usize {
    let node = match message.home {
        Home::List => message.node,
        Home::Field => message.slot,
    };
    node.map_or(0, |node| transcript.raw(node).len())
}

/// Marks media whose bytes came earlier in the conversation. Compares the bytes that the base64
/// encodes, so that [`Survey::recall`], which has only digests of them, comes to the same result.
///
/// Few digests are made: pictures that differ nearly always differ in length, or else in a few
/// places. Those that do not are compared, but only the first few. From then on they are hashed, so
/// that a sender who makes many of them differ only in their last byte costs no more than a digest
/// of each.
fn find_twins(transcript: &Transcript<'_>, sightings: &mut [Sighting]) {
    const PLACES: usize = 4;
    let data = |id: MediaId| match &transcript.media[id].source {
        Source::Data(payload) => Some(payload),
        Source::Text(_) | Source::Url(_) | Source::File(_) | Source::Missing => None,
    };
    let mut by_length: BTreeMap<usize, Vec<MediaId>> = BTreeMap::new();
    for id in MediaId::first(sightings.len()) {
        if let Some(payload) = data(id) {
            by_length.entry(payload.base64().len()).or_default().push(id);
        }
    }
    for ids in by_length.values().filter(|ids| ids.len() > 1) {
        let mut known: BTreeMap<[u8; PLACES], Alike<'_>> = BTreeMap::new();
        for &id in ids {
            let Some(payload) = data(id) else { continue };
            let base64 = payload.base64();
            // The last four characters may spell the same bytes in two ways.
            let steady = base64.len().saturating_sub(4);
            let sample = std::array::from_fn(|place| {
                base64.get(steady * (2 * place + 1) / (2 * PLACES)).copied().unwrap_or(0)
            });
            sightings[id].twin = known.entry(sample).or_default().twin(id, payload);
        }
    }
}

/// Distinct media of one length that agree in a few places.
#[derive(Default)]
struct Alike<'t> {
    few: Vec<(MediaId, &'t Payload<'t>)>,
    /// All of them, once they are more than a few.
    many: BTreeMap<Digest, MediaId>,
}

impl<'t> Alike<'t> {
    /// Maximum number of media that are compared with each other.
    const FEW: usize = 4;

    /// Returns the medium of identical bytes. Adds this one if there is none.
    fn twin(&mut self, id: MediaId, payload: &'t Payload<'t>) -> Option<MediaId> {
        if self.many.is_empty() {
            let same = self.few.iter().find(|(_, earlier)| earlier.is_same(payload));
            if let Some((earlier, _)) = same {
                return Some(*earlier);
            }
            self.few.push((id, payload));
            if self.few.len() > Self::FEW {
                self.many = self.few.iter().map(|(id, few)| (few.digest(), *id)).collect();
            }
            return None;
        }
        match self.many.entry(payload.digest()) {
            Entry::Occupied(earlier) => Some(*earlier.get()),
            Entry::Vacant(place) => {
                place.insert(id);
                None
            }
        }
    }
}

/// Returns `true` if an address is a path on a machine.
fn is_local(address: &Str<'_>) -> bool {
    let address = address.decode();
    address.split_once(':').is_some_and(|(scheme, _)| scheme.trim().eq_ignore_ascii_case("file"))
}

/// Returns `true` if an address is on the sender's own machine, or is no address at all.
fn is_out_of_reach(address: &Str<'_>) -> bool {
    let address = address.decode();
    let scheme = address.split_once(':').map_or("", |(scheme, _)| scheme.trim());
    scheme.len() < 2 || ["file", "blob"].iter().any(|local| scheme.eq_ignore_ascii_case(local))
}
