//! From a body to a transcript: what all wires share. It borrows, and it cannot fail.

use crate::finding::{Code, Finding, Position};
use crate::json::{Doc, Kind, NodeId, Str, Value};
use crate::media::{
    DataUrl, Found, Media, MediaKind, Payload, Source, is_type, proper_name, whole_string_image,
};
use crate::rescue::{self, Piece};
use crate::settings::{SHARED, Settings};
use crate::structure;
use crate::transcript::{MediaId, MediaPart, Message, Opaque, Part, Text, Transcript, Woven};
use crate::wire::{Wire, anthropic, openai_chat, openai_responses};

/// Reads a request body of a wire. What cannot be read is reported and travels as it is.
///
/// The findings are those that hold whatever model the request is for; [`crate::check`] adds the
/// ones that depend on it.
pub fn lift(wire: Wire, body: &[u8]) -> (Transcript<'_>, Vec<Finding>) {
    let doc = match Doc::parse(body) {
        Ok(doc) if doc.root().is_some_and(|root| root.kind() == Kind::Object) => doc,
        _ => return (Transcript::unreadable(wire, body), vec![not_json()]),
    };
    let mut lifter = Lifter::new(&doc);
    let Some(root) = doc.root() else {
        return (Transcript::unreadable(wire, body), vec![not_json()]);
    };
    let draft = match wire {
        Wire::OpenAiChat => openai_chat::lift(&mut lifter, root),
        Wire::OpenAiResponses => openai_responses::lift(&mut lifter, root),
        Wire::Anthropic => anthropic::lift(&mut lifter, root),
    };
    let Lifter { media, mut findings, .. } = lifter;
    let Draft { messages, settings, list } = draft;
    let transcript = Transcript { wire, messages, media, settings, doc, body, list };
    findings.extend(media_findings(&transcript));
    findings.extend(structure::findings(&transcript));
    (transcript, findings)
}

/// What a wire's reader gives back.
pub(crate) struct Draft<'a> {
    pub(crate) messages: Vec<Message<'a>>,
    pub(crate) settings: Settings<'a>,
    pub(crate) list: Option<NodeId>,
}

/// Gathers media and findings while a wire's reader walks its body.
pub(crate) struct Lifter<'d, 'a> {
    pub(crate) doc: &'d Doc<'a>,
    media: Vec<Media<'a>>,
    findings: Vec<Finding>,
}

/// Whose words a text is: decides whether images are looked for in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Words {
    /// A tool's or a user's: programs write here, and serialize what they have.
    Foreign,
    /// The model's or the operator's: never touched.
    Own,
}

impl<'d, 'a> Lifter<'d, 'a> {
    pub(crate) const fn new(doc: &'d Doc<'a>) -> Self {
        Self { doc, media: Vec::new(), findings: Vec::new() }
    }

    /// The media gathered so far.
    pub(crate) fn into_media(self) -> Vec<Media<'a>> {
        self.media
    }

    /// Reads a text; `node` is the part around it, if it stands in one.
    pub(crate) fn text(
        &mut self,
        value: Value<'d, 'a>,
        node: Option<NodeId>,
        words: Words,
        parts: &mut Vec<Part<'a>>,
    ) {
        let found = match words {
            Words::Foreign => rescue::from_text(value),
            Words::Own => None,
        };
        let Some(pieces) = found else {
            let text = value.str().unwrap_or(Str::plain(""));
            if words == Words::Foreign && holds_data_url(&text) {
                self.report(Code::ImageInsideLongerText, value.id());
            }
            parts.push(Part::Text(Text { text, node }));
            return;
        };
        for piece in pieces {
            parts.push(match piece {
                Piece::Text(text) => Part::Text(Text { text, node: None }),
                Piece::Media(found) => self.media(found.into_media(value.id()), None),
                Piece::Woven(pieces, found) => {
                    let media = found
                        .into_iter()
                        .map(|one| self.keep(one.into_media(value.id())))
                        .collect();
                    Part::Woven(Woven { pieces, media })
                }
            });
        }
    }

    /// Adds a medium, as a part.
    pub(crate) fn media(&mut self, media: Media<'a>, node: Option<NodeId>) -> Part<'a> {
        Part::Media(MediaPart { id: self.keep(media), node })
    }

    fn keep(&mut self, media: Media<'a>) -> MediaId {
        self.media.push(media);
        self.media.len() - 1
    }

    /// A part that travels as it is, unless it is a medium spelled in another wire's words.
    pub(crate) fn unknown_part(&mut self, part: Value<'d, 'a>) -> Part<'a> {
        match rescue::typed_part_of_another_wire(part) {
            Some(found) => {
                let mut media = found.into_media(part.id());
                media.found = Found::Mended;
                self.media(media, None)
            }
            None => Part::Opaque(Opaque { node: Some(part.id()) }),
        }
    }

    fn report(&mut self, code: Code, node: NodeId) {
        let at = Position { pointer: self.doc.pointer(node), inner: None };
        self.findings.push(Finding { code, at, media: None, cost: None });
    }
}

/// A medium from a string that may be a data URL, an address, or bare base64.
pub(crate) fn address_medium<'a>(value: Value<'_, 'a>, kind: MediaKind) -> Media<'a> {
    let text = value.str().unwrap_or(Str::plain(""));
    let tail = value.has_base64_tail();
    let (source, declared, found) = if let Some(url) = DataUrl::parse(&text, tail) {
        let found = if url.canonical { Found::Typed } else { Found::Mended };
        (url.payload.map_or(Source::Missing, Source::Data), url.media_type, found)
    } else if rescue::is_web_address(&text) {
        (Source::Url(text), None, Found::Typed)
    } else if let Some(payload) = whole_string_image(&text, tail) {
        (Source::Data(payload), None, Found::Mended)
    } else {
        // Addresses of other schemes are between the client and its provider.
        (Source::Url(text), None, Found::Typed)
    };
    medium(kind, source, declared, found, value.id())
}

/// A medium from bare base64 beside a declared type.
pub(crate) fn base64_medium<'a>(
    value: Value<'_, 'a>,
    declared: Option<&Str<'a>>,
    kind: MediaKind,
) -> Media<'a> {
    let text = value.str().unwrap_or(Str::plain(""));
    let label = declared.map(|label| label.decode().to_ascii_lowercase());
    let good_label =
        label.as_deref().is_none_or(|label| is_type(label) && proper_name(label) == label);
    let declared = label
        .filter(|label| is_type(label))
        .map(|label| Str::plain(proper_name(&label).to_owned()));
    let (source, declared, canonical) = match DataUrl::parse(&text, value.has_base64_tail()) {
        Some(url) => {
            (url.payload.map_or(Source::Missing, Source::Data), declared.or(url.media_type), false)
        }
        None => match Payload::read(&text, value.has_base64_tail()) {
            Some((payload, canonical)) => (Source::Data(payload), declared, canonical),
            None => (Source::Missing, declared, false),
        },
    };
    let found = if canonical && good_label { Found::Typed } else { Found::Mended };
    medium(kind, source, declared, found, value.id())
}

/// A medium without a name or detail.
pub(crate) const fn medium<'a>(
    kind: MediaKind,
    source: Source<'a>,
    declared: Option<Str<'a>>,
    found: Found,
    node: NodeId,
) -> Media<'a> {
    Media { kind, source, declared, detail: None, name: None, found, node, inner: None }
}

impl<'a> Settings<'a> {
    /// Takes a field that keeps its name on several wires, or notes what it is.
    ///
    /// `own` lists what the source wire defines; a field outside it is one we do not know.
    pub(crate) fn other_field(&mut self, key: Str<'a>, value: Value<'_, 'a>, own: &[&str]) {
        let name = key.decode();
        if let Some((shared, _)) = SHARED.iter().find(|(shared, _)| *shared == name) {
            self.shared.push((*shared, value.raw()));
        } else if own.contains(&&*name) {
            self.untranslatable.push(key);
        } else {
            self.unknown.push((key, value.raw()));
        }
    }
}

/// Where a node stands.
pub(crate) fn position(transcript: &Transcript<'_>, node: NodeId, inner: Option<&str>) -> Position {
    Position { pointer: transcript.doc.pointer(node), inner: inner.map(str::to_owned) }
}

fn not_json() -> Finding {
    let at = Position { pointer: String::new(), inner: None };
    Finding { code: Code::NotJson, at, media: None, cost: None }
}

fn media_findings<'t>(transcript: &'t Transcript<'_>) -> impl Iterator<Item = Finding> + 't {
    transcript.media.iter().enumerate().filter_map(|(id, media)| {
        let code = match (media.found, &media.source) {
            (Found::AsText, _) => Code::ImageAsText,
            (Found::Misfiled, _) => Code::ImageAsFile,
            (Found::Mended, Source::Missing) => Code::UnreadableImage,
            (Found::Mended, _) => Code::MalformedDataUrl,
            (Found::Typed, _) => return None,
        };
        let at = position(transcript, media.node, media.inner.as_deref());
        Some(Finding { code, at, media: Some(id), cost: None })
    })
}

/// Whether prose quotes a data URL of an image.
fn holds_data_url(text: &Str<'_>) -> bool {
    let bytes = text.bytes();
    memchr::memmem::find(bytes, b"data:image").is_some_and(|at| {
        let rest = &bytes[at..bytes.len().min(at + 96)];
        memchr::memmem::find(rest, b";base64,").is_some()
    })
}
