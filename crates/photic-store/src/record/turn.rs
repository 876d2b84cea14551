//! Turns: one request, the inputs of its plan, and its outcome.

use photic::profile::Fact;
use photic::{MediaStub, Profile, Wire};
use serde::Serialize;

use super::{ArrivedMessages, Chain, Fates, NewSegment, StoredSegment};
use crate::blobs::BlobId;
use crate::error::Error;
use crate::handle::Facts;

/// A message of a body and its key.
#[derive(Clone, Debug)]
pub struct NewMessage<'a> {
    /// Key of the message and all messages before it.
    pub chain: Chain,
    /// The bytes of the message.
    pub stretch: NewSegment<'a>,
}

/// A turn to store.
#[derive(Clone, Debug)]
pub struct NewTurn<'a> {
    /// Wire of the body.
    pub wire: Wire,
    /// Everything before the first message.
    pub before: NewSegment<'a>,
    /// Key of the message that `messages` follow, which the session has. `None` if they are all.
    pub follows: Option<Chain>,
    /// All messages, or those after `follows`.
    pub messages: &'a [NewMessage<'a>],
    /// Everything after the last message.
    pub after: NewSegment<'a>,
    /// Key that finds the session when a later body continues from here; `None` without messages.
    pub conversation_key: Option<Chain>,
    /// The profile as JSON.
    pub profile: String,
    /// The policy as JSON.
    pub policy: String,
    /// Other inputs of the plan as JSON.
    pub circumstances: String,
    /// Stubs of blobs to store.
    pub memories: Vec<(BlobId, MediaStub)>,
    /// Blobs that the session refers to from now on, with their facts. Pictures among them get a
    /// handle.
    pub holds: Vec<(BlobId, Facts)>,
    /// Pictures that were made for the plan; `None` if that failed.
    pub made: Vec<(MadeKey, Option<MadeBlob>)>,
    /// BLAKE3 digest of the lowered body.
    pub digest: [u8; 32],
    /// Length of the lowered body.
    pub length: u64,
    /// Cost of the turn.
    pub sums: TurnCost,
    /// The fate of each medium.
    pub fates: Fates,
    /// The messages as they were sent, as hashes: those that differ from an earlier turn's. `None` if
    /// they are not known.
    pub sent: Option<Vec<u8>>,
    /// The new messages in short.
    pub arrived: ArrivedMessages,
    /// Time in milliseconds since 1970.
    pub time: i64,
}

/// A stored turn.
#[derive(Clone, Debug)]
pub struct StoredTurn {
    /// Its number, from 1.
    pub number: u64,
    /// Wire of the body.
    pub wire: Wire,
    /// Everything before the first message.
    pub before: StoredSegment,
    /// Everything after the last message.
    pub after: StoredSegment,
    /// The profile as JSON.
    pub profile: String,
    /// The policy as JSON.
    pub policy: String,
    /// Other inputs of the plan as JSON.
    pub circumstances: String,
    /// Digest of the lowered body.
    pub digest: [u8; 32],
    /// Length of the lowered body.
    pub length: u64,
    /// Cost of the turn.
    pub sums: TurnCost,
    /// Time in milliseconds since 1970.
    pub time: i64,
    /// Row numbers of the backend: the session, the last message, and the last picture made by
    /// then.
    pub row: (i64, Option<i64>, i64),
}

impl StoredTurn {
    /// Returns the origins of the profile's fields that were learned from the endpoint's answers: the
    /// lessons that were in force.
    pub fn lessons(&self) -> Result<Vec<Fact>, Error> {
        let profile: Profile =
            serde_json::from_str(&self.profile).map_err(|_| Error::Damaged("a profile"))?;
        Ok(profile.facts.into_iter().filter(|fact| fact.profile == "learned").collect())
    }
}

/// Cost of a turn: estimated by the plan's ledger until the provider's charge is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct TurnCost {
    /// Images the model saw.
    pub images: u64,
    /// Tokens of the request.
    pub tokens: u64,
    /// Its input in US dollars, if the price is known.
    pub usd: Option<f64>,
}

/// Key of a prepared picture: the hash of its sources and its recipe.
pub type MadeKey = [u8; 16];

/// A prepared picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeBlob {
    /// The blob of its bytes.
    pub blob: BlobId,
    /// Its media type.
    pub media_type: String,
    /// Its width and height.
    pub size: (u32, u32),
}
