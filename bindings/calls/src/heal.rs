//! Lessons of a rejection: what a provider's error says about its limits, applied to the profile
//! and the policy of one request.
//!
//! If the error names a limit, that limit is applied. If not, the next lower limit of other
//! endpoints is tried, and then a far lower one. Nothing is remembered between requests; the
//! gateway does that.

use photic::media::{MediaKind, Source};
use photic::profile::{
    Capability, ConsecutiveUser, Crowd, Placement, Profile, Role as Holder, Source as Accepted,
};
use photic::rejection::{Class, Rejection, Said, classify_own_words};
use photic::transcript::Role;
use photic::{Choice, MediaId, Policy, Sighting, Slot, Survey, Transcript};
use photic_pixels::ViewRequest;

/// Maximum lengths of an image's side at known endpoints.
const EDGES: [u32; 7] = [8000, 4096, 2000, 1568, 1024, 768, 512];
/// Maximum numbers of images at known endpoints.
const COUNTS: [u32; 9] = [500, 100, 50, 20, 10, 8, 5, 3, 1];
/// Minimum lengths of an image's side at known endpoints.
const MIN_EDGES: [u32; 2] = [28, 64];
/// The number of images above which the limit for many images applies.
const MANY: u32 = 20;

/// An error that a provider answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The status of the answer.
    pub status: u16,
    /// Its body.
    pub text: String,
}

/// Applies what an error says about the body that was sent. An error that is not about media, or
/// that only quotes the request, changes nothing.
pub(crate) fn tighten(
    profile: &mut Profile,
    policy: &mut Policy,
    sent: &[u8],
    rejected: &Rejected,
    tries: usize,
) {
    let said = [Said::Json(sent)];
    let rejection = classify_own_words(Some(rejected.status), &rejected.text, &said);
    let (transcript, _) = photic::lift(profile.wire, sent);
    let mut survey = photic::survey(&transcript);
    if survey.sightings.is_empty() {
        return;
    }
    survey.identify(&transcript);
    let judged = Judged { rejection: &rejection, transcript: &transcript, survey, tries };
    judged.apply(profile, policy, sent.len() as u64);
}

/// An error and the body that it is about.
struct Judged<'r, 'a> {
    rejection: &'r Rejection,
    transcript: &'r Transcript<'a>,
    survey: Survey,
    tries: usize,
}

impl Judged<'_, '_> {
    fn apply(&self, profile: &mut Profile, policy: &mut Policy, body: u64) {
        let limit = self.rejection.limit;
        let small = limit.and_then(|limit| u32::try_from(limit).ok()).filter(|limit| *limit > 0);
        let text = self.rejection.text.to_ascii_lowercase();
        let limits = &mut profile.limits;
        match self.rejection.class {
            Class::TooLargeBytes => {
                let heaviest = self.images().map(|one| one.wire_bytes as u64).max().unwrap_or(0);
                let most = limit.filter(|most| *most < heaviest).unwrap_or(self.part(heaviest));
                at_most(&mut limits.image_base64_bytes, most);
            }
            Class::TooLargeDim if text.contains("patches") => {
                if let Some(most) = small {
                    at_most(&mut limits.patches, most);
                }
            }
            Class::TooLargeDim => self.too_long(profile, small, &text),
            Class::TooSmall => {
                let sides = self.images().filter_map(|one| one.header.size);
                let shortest = sides.map(|(width, height)| width.min(height)).min().unwrap_or(0);
                let usual = || MIN_EDGES.into_iter().find(|least| *least > shortest);
                if let Some(least) = small.filter(|least| *least > shortest).or_else(usual) {
                    limits.min_edge = Some(limits.min_edge.map_or(least, |is| is.max(least)));
                }
            }
            Class::TooMany if text.contains("at most 0 image") => {
                profile.sight.images = Capability::No;
            }
            Class::TooMany => {
                let count = u32::try_from(self.images().count()).unwrap_or(u32::MAX);
                let usual = || self.usual(&COUNTS, count);
                if let Some(most) = small.filter(|most| *most < count).or_else(usual) {
                    at_most(&mut limits.images, most);
                }
            }
            Class::BadImage | Class::BadLabel => self.drop_broken(policy),
            Class::BadFormat => self.refuse_types(profile, policy),
            Class::ModalityUnsupported => match self.kind(&text) {
                MediaKind::Image => profile.sight.images = Capability::No,
                MediaKind::Document => profile.sight.documents = Capability::No,
                MediaKind::Audio => profile.sight.audio = Capability::No,
            },
            Class::RoleNotAllowed => self.move_out(profile),
            Class::Order => {
                let placements = &mut profile.placement;
                for placement in
                    [&mut placements.image, &mut placements.document, &mut placements.audio]
                {
                    if *placement == Placement::UserAfterTools {
                        *placement = Placement::AssistantBridge;
                    }
                }
                profile.quirks.consecutive_user = ConsecutiveUser::Merge;
            }
            Class::BodyTooLarge => {
                let most = limit.filter(|most| *most < body).unwrap_or(self.part(body));
                at_most(&mut limits.request_bytes, most);
            }
            Class::ContextOverflow => {
                if let Some(most) = limit {
                    at_most(&mut limits.context_tokens, most);
                }
            }
            Class::KnobUnsupported => {
                if text.contains("detail") {
                    profile.quirks.detail = None;
                }
                if text.contains("cache_control") || text.contains("prompt_cache_breakpoint") {
                    profile.cache.mark = None;
                }
            }
            Class::FetchFailed => {
                profile.accepts.sources.retain(|source| *source != Accepted::Url);
            }
            Class::EmptyText | Class::Unrelated => {}
        }
    }

    fn images(&self) -> impl Iterator<Item = &Sighting> {
        self.survey.sightings.iter().filter(|one| one.kind == MediaKind::Image)
    }

    /// Returns half of a size that was too large, or a quarter in later attempts.
    const fn part(&self, of: u64) -> u64 {
        if self.tries == 0 { of / 2 } else { of / 4 }
    }

    /// Returns the next limit of other endpoints below a value, or a far lower one in later attempts.
    fn usual(&self, limits: &[u32], below: u32) -> Option<u32> {
        let lower: Vec<u32> = limits.iter().copied().filter(|limit| *limit < below).collect();
        let bold = if self.tries == 0 { 0 } else { 2 };
        lower.get(bold).or(lower.last()).copied()
    }

    fn too_long(&self, profile: &mut Profile, limit: Option<u32>, text: &str) {
        let sides = self.images().filter_map(|one| one.header.size);
        let Some(longest) = sides.map(|(width, height)| width.max(height)).max() else { return };
        let usual = || self.usual(&EDGES, longest);
        let Some(most) = limit.filter(|most| *most < longest).or_else(usual) else { return };
        if !(text.contains("many-image") || text.contains("many images")) {
            at_most(&mut profile.limits.edge, most);
            return;
        }
        // The limit for many images applied to as many images as were sent.
        let sent = u32::try_from(self.images().count()).unwrap_or(u32::MAX);
        let above = sent.saturating_sub(1).min(MANY);
        let former = profile.limits.crowd;
        profile.limits.crowd = Some(Crowd {
            above: former.map_or(above, |crowd| crowd.above.min(above)),
            edge: former.map_or(most, |crowd| crowd.edge.min(most)),
            counts_documents: former.is_some_and(|crowd| crowd.counts_documents),
        });
    }

    /// Returns the kind of media that the error is about.
    fn kind(&self, text: &str) -> MediaKind {
        if let Some(id) = self.named().first() {
            return self.survey.sightings[*id].kind;
        }
        let sent = |kind| self.survey.sightings.iter().any(|one| one.kind == kind);
        let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if sent(MediaKind::Audio) && says(&["audio"]) {
            MediaKind::Audio
        } else if sent(MediaKind::Document) && says(&["document", "pdf", "file"]) {
            MediaKind::Document
        } else {
            MediaKind::Image
        }
    }

    /// Returns the media at the position that the error names.
    fn named(&self) -> Vec<MediaId> {
        let Some(place) = self.rejection.position.as_deref() else { return Vec::new() };
        let is_within = |inner: &str, outer: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let is_there = |id: &MediaId| {
            self.transcript.position(*id).is_some_and(|position| {
                is_within(&position.pointer, place) || is_within(place, &position.pointer)
            })
        };
        MediaId::first(self.transcript.media.len()).filter(is_there).collect()
    }

    /// Drops images that cannot be decoded. If there are none, it drops those at the named position,
    /// or else the newest, because the last turn was accepted without it.
    fn drop_broken(&self, policy: &mut Policy) {
        let profile = Profile::generic(self.transcript.wire);
        let is_broken = |one: &&Sighting| match &self.transcript.media[one.media].source {
            Source::Data(payload) => {
                photic_pixels::view(&payload.decode(), &ViewRequest::new(&profile)).is_err()
            }
            Source::Text(_) | Source::Url(_) | Source::File(_) | Source::Missing => false,
        };
        let mut broken: Vec<MediaId> =
            self.images().filter(is_broken).map(|one| one.media).collect();
        if broken.is_empty() {
            broken.extend(self.named().last());
        }
        if broken.is_empty() {
            broken.extend(self.survey.sightings.last().map(|one| one.media));
        }
        for id in broken {
            if let Some(digest) = self.survey.sightings[id].digest {
                policy.choices.insert(digest, Choice::Drop);
            }
        }
    }

    /// Removes the types that were sent from those that the profile accepts, except PNG and JPEG,
    /// which every endpoint accepts. If nothing else was sent, an image must be broken.
    fn refuse_types(&self, profile: &mut Profile, policy: &mut Policy) {
        let named = self.named();
        let suspects = self.survey.sightings.iter();
        let suspects = suspects.filter(|one| named.is_empty() || named.contains(&one.media));
        let mut found = false;
        for one in suspects {
            let Some(media_type) = one.header.media_type else { continue };
            if matches!(media_type, "image/png" | "image/jpeg") {
                continue;
            }
            found = true;
            let types = match one.kind {
                MediaKind::Image => &mut profile.accepts.image,
                MediaKind::Document => &mut profile.accepts.document,
                MediaKind::Audio => &mut profile.accepts.audio,
            };
            types.retain(|known| known != media_type);
        }
        if !found {
            self.drop_broken(policy);
        }
    }

    /// Moves media out of the messages in which the endpoint does not accept them.
    fn move_out(&self, profile: &mut Profile) {
        let named = self.named();
        let suspects = self.survey.sightings.iter();
        for one in suspects.filter(|one| named.is_empty() || named.contains(&one.media)) {
            let holder = match one.slot {
                Slot::Result { .. } => {
                    let placement = match one.kind {
                        MediaKind::Image => &mut profile.placement.image,
                        MediaKind::Document => &mut profile.placement.document,
                        MediaKind::Audio => &mut profile.placement.audio,
                    };
                    if *placement == Placement::Native {
                        *placement = Placement::UserAfterTools;
                    }
                    continue;
                }
                Slot::Message(Role::System) => Holder::System,
                Slot::Message(Role::Developer) => Holder::Developer,
                Slot::Message(Role::Assistant) => Holder::Assistant,
                Slot::Message(Role::User | Role::Tool | Role::Unknown) => continue,
            };
            profile.accepts.image_roles.retain(|role| *role != holder);
        }
    }
}

/// Lowers a limit.
fn at_most<T: Copy + Ord>(limit: &mut Option<T>, most: T) {
    *limit = Some(limit.map_or(most, |is| is.min(most)));
}
