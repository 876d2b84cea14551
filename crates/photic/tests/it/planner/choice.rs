//! What a host chooses, in words of our own: `subject` says it to `photic`.

use photic::Profile;
use photic::profile::Crowd;
use proptest::prelude::*;

/// A policy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) keep: Keep,
    /// The host can prepare images.
    pub(super) pixels: bool,
    /// Every so manieth preparation fails; 0 is never.
    pub(super) flaky: u32,
    /// Budgets of the host's own.
    pub(super) room: Caps,
    /// The request asks for a summary.
    pub(super) summary: bool,
}

/// How long views stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Keep {
    #[default]
    Priced,
    Turns(usize),
    Newest(usize),
    All,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Caps {
    pub(super) images: Option<u64>,
    pub(super) image_tokens: Option<u64>,
    pub(super) bytes: Option<u64>,
}

impl Choice {
    /// The default policy of a host that can prepare images, or cannot.
    pub(super) fn pixels(pixels: bool) -> Self {
        Self { pixels, ..Self::default() }
    }
}

/// Any policy.
pub(super) fn choices() -> impl Strategy<Value = Choice> {
    let keep = prop_oneof![
        4 => Just(Keep::Priced),
        1 => (0usize..6).prop_map(Keep::Turns),
        1 => (0usize..6).prop_map(Keep::Newest),
        2 => Just(Keep::All),
    ];
    let room = prop_oneof![
        6 => Just(Caps::default()),
        1 => (1u64..30).prop_map(|most| Caps { images: Some(most), ..Caps::default() }),
        1 => (1u64..60_000).prop_map(|most| Caps { image_tokens: Some(most), ..Caps::default() }),
        1 => (20_000u64..400_000).prop_map(|most| Caps { bytes: Some(most), ..Caps::default() }),
    ];
    let flaky = prop_oneof![3 => Just(0u32), 1 => 1u32..5];
    let summary = prop_oneof![15 => Just(false), 1 => Just(true)];
    (keep, any::<bool>(), flaky, room, summary).prop_map(|(keep, pixels, flaky, room, summary)| {
        Choice { keep, pixels, flaky, room, summary }
    })
}

/// A limit that turned out to be tighter than the profile knew: what a rejection teaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tighter {
    Not,
    Images(u32),
    Base64(u64),
    Raw(u64),
    Body(u64),
    Edge(u32),
    Crowd(u32, u32),
    Documents(u32),
}

impl Tighter {
    pub(super) fn apply(self, profile: &mut Profile) {
        let limits = &mut profile.limits;
        match self {
            Self::Not => {}
            Self::Images(most) => limits.images = Some(most),
            Self::Base64(most) => limits.image_base64_bytes = Some(most),
            Self::Raw(most) => limits.image_raw_bytes = Some(most),
            Self::Body(most) => limits.request_bytes = Some(most),
            Self::Edge(most) => limits.edge = Some(most),
            Self::Crowd(above, edge) => {
                limits.crowd = Some(Crowd { above, edge, counts_documents: above % 2 == 0 });
            }
            Self::Documents(most) => limits.documents = Some(most),
        }
    }
}

pub(super) fn tighter() -> impl Strategy<Value = Tighter> {
    prop_oneof![
        10 => Just(Tighter::Not),
        2 => (0u32..25).prop_map(Tighter::Images),
        1 => (200u64..90_000).prop_map(Tighter::Base64),
        1 => (200u64..90_000).prop_map(Tighter::Raw),
        2 => (30_000u64..400_000).prop_map(Tighter::Body),
        1 => (40u32..3000).prop_map(Tighter::Edge),
        2 => ((0u32..25), (40u32..3000)).prop_map(|(above, edge)| Tighter::Crowd(above, edge)),
        1 => (0u32..3).prop_map(Tighter::Documents),
    ]
}
