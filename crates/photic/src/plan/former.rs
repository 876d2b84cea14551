//! The previous request of a conversation, as it was sent.
//!
//! A plan is a function of the conversation, so the plan of the previous request can be computed
//! again. But the user's choices and what is known about the endpoint may have changed since. A
//! host that keeps a record passes what was really sent.

use serde::{Deserialize, Serialize};

use super::fate::Reason;
use super::recipe::Recipe;
use crate::media::Digest;
use crate::transcript::MediaId;

/// A request as it was sent, to compare the next request of its conversation with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Former {
    /// The id of the profile it was planned with.
    pub profile: String,
    /// The number of messages it held.
    pub messages: usize,
    /// Runs of media that were not shown: the reason, the first and the last of each run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<(Reason, MediaId, MediaId)>,
    /// Media for which another picture was sent, with the recipe of that picture.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<(Recipe, Vec<MediaId>)>,
}

/// A medium that gave way in the previous request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone {
    /// The digest of its bytes.
    pub digest: Digest,
    /// The reason why it gave way.
    pub reason: Reason,
}

impl Former {
    /// Returns the reason why a medium was not shown, or `None` if it was.
    pub(super) fn hides(&self, id: MediaId) -> Option<Reason> {
        let run = self.hidden.iter().find(|(_, first, last)| (*first..=*last).contains(&id));
        run.map(|(reason, ..)| *reason)
    }

    /// Returns the recipe of the picture that was sent for a medium, if there was one.
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
