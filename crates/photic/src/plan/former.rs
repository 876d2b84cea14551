//! The request before this one, as it was sent.
//!
//! A plan is a function of the conversation, so what it would have done in the request before can be
//! worked out again. But choices of the user and lessons about the endpoint change that, and what was
//! sent stays sent: a host that keeps a record says what it was.

use serde::{Deserialize, Serialize};

use super::fate::Reason;
use super::recipe::Recipe;
use crate::media::Digest;
use crate::transcript::MediaId;

/// A request as it was sent, for the next one of its conversation to be compared with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Former {
    /// The id of the profile it was planned with.
    pub profile: String,
    /// How many messages it held.
    pub messages: usize,
    /// Runs of media that were not shown: why, the first of them and the last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<(Reason, MediaId, MediaId)>,
    /// Media that another picture was sent for, and how it was made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<(Recipe, Vec<MediaId>)>,
}

/// A medium that gave way in the request before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone {
    /// What it is.
    pub digest: Digest,
    /// Why it gave way.
    pub reason: Reason,
}

impl Former {
    /// Why a medium was not shown; `None` if it was.
    pub(super) fn hides(&self, id: MediaId) -> Option<Reason> {
        let run = self.hidden.iter().find(|(_, first, last)| (*first..=*last).contains(&id));
        run.map(|(reason, ..)| *reason)
    }

    /// How the picture was made that was sent for a medium.
    pub(super) fn recipe(&self, id: MediaId) -> Option<&Recipe> {
        self.made.iter().find(|(_, media)| media.contains(&id)).map(|(recipe, _)| recipe)
    }
}

impl Serialize for Gone {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let hex = blake3::Hash::from_bytes(self.digest).to_hex();
        (hex.as_str(), self.reason).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Gone {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        let (hex, reason) = <(String, Reason)>::deserialize(deserializer)?;
        let hash = blake3::Hash::from_hex(hex).map_err(D::Error::custom)?;
        Ok(Self { digest: *hash.as_bytes(), reason })
    }
}
