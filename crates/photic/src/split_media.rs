//! Splits a body into text and media, for a record. For each medium it keeps a stub, so that a
//! plan can be made without the medium's bytes.
//!
//! Cutting is exact: the segments, with the cut bytes put back, are the body, byte for byte. If
//! the bytes of a picture are not needed, its [`MediaStub::head`] replaces them. It lifts as the
//! whole picture would, and [`Survey::recall`] corrects the facts that only the whole picture
//! shows.

use std::collections::BTreeMap;
use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::json::Kind;
use crate::media::{Digest, Payload, Source};
use crate::survey::Survey;
use crate::transcript::{MediaId, Transcript};

/// Base64 shorter than this is not cut: a reference would take as much.
const WORTH_CUTTING: usize = 512;

/// A body in segments. Joined, they are the body.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SplitBody<'a> {
    /// Everything up to the first message.
    pub before: Segment<'a>,
    /// The messages, each with the separator before it.
    pub messages: Vec<Segment<'a>>,
    /// Everything after the last message.
    pub after: Segment<'a>,
}

/// A range of a body, and the media in it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Segment<'a> {
    /// The bytes, unchanged.
    pub raw: &'a [u8],
    /// The ranges of media in it; in order, without overlap.
    pub cuts: Vec<Cut>,
}

/// The bytes of a medium in a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cut {
    /// The byte range within the segment.
    pub range: Range<usize>,
    /// The way the bytes are written.
    pub form: Form,
    /// The medium.
    pub media: MediaId,
}

/// The way bytes are written in a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// As canonical base64: encoding the bytes gives the characters back.
    Base64,
    /// In another way: the characters themselves have to be kept.
    Text,
}

/// The facts to keep of a medium that is in a body as canonical base64.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MediaStub {
    /// The content address of its bytes.
    pub digest: Digest,
    /// Length in bytes.
    pub bytes: usize,
    /// The number of pages, if it is a PDF and they could be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<u32>,
    /// Base64 that shows the same type and size as the whole and is much shorter. For a whole
    /// picture, it is one of the same type and size without pixels; for anything else, its
    /// beginning.
    pub head: String,
}

/// Splits a body into segments and marks the media in them. A body without a readable conversation
/// is all `before`.
///
/// ```
/// use photic::Wire;
///
/// let body = br#"{"messages":[{"role":"user","content":"Hello"}]}"#;
/// let (transcript, _) = photic::lift(Wire::OpenAiChat, body);
/// let split = photic::split_media(&transcript);
/// let joined: Vec<u8> = split.segments().flat_map(|segment| segment.raw).copied().collect();
/// assert_eq!(joined, body);
/// ```
pub fn split_media<'a>(transcript: &Transcript<'a>) -> SplitBody<'a> {
    let body = transcript.body;
    let list = transcript.list.map(|list| transcript.doc.value(list));
    let list = list.filter(|list| list.kind() == Kind::Array);
    let mut ends: Vec<usize> = Vec::new();
    let mut first = body.len();
    if let Some(list) = list {
        first = list.span().start + 1;
        ends.extend(list.items().map(|item| item.span().end));
    }
    let mut start = first;
    let segment = |range: Range<usize>| Segment { raw: &body[range], cuts: Vec::new() };
    let before = segment(0..first);
    let mut messages = Vec::with_capacity(ends.len());
    for end in ends {
        messages.push(segment(start..end));
        start = end;
    }
    let mut split = SplitBody { before, messages, after: segment(start..body.len()) };
    split.put(cuts(transcript));
    split
}

impl<'a> SplitBody<'a> {
    /// Returns all segments, in order.
    pub fn segments(&self) -> impl Iterator<Item = &Segment<'a>> {
        std::iter::once(&self.before).chain(&self.messages).chain(std::iter::once(&self.after))
    }

    /// Assigns every cut to its segment. A cut that crosses from one to another is dropped.
    fn put(&mut self, cuts: Vec<Cut>) {
        let mut cuts = cuts.into_iter().peekable();
        let mut start = 0;
        let segments = std::iter::once(&mut self.before)
            .chain(&mut self.messages)
            .chain(std::iter::once(&mut self.after));
        for segment in segments {
            let end = start + segment.raw.len();
            while let Some(cut) = cuts.next_if(|cut| cut.range.start < end) {
                if cut.range.start >= start && cut.range.end <= end {
                    let range = cut.range.start - start..cut.range.end - start;
                    segment.cuts.push(Cut { range, ..cut });
                }
            }
            start = end;
        }
    }
}

/// Creates the stub of a medium. Returns `None` if it is not in the body as canonical base64.
///
/// ```
/// use photic::Wire;
///
/// let body = br#"{"messages":[{"role":"user","content":[{"type":"image_url",
///   "image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}]}"#;
/// let (transcript, _) = photic::lift(Wire::OpenAiChat, body);
/// let survey = photic::survey(&transcript);
/// let stub = photic::remember(&transcript, survey.sightings[0].media);
/// assert_eq!(stub.map(|stub| stub.bytes), Some(8));
/// ```
pub fn remember(transcript: &Transcript<'_>, media: MediaId) -> Option<MediaStub> {
    match &transcript.media.get(media.index())?.source {
        Source::Data(payload) => MediaStub::of(payload),
        Source::Text(_) | Source::Url(_) | Source::File(_) | Source::Missing => None,
    }
}

impl MediaStub {
    /// Creates the stub of some bytes. Returns `None` if they are not canonical base64.
    pub fn of(payload: &Payload<'_>) -> Option<Self> {
        let whole = payload.header();
        let text = std::str::from_utf8(payload.base64()).ok()?;
        let says_as_much = |head: &Payload<'_>| {
            let part = head.header();
            (part.media_type, part.size) == (whole.media_type, whole.size)
        };
        // In a text, only a whole picture is found. So its stand-in must be a whole picture, too.
        let head = if payload.is_whole_picture() {
            payload.shortest_whole().filter(&says_as_much).map(|head| head.base64().to_vec())
        } else {
            [256, 1024, 4096, 64 * 1024, 512 * 1024]
                .into_iter()
                .filter_map(|length| payload.base64().get(..length))
                .find(|head| {
                    Payload::canonical(head, false).is_some_and(|head| says_as_much(&head))
                })
                .map(<[u8]>::to_vec)
        };
        let head = head.and_then(|head| String::from_utf8(head).ok());
        let head = head.filter(|head| head.len() < text.len()).unwrap_or_else(|| text.to_owned());
        let is_pdf = whole.media_type == Some("application/pdf");
        let pages = is_pdf.then(|| payload.pages()).flatten();
        Some(Self { digest: payload.digest(), bytes: whole.bytes, pages, head })
    }

    /// Returns the stand-in for the bytes, for a plan that is made without them.
    /// [`Survey::recall`] corrects the facts that it cannot show.
    pub fn stand_in(&self) -> Payload<'_> {
        let borrowed = Payload::canonical(self.head.as_bytes(), false);
        borrowed.unwrap_or_else(|| Payload::encode(&[]))
    }
}

impl Survey {
    /// Corrects the facts that stand-ins cannot show. `memories` must have the stub of every
    /// medium of this transcript that has a stand-in. It may have those of others, which saves
    /// hashing them.
    ///
    /// Duplicates are found again, by digest: a stand-in may be a duplicate of a medium that is
    /// here in full, and two that begin alike may differ.
    pub fn recall(
        &mut self,
        transcript: &Transcript<'_>,
        memories: &BTreeMap<MediaId, &MediaStub>,
    ) {
        if memories.is_empty() {
            return;
        }
        self.identify_but(transcript, memories);
        let mut known: BTreeMap<Digest, MediaId> = BTreeMap::new();
        for sighting in &mut self.sightings {
            if let Some(memory) = memories.get(&sighting.media) {
                sighting.header.bytes = memory.bytes;
                sighting.pages = memory.pages;
                sighting.wire_bytes = memory.bytes.div_ceil(3) * 4;
                sighting.digest = Some(memory.digest);
            }
            let Some(digest) = sighting.digest else { continue };
            sighting.twin = known.get(&digest).copied();
            known.entry(digest).or_insert(sighting.media);
        }
    }

    /// Computes the digest of every medium of the body, for a policy with choices of the user.
    pub fn identify(&mut self, transcript: &Transcript<'_>) {
        self.identify_but(transcript, &BTreeMap::new());
    }

    fn identify_but(&mut self, transcript: &Transcript<'_>, not: &BTreeMap<MediaId, &MediaStub>) {
        for (sighting, media) in self.sightings.iter_mut().zip(&transcript.media) {
            if let Source::Data(payload) = &media.source
                && !not.contains_key(&sighting.media)
            {
                sighting.digest.get_or_insert_with(|| payload.digest());
            }
        }
    }
}

/// Returns the ranges of the media's bytes in the body, in order.
fn cuts(transcript: &Transcript<'_>) -> Vec<Cut> {
    let mut cuts: Vec<Cut> = MediaId::first(transcript.media.len())
        .filter_map(|media| {
            let (range, form) = place(transcript, media)?;
            Some(Cut { range, form, media })
        })
        .collect();
    cuts.sort_by_key(|cut| cut.range.start);
    let mut end = 0;
    cuts.retain(|cut| {
        let is_free = cut.range.start >= end;
        end = end.max(cut.range.end);
        is_free
    });
    cuts
}

fn place(transcript: &Transcript<'_>, media: MediaId) -> Option<(Range<usize>, Form)> {
    let medium = &transcript.media[media];
    let Source::Data(payload) = &medium.source else { return None };
    let base64 = payload.base64();
    if base64.len() < WORTH_CUTTING {
        return None;
    }
    let body = transcript.body;
    let around = transcript.doc.value(medium.node);
    let found = within(body, base64).or_else(|| {
        let at = memchr::memmem::find(around.raw(), base64)? + around.span().start;
        Some(at..at + base64.len())
    });
    match found {
        Some(range) if is_canonical_to_the_end(base64) => Some((range, Form::Base64)),
        Some(range) => Some((range, Form::Text)),
        // Not canonical: cut the whole string that holds it.
        None => {
            let span = around.span();
            let inside = around.inside().filter(|inside| inside.len() >= WORTH_CUTTING)?;
            let quote = (span.len() - inside.len()) / 2;
            Some((span.start + quote..span.end - quote, Form::Text))
        }
    }
}

/// Returns the range of a slice within the body, if it is a slice of it.
fn within(body: &[u8], slice: &[u8]) -> Option<Range<usize>> {
    let start = slice.as_ptr().addr().checked_sub(body.as_ptr().addr())?;
    let range = start..start.checked_add(slice.len())?;
    body.get(range.clone()).filter(|same| std::ptr::eq(*same, slice)).map(|_| range)
}

/// Returns `true` if the last character has no stray bits, which encoding the bytes would lose.
fn is_canonical_to_the_end(base64: &[u8]) -> bool {
    let last = &base64[base64.len().saturating_sub(4)..];
    STANDARD.decode(last).is_ok()
}
