//! What the user wants done with a single picture, whatever the policy would do.

use serde::{Deserialize, Serialize};

use super::{Policy, Reason};
use crate::media::MediaKind;
use crate::profile::Source;
use crate::survey::Sighting;

/// A choice of the user's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// Leave it out.
    Drop,
    /// Keep it in sight for as long as the endpoint takes it at all.
    Pin,
    /// Show it smaller.
    Shrink {
        /// The longest side, in pixels.
        max_edge: u32,
    },
}

impl Policy {
    /// What the user chose for a picture.
    pub(super) fn choice(&self, sighting: &Sighting) -> Option<Choice> {
        self.choices.get(sighting.digest.as_ref()?).copied()
    }

    /// Why a medium stays out of sight that gave way in the request before.
    pub(super) fn keeps_retired(&self, sighting: &Sighting) -> Option<Reason> {
        let gone = self.retired.get(&sighting.media)?;
        (sighting.digest == Some(gone.digest)).then_some(gone.reason)
    }

    /// Whether a picture is to stay.
    pub(super) fn pins(&self, sighting: &Sighting) -> bool {
        self.choice(sighting) == Some(Choice::Pin)
    }
}

impl Choice {
    /// The longest side that a picture is to have, where it has a longer one.
    pub(super) fn edge(self, sighting: &Sighting) -> Option<u32> {
        let Self::Shrink { max_edge } = self else { return None };
        let is_made_of_pixels =
            sighting.kind == MediaKind::Image && sighting.source == Some(Source::Data);
        let (width, height) = sighting.header.size.filter(|_| is_made_of_pixels)?;
        (max_edge > 0 && width.max(height) > max_edge).then_some(max_edge)
    }
}

/// Digests as people write them.
pub(super) mod by_hex {
    use std::collections::BTreeMap;

    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    use super::Choice;
    use crate::media::Digest;

    pub(in super::super) fn serialize<S: Serializer>(
        choices: &BTreeMap<Digest, Choice>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let hex = |digest: &Digest| blake3::Hash::from_bytes(*digest).to_hex();
        serializer
            .collect_map(choices.iter().map(|(digest, choice)| (hex(digest).to_string(), choice)))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<Digest, Choice>, D::Error> {
        let by_hex = BTreeMap::<String, Choice>::deserialize(deserializer)?;
        let digest = |hex: &str| blake3::Hash::from_hex(hex).map(|hash| *hash.as_bytes());
        by_hex
            .into_iter()
            .map(|(hex, choice)| Ok((digest(&hex).map_err(D::Error::custom)?, choice)))
            .collect()
    }
}
