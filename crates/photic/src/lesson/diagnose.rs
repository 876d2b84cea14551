//! Derives lessons from a rejection and the body that was rejected.
//!
//! If the rejection names a limit, the lesson is that limit. If not, the next lower limit of other
//! endpoints is tried, and then a far lower one, because the last attempt must succeed. A broken
//! media file is put in quarantine, and no limit is learned from it.

use super::{Lesson, MANY};
use crate::lift::lift;
use crate::media::{MediaId, MediaKind, Payload, Source};
use crate::profile::Role as Holder;
use crate::rejection::{Class, Rejection};
use crate::survey::{Sighting, Slot, Survey, survey};
use crate::transcript::{Role, Transcript};
use crate::wire::Wire;

/// Maximum lengths of an image's side at known endpoints.
const EDGES: [u32; 7] = [8000, 4096, 2000, 1568, 1024, 768, 512];
/// Maximum numbers of images at known endpoints.
const COUNTS: [u32; 9] = [500, 100, 50, 20, 10, 8, 5, 3, 1];
/// Minimum lengths of an image's side at known endpoints.
const MIN_EDGES: [u32; 2] = [28, 64];

/// A request that was rejected.
#[derive(Clone, Copy, Debug)]
pub struct RejectedRequest<'r> {
    /// The rejection.
    pub rejection: &'r Rejection,
    /// Number of earlier attempts to heal it. Guesses become bolder with it.
    pub tries: usize,
    /// The wire of the body.
    pub wire: Wire,
    /// The body, as it was sent.
    pub body: &'r [u8],
}

/// Returns the lessons of a rejection, or none if a changed request would not help.
///
/// `is_broken` tells whether an image cannot be decoded. `photic_pixels::diagnose` has a decoder.
pub fn diagnose(
    request: &RejectedRequest<'_>,
    is_broken: &dyn Fn(&Payload<'_>) -> bool,
) -> Vec<Lesson> {
    let RejectedRequest { rejection, tries, wire, body } = *request;
    let (transcript, _) = lift(wire, body);
    let survey = survey(&transcript);
    if survey.sightings.is_empty() {
        return Vec::new();
    }
    let named = rejection.position.as_deref().map(|place| at(&transcript, place));
    let named = named.unwrap_or_default();
    let rejected = Rejected { rejection, tries, transcript: &transcript, survey, named, is_broken };
    rejected.lessons(body.len())
}

/// The rejected body, as it was sent.
struct Rejected<'r, 'a> {
    rejection: &'r Rejection,
    tries: usize,
    transcript: &'r Transcript<'a>,
    survey: Survey,
    /// The media at the position that the rejection names, if it names one.
    named: Vec<MediaId>,
    is_broken: &'r dyn Fn(&Payload<'_>) -> bool,
}

impl Rejected<'_, '_> {
    fn lessons(&self, body: usize) -> Vec<Lesson> {
        let limit = self.rejection.limit;
        match self.rejection.class {
            Class::TooLargeBytes => self.too_heavy(limit),
            Class::TooLargeDim => self.too_long(limit),
            Class::TooSmall => {
                let shortest = self.images().filter_map(short_side).min().unwrap_or(0);
                let least = named_u32(limit).filter(|least| *least > shortest);
                let usual = || MIN_EDGES.into_iter().find(|least| *least > shortest);
                least.or_else(usual).map(|least| Lesson::MinEdge { least }).into_iter().collect()
            }
            Class::TooMany => self.too_many(limit),
            Class::BadImage | Class::BadLabel => self.broken(),
            Class::BadFormat => self.wrong_type(),
            Class::ModalityUnsupported => vec![Lesson::Blind { of: self.kind() }],
            Class::RoleNotAllowed => self.misplaced(),
            Class::Order => vec![Lesson::Bridge],
            Class::BodyTooLarge => {
                let body = body as u64;
                let most = limit.filter(|most| *most < body).unwrap_or(self.part(body));
                vec![Lesson::RequestBytes { most }]
            }
            Class::ContextOverflow => {
                limit.map(|most| Lesson::ContextTokens { most }).into_iter().collect()
            }
            Class::KnobUnsupported => self.knob(),
            Class::FetchFailed => self.unfetched(),
            Class::EmptyText | Class::Unrelated => Vec::new(),
        }
    }

    fn sighting(&self, id: MediaId) -> &Sighting {
        &self.survey.sightings[id]
    }

    fn images(&self) -> impl Iterator<Item = &Sighting> {
        self.survey.sightings.iter().filter(|one| one.kind == MediaKind::Image)
    }

    /// Returns half of a size that was too large, or a quarter in later attempts.
    fn part(&self, of: u64) -> u64 {
        if self.tries == 0 { of / 2 } else { of / 4 }
    }

    /// Returns the next limit of other endpoints below a value, or a far lower one in later attempts.
    fn usual(&self, limits: &[u32], below: u32) -> Option<u32> {
        let lower: Vec<u32> = limits.iter().copied().filter(|limit| *limit < below).collect();
        let bold = if self.tries == 0 { 0 } else { 2 };
        lower.get(bold).or(lower.last()).copied()
    }

    /// Returns the kind of media that the rejection is about: by its position, by its words, or else
    /// images.
    fn kind(&self) -> MediaKind {
        if let Some(&id) = self.named.first() {
            return self.sighting(id).kind;
        }
        let text = self.rejection.text.to_ascii_lowercase();
        let sent = |kind| self.survey.sightings.iter().any(|one| one.kind == kind);
        let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if sent(MediaKind::Audio) && says(&["audio"]) {
            MediaKind::Audio
        } else if sent(MediaKind::Document)
            && (says(&["document", "pdf", "file"]) || !sent(MediaKind::Image))
        {
            MediaKind::Document
        } else if sent(MediaKind::Image) || !sent(MediaKind::Audio) {
            MediaKind::Image
        } else {
            MediaKind::Audio
        }
    }

    fn too_heavy(&self, limit: Option<u64>) -> Vec<Lesson> {
        let of = self.kind();
        let of_kind = self.survey.sightings.iter().filter(|one| one.kind == of);
        let Some(heaviest) = of_kind.map(|one| one.wire_bytes as u64).max() else {
            return Vec::new();
        };
        // A limit that no media exceed cannot be the one in question.
        let most = limit.filter(|most| *most < heaviest).unwrap_or(self.part(heaviest));
        vec![match of {
            MediaKind::Image | MediaKind::Audio => Lesson::ImageBytes { most },
            MediaKind::Document => Lesson::DocumentBytes { most: most / 4 * 3 },
        }]
    }

    fn too_long(&self, limit: Option<u64>) -> Vec<Lesson> {
        let text = self.rejection.text.to_ascii_lowercase();
        if text.contains("patches") {
            return named_u32(limit).map(|most| Lesson::Patches { most }).into_iter().collect();
        }
        let Some(longest) = self.images().filter_map(long_side).max() else { return Vec::new() };
        let usual = || self.usual(&EDGES, longest);
        let Some(most) = named_u32(limit).filter(|most| *most < longest).or_else(usual) else {
            return Vec::new();
        };
        let is_crowd = text.contains("many-image") || text.contains("many images");
        if !is_crowd {
            return vec![Lesson::Edge { most }];
        }
        // The limit for many images applied to as many images as were sent.
        let sent = u32::try_from(self.images().count()).unwrap_or(u32::MAX);
        let above = sent.checked_sub(1).filter(|above| *above < MANY);
        vec![Lesson::CrowdEdge { most, above }]
    }

    fn too_many(&self, limit: Option<u64>) -> Vec<Lesson> {
        let count = u32::try_from(self.images().count()).unwrap_or(u32::MAX);
        // Some servers say this if the model accepts no images.
        if self.rejection.text.to_ascii_lowercase().contains("at most 0 image") {
            return vec![Lesson::Blind { of: MediaKind::Image }];
        }
        let usual = || self.usual(&COUNTS, count);
        let most = named_u32(limit).filter(|most| *most < count).or_else(usual);
        most.map(|most| Lesson::Images { most }).into_iter().collect()
    }

    /// Quarantines media that cannot be decoded, and those at the named position. If there are none,
    /// it quarantines the newest, because the last turn was accepted without it.
    fn broken(&self) -> Vec<Lesson> {
        let is_broken = |one: &&Sighting| match &self.transcript.media[one.media].source {
            Source::Data(payload) => (self.is_broken)(payload),
            Source::Text(_) | Source::Url(_) | Source::File(_) | Source::Missing => false,
        };
        let mut broken: Vec<MediaId> =
            self.images().filter(is_broken).map(|one| one.media).collect();
        // Of several at the named position: those that cannot be decoded, or the last.
        if !self.named.iter().any(|id| broken.contains(id)) {
            broken.extend(self.named.last());
        }
        if broken.is_empty() {
            broken.extend(self.survey.sightings.last().map(|one| one.media));
        }
        self.quarantine(broken)
    }

    fn quarantine(&self, ids: impl IntoIterator<Item = MediaId>) -> Vec<Lesson> {
        ids.into_iter()
            .filter_map(|id| Lesson::quarantine(&self.transcript.media[id].source))
            .collect()
    }

    /// Returns the type of the media at the named position, or else every type but PNG and JPEG, which
    /// all endpoints accept.
    fn wrong_type(&self) -> Vec<Lesson> {
        let of_type = |one: &Sighting| {
            let media_type = one.header.media_type?.to_owned();
            Some(Lesson::TypeRefused { of: one.kind, media_type })
        };
        let is_plain =
            |one: &Sighting| matches!(one.header.media_type, Some("image/png" | "image/jpeg"));
        let named: Vec<&Sighting> = self.named.iter().map(|&id| self.sighting(id)).collect();
        let strange: Vec<&Sighting> = if named.is_empty() {
            self.survey.sightings.iter().filter(|one| !is_plain(one)).collect()
        } else {
            named.into_iter().filter(|one| !is_plain(one)).collect()
        };
        // A rejected PNG or JPEG must be broken.
        if strange.is_empty() {
            return self.broken();
        }
        let mut lessons: Vec<Lesson> = strange.into_iter().filter_map(of_type).collect();
        lessons.sort();
        lessons.dedup();
        lessons
    }

    fn misplaced(&self) -> Vec<Lesson> {
        let named: Vec<&Sighting> = self.named.iter().map(|&id| self.sighting(id)).collect();
        let suspects: Vec<&Sighting> =
            if named.is_empty() { self.survey.sightings.iter().collect() } else { named };
        let mut lessons: Vec<Lesson> = Vec::new();
        for one in suspects {
            lessons.extend(match one.slot {
                Slot::Result { .. } => Some(Lesson::NoToolMedia { of: one.kind }),
                Slot::Message(Role::System) => Some(Lesson::RoleRefused { role: Holder::System }),
                Slot::Message(Role::Developer) => {
                    Some(Lesson::RoleRefused { role: Holder::Developer })
                }
                Slot::Message(Role::Assistant) => {
                    Some(Lesson::RoleRefused { role: Holder::Assistant })
                }
                Slot::Message(Role::User | Role::Tool | Role::Unknown) => None,
            });
        }
        lessons.sort();
        lessons.dedup();
        lessons
    }

    fn knob(&self) -> Vec<Lesson> {
        let text = self.rejection.text.to_ascii_lowercase();
        let mut lessons = Vec::new();
        if text.contains("detail") {
            lessons.push(Lesson::NoDetail);
        }
        if text.contains("cache_control") || text.contains("prompt_cache_breakpoint") {
            lessons.push(Lesson::NoMarks);
        }
        lessons
    }

    /// Quarantines the URL that could not be fetched, or all URLs if the rejection names none.
    fn unfetched(&self) -> Vec<Lesson> {
        let is_address = |id: &MediaId| matches!(self.transcript.media[*id].source, Source::Url(_));
        let named: Vec<MediaId> = self.named.iter().copied().filter(is_address).collect();
        let all: Vec<MediaId> =
            MediaId::first(self.transcript.media.len()).filter(is_address).collect();
        self.quarantine(if named.is_empty() { all } else { named })
    }
}

/// Returns the media at a position in the body, inside it, or around it.
fn at(transcript: &Transcript<'_>, place: &str) -> Vec<MediaId> {
    let is_within = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let here = |id: &MediaId| {
        transcript.position(*id).is_some_and(|position| {
            is_within(&position.pointer, place) || is_within(place, &position.pointer)
        })
    };
    MediaId::first(transcript.media.len()).filter(here).collect()
}

fn named_u32(limit: Option<u64>) -> Option<u32> {
    limit.and_then(|limit| u32::try_from(limit).ok()).filter(|limit| *limit > 0)
}

fn long_side(one: &Sighting) -> Option<u32> {
    one.header.size.map(|(width, height)| width.max(height))
}

fn short_side(one: &Sighting) -> Option<u32> {
    one.header.size.map(|(width, height)| width.min(height))
}
