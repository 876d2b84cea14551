//! The profiles every property is tried under: the generic one of a wire, and its extremes.

use photic::profile::{Capability, ConsecutiveUser, Crowd, Placement};
use photic::{Profile, Wire};
use photic_testkit::oracle::{Limits, Many, Rules};

use crate::harness;

/// A way in which an endpoint differs from the generic one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Twist {
    Generic,
    TextOnly,
    Placed(Placement),
    /// Consecutive user messages are refused.
    Alternating,
    /// At most that many images.
    Few(u32),
    /// No image of more than 600 bytes or 100 pixels.
    Small,
    /// No more than three images where one is longer than 64 pixels.
    Crowd,
    /// A body of at most that many bytes.
    Body(u64),
}

impl Twist {
    pub(super) const ALL: [Self; 13] = [
        Self::Generic,
        Self::TextOnly,
        Self::Placed(Placement::Native),
        Self::Placed(Placement::UserAfterTools),
        Self::Placed(Placement::SiblingSameTurn),
        Self::Placed(Placement::AssistantBridge),
        Self::Placed(Placement::TextOnly),
        Self::Alternating,
        Self::Few(0),
        Self::Few(2),
        Self::Small,
        Self::Crowd,
        Self::Body(4000),
    ];

    /// The profile of such an endpoint.
    pub(super) fn profile(self, wire: Wire) -> Profile {
        let mut profile = Profile::generic(wire);
        match self {
            Self::Generic => {}
            Self::TextOnly => {
                profile.sight.images = Capability::No;
                profile.sight.documents = Capability::No;
            }
            Self::Placed(placement) => profile.placement.image = placement,
            Self::Alternating => profile.quirks.consecutive_user = ConsecutiveUser::Merge,
            Self::Few(most) => profile.limits.images = Some(most),
            Self::Small => {
                profile.limits.image_base64_bytes = Some(600);
                profile.limits.edge = Some(100);
            }
            Self::Crowd => {
                profile.limits.crowd = Some(Crowd { above: 3, edge: 100, counts_documents: false });
            }
            Self::Body(most) => profile.limits.request_bytes = Some(most),
        }
        profile
    }

    /// Whether every image that can be shown at all is shown.
    pub(super) const fn shows_all(self) -> bool {
        match self {
            Self::Generic
            | Self::Alternating
            | Self::Placed(
                Placement::Native
                | Placement::UserAfterTools
                | Placement::SiblingSameTurn
                | Placement::AssistantBridge,
            ) => true,
            Self::TextOnly
            | Self::Placed(_)
            | Self::Few(_)
            | Self::Small
            | Self::Crowd
            | Self::Body(_) => false,
        }
    }
}

/// The strict provider behind a profile, with its limits. The size of the body is judged apart: a
/// conversation may be too long without any image.
pub(super) fn rules(profile: &Profile) -> Rules {
    let limits = &profile.limits;
    Rules {
        limits: Limits {
            images: limits.images.map(|most| most as usize),
            image_base64: limits.image_base64_bytes.map(|most| most as usize),
            body: None,
            edge: limits.edge,
            min_edge: limits.min_edge,
            many: limits.crowd.map(|crowd| Many {
                over: crowd.above as usize,
                edge: crowd.edge,
                documents: crowd.counts_documents,
            }),
            ..Limits::default()
        },
        ..harness::rules(profile)
    }
}
