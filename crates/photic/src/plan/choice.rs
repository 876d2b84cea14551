//! The user's choices for single pictures, which override the policy.

use serde::{Deserialize, Serialize};

use super::{Policy, Reason};
use crate::media::MediaKind;
use crate::profile::Source;
use crate::survey::Sighting;

/// A user's choice for one picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// Leave the picture out.
    Drop,
    /// Keep it in sight for as long as the endpoint accepts it.
    Pin,
    /// Show it smaller.
    Shrink {
        /// Maximum length of the longest side, in pixels.
        max_edge: u32,
    },
}

impl Policy {
    /// Returns the user's choice for a picture, if there is one.
    pub(super) fn choice(&self, sighting: &Sighting) -> Option<Choice> {
        self.choices.get(sighting.digest.as_ref()?).copied()
    }

    /// Returns the reason why a medium that gave way in the previous request stays out of sight.
    /// Returns `None` if it did not give way, or if its digest is unknown or another one.
    pub(super) fn keeps_retired(&self, sighting: &Sighting) -> Option<Reason> {
        let gone = self.retired.get(&sighting.media)?;
        (sighting.digest == Some(gone.digest)).then_some(gone.reason)
    }

    /// Returns `true` if the user pinned a picture.
    pub(super) fn pins(&self, sighting: &Sighting) -> bool {
        self.choice(sighting) == Some(Choice::Pin)
    }
}

impl Choice {
    /// Returns the longest side that the user chose for an inline picture, if the picture exceeds
    /// it.
    pub(super) fn edge(self, sighting: &Sighting) -> Option<u32> {
        let Self::Shrink { max_edge } = self else { return None };
        let is_made_of_pixels =
            sighting.kind == MediaKind::Image && sighting.source == Some(Source::Data);
        let (width, height) = sighting.header.size.filter(|_| is_made_of_pixels)?;
        (max_edge > 0 && width.max(height) > max_edge).then_some(max_edge)
    }
}

/// Serializes choices with their digests in hexadecimal.
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
