//! Reads a body into a transcript: the code that all wires share. It borrows, and it cannot fail.

mod call_ids;
mod medium;

pub(crate) use call_ids::CallIds;
pub(crate) use medium::{address_medium, audio_type, base64_medium, file_medium, medium};

use crate::dump::Dump;
use crate::finding::{Code, Finding, Position};
use crate::json::{Base64Runs, Doc, Kind, NodeId, Str, Value};
use crate::media::{Found, Media, MediaKind, Source};
use crate::rescue::{self, Looked, Piece, Rescue, Scope};
use crate::settings::Settings;
use crate::structure;
use crate::transcript::{
    Bounds, MediaId, MediaPart, Message, Opaque, Part, Role, Text, TextWithMedia, Transcript,
};
use crate::wire::Wire;

/// Reads a request body of a wire into a transcript that borrows from it.
///
/// It cannot fail: unknown parts are kept unchanged, and a body that is not JSON gives an empty
/// transcript and a finding. The findings are those that hold for every model; [`crate::check`]
/// adds the ones that depend on the model.
///
/// ```
/// use photic::Wire;
///
/// let body = br#"{"messages":[{"role":"user","content":"Hello"}]}"#;
/// let (transcript, findings) = photic::lift(Wire::OpenAiChat, body);
/// assert_eq!((transcript.messages.len(), findings.len()), (1, 0));
/// ```
pub fn lift(wire: Wire, body: &[u8]) -> (Transcript<'_>, Vec<Finding>) {
    lift_with_hints(wire, body, &Base64Runs::default())
}

/// Reads a request body as [`lift`] does, given the runs of base64 that were found while it
/// arrived. `stretches` must be those of this body.
///
/// ```
/// use photic::{Base64Runs, Wire};
///
/// let body = br#"{"messages":[]}"#;
/// let (transcript, _) = photic::lift_with_hints(Wire::OpenAiChat, body, &Base64Runs::default());
/// assert!(transcript.is_readable());
/// ```
pub fn lift_with_hints<'a>(
    wire: Wire,
    body: &'a [u8],
    stretches: &Base64Runs,
) -> (Transcript<'a>, Vec<Finding>) {
    let protocol = wire.protocol();
    lift_with(wire, None, body, stretches, |lifter, root| protocol.lift(lifter, root))
}

/// Scans a body, reads it with `read`, and reports findings about it.
pub(crate) fn lift_with<'a>(
    wire: Wire,
    dump: Option<Dump>,
    body: &'a [u8],
    stretches: &Base64Runs,
    read: impl for<'d> FnOnce(&mut Lifter<'d, 'a>, Value<'d, 'a>) -> Draft<'a>,
) -> (Transcript<'a>, Vec<Finding>) {
    let unreadable = |code| (Transcript::unreadable(wire, body), vec![of_body(code)]);
    let doc = match Doc::parse_knowing(body, stretches.of(body)) {
        Ok(doc) => doc,
        Err(stop) if stop.is_too_much() => return unreadable(Code::TooManyValues),
        Err(_) => return unreadable(Code::NotJson),
    };
    // Only a dump may be a bare list.
    let is_body = |root: &Value<'_, '_>| {
        root.kind() == Kind::Object || (dump.is_some() && root.kind() == Kind::Array)
    };
    let Some(root) = doc.root().filter(is_body) else {
        return unreadable(Code::NotJson);
    };
    let misfit = dump.is_none() && !wire.protocol().fits(root);
    let mut lifter = Lifter::new(&doc);
    let draft = read(&mut lifter, root);
    let Draft { mut messages, settings, list } = draft;
    for string in rescue::keep_files_whole(&doc, &mut messages, &mut lifter.media) {
        lifter.report(Code::ImageInFile, string);
    }
    let Lifter { media, mut findings, .. } = lifter;
    findings.extend(misfit.then(|| of_body(Code::WrongWire)));
    let transcript = Transcript { wire, dump, messages, media, settings, doc, body, list };
    findings.extend(media_findings(&transcript));
    findings.extend(structure::findings(&transcript));
    (transcript, findings)
}

/// The result of a wire's reader.
pub(crate) struct Draft<'a> {
    pub(crate) messages: Vec<Message<'a>>,
    pub(crate) settings: Settings<'a>,
    pub(crate) list: Option<NodeId>,
}

/// Collects media and findings while a wire's reader walks its body.
pub(crate) struct Lifter<'d, 'a> {
    pub(crate) doc: &'d Doc<'a>,
    media: Vec<Media<'a>>,
    findings: Vec<Finding>,
    /// The calls that the provider's own tools wait for, on the wire that shows them.
    pub(crate) pending: Pending,
}

/// Calls that the provider's own tools wait for.
pub(crate) struct Pending {
    /// Calls of tools that the provider runs, still without a result.
    pub(crate) servers: Vec<String>,
    /// Calls made by code that the provider runs.
    pub(crate) of_code: Vec<String>,
}

impl Pending {
    /// Forgets all calls: a new turn of the assistant begins.
    pub(crate) fn clear(&mut self) {
        self.servers.clear();
        self.of_code.clear();
    }

    /// Returns the restrictions on the result of a call.
    pub(crate) fn bounds(&self, call_id: &Str<'_>) -> Bounds {
        let is_of_code = || {
            let call_id = call_id.decode();
            self.of_code.iter().any(|id| **id == *call_id)
        };
        Bounds {
            alone: !(self.servers.is_empty() && self.of_code.is_empty()),
            for_code: !self.of_code.is_empty() && is_of_code(),
        }
    }
}

/// The author of a text. It decides whether images are searched for in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextOwner {
    /// A tool. Programs write such texts and serialize media into them.
    Foreign,
    /// A user or an operator. The text is a picture only if all of it is one.
    Said,
    /// The model. The text is never changed, so that a picture quoted in it stays text.
    Own,
}

impl TextOwner {
    pub(crate) const fn of(role: Role) -> Self {
        match role {
            Role::Assistant | Role::Unknown => Self::Own,
            Role::System | Role::Developer | Role::User => Self::Said,
            Role::Tool => Self::Foreign,
        }
    }
}

impl<'d, 'a> Lifter<'d, 'a> {
    pub(crate) const fn new(doc: &'d Doc<'a>) -> Self {
        let pending = Pending { servers: Vec::new(), of_code: Vec::new() };
        Self { doc, media: Vec::new(), findings: Vec::new(), pending }
    }

    /// Returns the number of media collected so far.
    pub(crate) const fn count(&self) -> usize {
        self.media.len()
    }

    /// Returns the media collected so far.
    pub(crate) fn into_media(self) -> Vec<Media<'a>> {
        self.media
    }

    /// Reads a text. `node` is the part around it, if there is one.
    pub(crate) fn text(
        &mut self,
        value: Value<'d, 'a>,
        node: Option<NodeId>,
        words: TextOwner,
        parts: &mut Vec<Part<'a>>,
    ) {
        let scope = match words {
            TextOwner::Foreign => Scope::Anything,
            TextOwner::Said => Scope::Exact,
            TextOwner::Own => {
                let text = value.str().unwrap_or(Str::plain(""));
                parts.push(Part::Text(Text { text, node }));
                return;
            }
        };
        let Looked { found, left } = rescue::from_text(value, scope);
        left.into_codes().into_iter().for_each(|code| self.report(code, value.id()));
        match found {
            Rescue::Found(pieces) => return self.pieces(value, node, pieces, parts),
            Rescue::Addresses => self.report(Code::ImageAddressInText, value.id()),
            Rescue::Nothing => {}
        }
        parts.push(Part::Text(Text { text: value.str().unwrap_or(Str::plain("")), node }));
    }

    /// Reads JSON in the place of a tool's text. Media in it are extracted; the rest becomes text.
    pub(crate) fn json(&mut self, value: Value<'d, 'a>, parts: &mut Vec<Part<'a>>) {
        let Looked { found, left } = rescue::from_structured(value);
        left.into_codes().into_iter().for_each(|code| self.report(code, value.id()));
        if let Rescue::Found(pieces) = found {
            return self.pieces(value, None, pieces, parts);
        }
        let text = Str::Plain(String::from_utf8_lossy(value.raw()));
        parts.push(Part::Text(Text { text, node: None }));
    }

    fn pieces(
        &mut self,
        value: Value<'d, 'a>,
        node: Option<NodeId>,
        pieces: Vec<Piece<'a>>,
        parts: &mut Vec<Part<'a>>,
    ) {
        for piece in pieces {
            parts.push(match piece {
                Piece::Text(text) => Part::Text(Text { text, node: None }),
                Piece::Address(text) => {
                    self.report(Code::ImageAddressInText, value.id());
                    Part::Text(Text { text, node: None })
                }
                Piece::Media(found) => self.media(found.into_media(value.id()), None),
                Piece::TextWithMedia(pieces, found) => {
                    let typed = found.iter().all(|one| one.typed);
                    let media = found
                        .into_iter()
                        .map(|one| self.keep(one.into_media(value.id())))
                        .collect();
                    Part::TextWithMedia(TextWithMedia {
                        pieces,
                        media,
                        typed,
                        value: value.id(),
                        node,
                    })
                }
            });
        }
    }

    /// Reads content that is not a list: a string as text, other JSON as its source text.
    pub(crate) fn anything(
        &mut self,
        value: Value<'d, 'a>,
        words: TextOwner,
        parts: &mut Vec<Part<'a>>,
    ) {
        match value.kind() {
            Kind::String => self.text(value, None, words, parts),
            Kind::Null => {}
            Kind::Object | Kind::Array | Kind::Number | Kind::Bool => {
                let part = self.unknown_part(value);
                match part {
                    Part::Opaque(_) if words == TextOwner::Foreign => self.json(value, parts),
                    Part::Opaque(_) => {
                        let text = Str::Plain(String::from_utf8_lossy(value.raw()));
                        parts.push(Part::Text(Text { text, node: None }));
                    }
                    medium => parts.push(medium),
                }
            }
        }
    }

    /// Adds a medium and returns it as a part.
    pub(crate) fn media(&mut self, media: Media<'a>, node: Option<NodeId>) -> Part<'a> {
        Part::Media(MediaPart { id: self.keep(media), node })
    }

    fn keep(&mut self, media: Media<'a>) -> MediaId {
        let id = MediaId::new(self.media.len());
        self.media.push(media);
        id
    }

    /// Reads an unknown part. It is kept unchanged, unless it is a medium in another wire's
    /// spelling.
    pub(crate) fn unknown_part(&mut self, part: Value<'d, 'a>) -> Part<'a> {
        match rescue::typed_part_of_another_wire(part) {
            Some(found) => {
                let mut media = found.into_media(part.id());
                // A part that is not a picture is sent unchanged, for endpoints that read such a
                // part.
                let is_image = media.kind == MediaKind::Image;
                media.found = if is_image { Found::Mended } else { Found::Typed };
                self.media(media, (!is_image).then_some(part.id()))
            }
            None => Part::Opaque(Opaque { node: Some(part.id()) }),
        }
    }

    fn report(&mut self, code: Code, node: NodeId) {
        let at = Position { pointer: self.doc.pointer(node), inner: None };
        self.findings.push(Finding { code, at, media: None, cost: None });
    }
}

/// Returns the string member of that name, or an empty string.
pub(crate) fn text_of<'a>(value: Value<'_, 'a>, name: &str) -> Str<'a> {
    value.get(name).and_then(|text| text.str()).unwrap_or(Str::plain(""))
}

/// Creates a finding about the body as a whole.
fn of_body(code: Code) -> Finding {
    let at = Position { pointer: String::new(), inner: None };
    Finding { code, at, media: None, cost: None }
}

fn media_findings<'t>(transcript: &'t Transcript<'_>) -> impl Iterator<Item = Finding> + 't {
    MediaId::first(transcript.media.len()).zip(&transcript.media).filter_map(|(id, media)| {
        let code = match (media.found, &media.source) {
            (Found::AsText, _) => Code::ImageAsText,
            (Found::Misfiled, _) => Code::ImageAsFile,
            (Found::Mended, Source::Missing) => Code::UnreadableImage,
            (Found::Mended, _) => Code::MalformedDataUrl,
            (Found::Typed | Found::Fetched, _) => return None,
        };
        let at = transcript.position_of(media.node, media.inner.as_deref());
        Some(Finding { code, at, media: Some(id), cost: None })
    })
}
