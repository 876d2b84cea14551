//! A turn: one request, what it was planned with, and what came of it.

use photic::{MediaStub, Wire};
use serde::Serialize;

use super::{Chain, Kept, Stretch};
use crate::blobs::BlobId;
use crate::handle::Facts;

/// A message that a body holds, and its name.
#[derive(Clone, Debug)]
pub struct Link<'a> {
    /// What it and everything before it is called.
    pub chain: Chain,
    /// The message.
    pub stretch: Stretch<'a>,
}

/// A turn that is about to be kept.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// The wire of the body.
    pub wire: Wire,
    /// Everything up to the first message.
    pub before: Stretch<'a>,
    /// All messages.
    pub messages: &'a [Link<'a>],
    /// Everything after the last message.
    pub after: Stretch<'a>,
    /// What finds the session of a body that goes on from here; `None` if there is no message.
    pub kin: Option<Chain>,
    /// The profile, as JSON.
    pub profile: String,
    /// The policy, as JSON.
    pub policy: String,
    /// What else the plan was made with, as JSON.
    pub circumstances: String,
    /// What is to be remembered of blobs.
    pub memories: Vec<(BlobId, MediaStub)>,
    /// Blobs that the session refers to from now on, and what is known about them; those of
    /// pictures get a handle.
    pub holds: Vec<(BlobId, Facts)>,
    /// What was made for the plan, or could not be.
    pub made: Vec<(MadeKey, Option<MadeBlob>)>,
    /// What was sent: its digest …
    pub digest: [u8; 32],
    /// … and its length.
    pub length: u64,
    /// What it cost.
    pub sums: Sums,
    /// When: milliseconds since 1970.
    pub time: i64,
}

/// A turn as it is kept.
#[derive(Clone, Debug)]
pub struct StoredTurn {
    /// Its number, from 1.
    pub number: u64,
    /// The wire of the body.
    pub wire: Wire,
    /// Everything up to the first message.
    pub before: Kept,
    /// Everything after the last message.
    pub after: Kept,
    /// The profile, as JSON.
    pub profile: String,
    /// The policy, as JSON.
    pub policy: String,
    /// What else the plan was made with, as JSON.
    pub circumstances: String,
    /// The digest of what was sent.
    pub digest: [u8; 32],
    /// Its length.
    pub length: u64,
    /// What it cost.
    pub sums: Sums,
    /// When.
    pub time: i64,
    /// The backend's own names of its session, its last message, and what had been made then.
    pub row: (i64, Option<i64>, i64),
}

/// What a turn cost: by the ledger of its plan, until the provider has said what it charged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Sums {
    /// Images the model saw.
    pub images: u64,
    /// Tokens of the request.
    pub tokens: u64,
    /// Its input in US dollars, if the price is known.
    pub usd: Option<f64>,
}

/// What a picture was made from, and how: the hash of the sources and the recipe.
pub type MadeKey = [u8; 16];

/// A picture that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeBlob {
    /// Its bytes.
    pub blob: BlobId,
    /// Its type.
    pub media_type: String,
    /// Its width and height.
    pub size: (u32, u32),
}
