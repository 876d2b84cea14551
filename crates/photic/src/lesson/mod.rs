//! Lessons: facts about an endpoint that a rejection or a probe taught, and the change that each makes
//! to a profile.
//!
//! [`diagnose`] derives them from a rejection and the body that was rejected, and [`Quarantine`]
//! withholds the media that an endpoint refused.
//!
//! A lesson of a rejection only tightens a profile: applied to one that is stricter already, it
//! changes nothing. Lessons that only a probe can teach are applied first, and may loosen it.
//! Lessons are sorted before they are applied, so the order in which they were learned does not
//! matter.

mod diagnose;
mod quarantine;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::profile::{
    Capability, ConsecutiveUser, Crowd, ErrorResults, MediaKind, Placement, Placements, Profile,
    Role, Source,
};

pub use diagnose::{RejectedRequest, diagnose};
pub use quarantine::Quarantine;

/// Number of images above which providers apply the limits for many images.
const MANY: u32 = 20;

/// A fact about an endpoint and a model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Lesson {
    /// The model sees this kind of media, as a probe proved.
    Sees {
        /// The kind.
        of: MediaKind,
    },
    /// The model sees this kind of media in tool results, as a probe proved.
    ToolMedia {
        /// The kind.
        of: MediaKind,
    },
    /// A media type is accepted and seen, as a probe proved.
    TypeTaken {
        /// The kind of media.
        of: MediaKind,
        /// Its name.
        media_type: String,
    },
    /// Maximum bytes of an image, after base64.
    ImageBytes {
        /// The maximum.
        most: u64,
    },
    /// Maximum bytes of a document, before base64.
    DocumentBytes {
        /// The maximum.
        most: u64,
    },
    /// Maximum length of an image's side, in pixels.
    Edge {
        /// The maximum.
        most: u32,
    },
    /// Maximum length of an image's side in a request with many images, in pixels.
    CrowdEdge {
        /// The maximum.
        most: u32,
        /// Number of images above which it applies, if it is lower than usual.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        above: Option<u32>,
    },
    /// Minimum length of an image's side, in pixels.
    MinEdge {
        /// The minimum.
        least: u32,
    },
    /// Maximum patches of an image.
    Patches {
        /// The maximum.
        most: u32,
    },
    /// Maximum images in a request.
    Images {
        /// The maximum.
        most: u32,
    },
    /// Maximum bytes of a request.
    RequestBytes {
        /// The maximum.
        most: u64,
    },
    /// Maximum tokens of a request.
    ContextTokens {
        /// The maximum.
        most: u64,
    },
    /// A media type is not accepted.
    TypeRefused {
        /// The kind of media.
        of: MediaKind,
        /// Its name.
        media_type: String,
    },
    /// The model does not accept this kind of media.
    Blind {
        /// The kind.
        of: MediaKind,
    },
    /// Tool results must not contain this kind of media.
    NoToolMedia {
        /// The kind.
        of: MediaKind,
    },
    /// Failed tool results must contain text only.
    ErrorText,
    /// Messages of a role must not contain images.
    RoleRefused {
        /// The role.
        role: Role,
    },
    /// Images must not have `detail`.
    NoDetail,
    /// Parts must not have prompt cache breakpoints.
    NoMarks,
    /// The endpoint does not fetch URLs.
    NoAddresses,
    /// The endpoint refuses one media file. It is no longer sent.
    Quarantine {
        /// The digest of its content, in hexadecimal.
        digest: String,
        /// Its length. Only media of the same length have to be hashed for a comparison.
        bytes: u64,
    },
    /// Images are billed as the text of their base64.
    BilledAsText {
        /// Set if they were in tool results, so that another placement is possible.
        in_results: bool,
    },
    /// A user message must not directly follow a tool message or another user message. It is applied
    /// last, because other lessons move media into user messages.
    Bridge,
}

impl Lesson {
    /// Returns `true` if two lessons are about the same thing. The stricter one is kept.
    pub fn is_about(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Quarantine { digest: one, .. }, Self::Quarantine { digest: two, .. }) => {
                one == two
            }
            (
                Self::TypeRefused { .. }
                | Self::TypeTaken { .. }
                | Self::Sees { .. }
                | Self::ToolMedia { .. }
                | Self::Blind { .. }
                | Self::NoToolMedia { .. }
                | Self::RoleRefused { .. },
                _,
            ) => self == other,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    /// Returns `true` if two lessons cannot both be true. The newer one is kept.
    pub fn contradicts(&self, other: &Self) -> bool {
        let undoes = |yes: &Self, no: &Self| match (yes, no) {
            (Self::Sees { of: yes }, Self::Blind { of: no })
            | (Self::ToolMedia { of: yes }, Self::NoToolMedia { of: no }) => yes == no,
            (Self::TypeTaken { media_type: yes, .. }, Self::TypeRefused { media_type: no, .. }) => {
                yes == no
            }
            _ => false,
        };
        undoes(self, other) || undoes(other, self)
    }

    /// Returns the stricter of two lessons about the same thing.
    #[must_use]
    pub fn or_stricter(self, other: &Self) -> Self {
        match (self, other) {
            (Self::MinEdge { least }, Self::MinEdge { least: other }) => {
                Self::MinEdge { least: least.max(*other) }
            }
            (Self::BilledAsText { in_results }, Self::BilledAsText { in_results: other }) => {
                Self::BilledAsText { in_results: in_results || *other }
            }
            // All others have no value, or a maximum, of which the smaller one is stricter.
            (one, other) => one.min(other.clone()),
        }
    }

    /// Applies the lesson to a profile. Returns the section and the field that changed, if any.
    pub fn apply(&self, profile: &mut Profile) -> Option<(&'static str, &'static str)> {
        let before = profile.clone();
        let limits = &mut profile.limits;
        let place = match self {
            Self::Sees { of } => ("sight", set(sight(profile, *of), Capability::Yes)),
            Self::ToolMedia { of } => {
                ("placement", set(placement(&mut profile.placement, *of), Placement::Native))
            }
            Self::TypeTaken { of, media_type } => {
                let (types, field) = types(profile, *of);
                if !types.contains(media_type) {
                    types.push(media_type.clone());
                }
                ("accepts", field)
            }
            Self::ErrorText => {
                profile.placement.error_results = ErrorResults::TextOnly;
                ("placement", "error_results")
            }
            Self::ImageBytes { most } => {
                at_most(&mut limits.image_base64_bytes, *most);
                ("limits", "image_base64_bytes")
            }
            Self::DocumentBytes { most } => {
                at_most(&mut limits.document_bytes, *most);
                ("limits", "document_bytes")
            }
            Self::Edge { most } => {
                at_most(&mut limits.edge, *most);
                ("limits", "edge")
            }
            Self::CrowdEdge { most, above } => {
                let many = above.unwrap_or(MANY).min(MANY);
                let former = limits.crowd;
                limits.crowd = Some(Crowd {
                    above: former.map_or(many, |crowd| crowd.above.min(many)),
                    edge: former.map_or(*most, |crowd| crowd.edge.min(*most)),
                    counts_documents: former.is_some_and(|crowd| crowd.counts_documents),
                });
                ("limits", "crowd")
            }
            Self::MinEdge { least } => {
                limits.min_edge = Some(limits.min_edge.map_or(*least, |is| is.max(*least)));
                ("limits", "min_edge")
            }
            Self::Patches { most } => {
                at_most(&mut limits.patches, *most);
                ("limits", "patches")
            }
            Self::Images { most } => {
                at_most(&mut limits.images, *most);
                ("limits", "images")
            }
            Self::RequestBytes { most } => {
                at_most(&mut limits.request_bytes, *most);
                ("limits", "request_bytes")
            }
            Self::ContextTokens { most } => {
                at_most(&mut limits.context_tokens, *most);
                ("limits", "context_tokens")
            }
            Self::TypeRefused { of, media_type } => {
                let (types, field) = types(profile, *of);
                types.retain(|known| known != media_type);
                ("accepts", field)
            }
            Self::Blind { of } => ("sight", set(sight(profile, *of), Capability::No)),
            Self::NoToolMedia { of } => ("placement", hoist(&mut profile.placement, *of)),
            Self::BilledAsText { in_results: true } => {
                ("placement", hoist(&mut profile.placement, MediaKind::Image))
            }
            Self::RoleRefused { role } => {
                profile.accepts.image_roles.retain(|holder| holder != role);
                ("accepts", "image_roles")
            }
            Self::Bridge => {
                let Placements { image, document, audio, .. } = &mut profile.placement;
                for placement in [image, document, audio] {
                    if *placement == Placement::UserAfterTools {
                        *placement = Placement::AssistantBridge;
                    }
                }
                profile.quirks.consecutive_user = ConsecutiveUser::Merge;
                ("quirks", "consecutive_user")
            }
            Self::NoDetail => {
                profile.quirks.detail = None;
                ("quirks", "detail")
            }
            Self::NoMarks => {
                profile.cache.mark = None;
                ("cache", "mark")
            }
            Self::NoAddresses => {
                profile.accepts.sources.retain(|source| *source != Source::Url);
                ("accepts", "sources")
            }
            // These change no fact about the endpoint.
            Self::Quarantine { .. } | Self::BilledAsText { in_results: false } => return None,
        };
        (*profile != before).then_some(place)
    }
}

/// Moves media out of tool results into the user message after them. Returns the field.
fn hoist(placements: &mut Placements, kind: MediaKind) -> &'static str {
    let (placement, field) = placement(placements, kind);
    if *placement == Placement::Native {
        *placement = Placement::UserAfterTools;
    }
    field
}

/// Sets a field, and returns its name.
fn set<T>((slot, field): (&mut T, &'static str), value: T) -> &'static str {
    *slot = value;
    field
}

fn placement(placements: &mut Placements, kind: MediaKind) -> (&mut Placement, &'static str) {
    match kind {
        MediaKind::Image => (&mut placements.image, "image"),
        MediaKind::Document => (&mut placements.document, "document"),
        MediaKind::Audio => (&mut placements.audio, "audio"),
    }
}

fn sight(profile: &mut Profile, kind: MediaKind) -> (&mut Capability, &'static str) {
    match kind {
        MediaKind::Image => (&mut profile.sight.images, "images"),
        MediaKind::Document => (&mut profile.sight.documents, "documents"),
        MediaKind::Audio => (&mut profile.sight.audio, "audio"),
    }
}

fn types(profile: &mut Profile, kind: MediaKind) -> (&mut Vec<String>, &'static str) {
    match kind {
        MediaKind::Image => (&mut profile.accepts.image, "image"),
        MediaKind::Document => (&mut profile.accepts.document, "document"),
        MediaKind::Audio => (&mut profile.accepts.audio, "audio"),
    }
}

fn at_most<T: Copy + Ord>(limit: &mut Option<T>, most: T) {
    *limit = Some(limit.map_or(most, |is| is.min(most)));
}

impl fmt::Display for Lesson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |kind: &MediaKind| match kind {
            MediaKind::Image => "images",
            MediaKind::Document => "documents",
            MediaKind::Audio => "sound",
        };
        match self {
            Self::Sees { of: kind } => write!(f, "{} are seen", of(kind)),
            Self::ToolMedia { of: kind } => write!(f, "{} are seen in tool results", of(kind)),
            Self::TypeTaken { media_type, .. } => write!(f, "`{media_type}` is accepted and seen"),
            Self::ErrorText => f.write_str("failed tool results hold text only"),
            Self::ImageBytes { most } => {
                write!(f, "an image has at most {most} bytes after base64")
            }
            Self::DocumentBytes { most } => write!(f, "a document has at most {most} bytes"),
            Self::Edge { most } => write!(f, "no side of an image is longer than {most} px"),
            Self::CrowdEdge { most, above } => {
                let many = above.unwrap_or(MANY);
                write!(f, "among more than {many} images no side is longer than {most} px")
            }
            Self::MinEdge { least } => write!(f, "no side of an image is shorter than {least} px"),
            Self::Patches { most } => write!(f, "an image has at most {most} patches"),
            Self::Images { most: 1 } => f.write_str("a request has at most 1 image"),
            Self::Images { most } => write!(f, "a request has at most {most} images"),
            Self::RequestBytes { most } => write!(f, "a request has at most {most} bytes"),
            Self::ContextTokens { most } => write!(f, "a request has at most {most} tokens"),
            Self::TypeRefused { media_type, .. } => write!(f, "`{media_type}` is not accepted"),
            Self::Blind { of: kind } => write!(f, "{} are not accepted at all", of(kind)),
            Self::NoToolMedia { of: kind } => {
                write!(f, "{} are not accepted in tool results", of(kind))
            }
            Self::RoleRefused { role } => {
                let role = match role {
                    Role::System => "system",
                    Role::Developer => "developer",
                    Role::User => "user",
                    Role::Assistant => "assistant",
                };
                write!(f, "images are not accepted in {role} messages")
            }
            Self::Bridge => f.write_str(
                "a user message must not directly follow a tool message or another user message",
            ),
            Self::NoDetail => f.write_str("images have no `detail`"),
            Self::NoMarks => f.write_str("parts have no prompt cache breakpoints"),
            Self::NoAddresses => f.write_str("image URLs are not fetched"),
            Self::Quarantine { digest, bytes } => {
                let short = digest.get(..16).unwrap_or(digest);
                write!(f, "a media file of {bytes} bytes is refused ({short})")
            }
            Self::BilledAsText { in_results: true } => {
                f.write_str("images in tool results are billed as text")
            }
            Self::BilledAsText { in_results: false } => f.write_str("images are billed as text"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Wire;

    #[test]
    fn lessons_only_tighten() {
        let lessons = [
            Lesson::Edge { most: 2000 },
            Lesson::Edge { most: 9000 },
            Lesson::Images { most: 5 },
            Lesson::MinEdge { least: 28 },
            Lesson::CrowdEdge { most: 3000, above: None },
            Lesson::TypeRefused { of: MediaKind::Image, media_type: "image/webp".to_owned() },
            Lesson::NoToolMedia { of: MediaKind::Image },
            Lesson::BilledAsText { in_results: true },
            Lesson::Bridge,
        ];
        for wire in Wire::ALL {
            let mut one = Profile::generic(wire);
            for lesson in &lessons {
                lesson.apply(&mut one);
            }
            assert_eq!(one.limits.edge, Some(2000));
            assert_eq!(one.limits.crowd.map(|crowd| crowd.above), Some(20));
            assert!(one.limits.crowd.is_some_and(|crowd| crowd.edge <= 3000));
            assert_ne!(one.placement.image, Placement::Native);
            for lesson in &lessons {
                assert_eq!(lesson.apply(&mut one), None, "{lesson}");
            }
        }
    }

    #[test]
    fn the_stricter_lesson_is_kept() {
        let edge = |most| Lesson::Edge { most };
        assert!(edge(1).is_about(&edge(2)) && !edge(1).is_about(&Lesson::Images { most: 1 }));
        assert_eq!(edge(3000).or_stricter(&edge(2000)), edge(2000));
        let least = |least| Lesson::MinEdge { least };
        assert_eq!(least(3).or_stricter(&least(28)), least(28));
        let blind = |of| Lesson::Blind { of };
        assert!(!blind(MediaKind::Image).is_about(&blind(MediaKind::Audio)));
    }
}
