//! References to media: how a client that has uploaded something names it in a conversation.
//!
//! A handle is for ever the same for the same picture; a reference is random, ends, and stands for
//! what it was minted for. Whatever is wrong with one, the answer is that there is none.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use photic::MediaStub;
use serde::{Deserialize, Serialize};

use crate::blobs::BlobId;
use crate::error::Error;
use crate::handle::{Facts, LETTERS, Tenant};
use crate::record::SessionId;

/// How a tenant refers to a medium: `mr_` and 26 letters and digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MediaRef(String);

const PREFIX: &str = "mr_";
/// Of five bits each: more than 128 that nobody can guess.
const LENGTH: usize = 26;

impl MediaRef {
    /// A new one.
    pub fn random() -> Result<Self, Error> {
        let mut bytes = [0; LENGTH];
        getrandom::fill(&mut bytes).map_err(|_| Error::Random)?;
        let letters = bytes.iter().map(|byte| char::from(LETTERS[usize::from(byte & 31)]));
        Ok(Self(PREFIX.chars().chain(letters).collect()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MediaRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<MediaRef> for String {
    fn from(reference: MediaRef) -> Self {
        reference.0
    }
}

/// The text is no reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a reference is `mr_` and 26 letters and digits")]
pub struct NotAMediaRef;

impl FromStr for MediaRef {
    type Err = NotAMediaRef;

    fn from_str(text: &str) -> Result<Self, NotAMediaRef> {
        let letters = text.strip_prefix(PREFIX).ok_or(NotAMediaRef)?;
        let is_one = letters.len() == LENGTH && letters.bytes().all(|byte| LETTERS.contains(&byte));
        is_one.then(|| Self(text.to_owned())).ok_or(NotAMediaRef)
    }
}

impl TryFrom<String> for MediaRef {
    type Error = NotAMediaRef;

    fn try_from(text: String) -> Result<Self, NotAMediaRef> {
        text.parse()
    }
}

/// What a reference is minted for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMedia {
    /// The blob, which was stored, or stored [again](crate::Blobs::again), a moment ago.
    pub blob: BlobId,
    /// What is known about it.
    pub facts: Facts,
    /// What plans are made with when its bytes are not at hand.
    pub memory: MediaStub,
    /// The session that the reference goes with, if it is forgotten.
    pub session: Option<SessionId>,
    /// How long it holds.
    pub lasting: Duration,
}

/// What a reference stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaRecord {
    /// The blob.
    pub blob: BlobId,
    /// What is known about it.
    pub facts: Facts,
    /// What plans are made with when its bytes are not at hand.
    pub memory: MediaStub,
    /// When it ends: milliseconds since 1970.
    pub expires: i64,
}

/// Where references are kept. As long as one holds, its blob stays.
pub trait Media: Send + Sync {
    /// Makes a reference.
    fn create_media(
        &self,
        tenant: &Tenant,
        minting: &NewMedia,
    ) -> impl Future<Output = Result<MediaRef, Error>> + Send;

    /// What references stand for. One that ended, one of another tenant, and one that never was are
    /// alike not among the answers.
    fn media(
        &self,
        tenant: &Tenant,
        references: &[MediaRef],
    ) -> impl Future<Output = Result<BTreeMap<MediaRef, MediaRecord>, Error>> + Send;

    /// Ends a reference; whether there was one that held.
    fn delete_media(
        &self,
        tenant: &Tenant,
        reference: &MediaRef,
    ) -> impl Future<Output = Result<bool, Error>> + Send;
}

/// A reference as backends keep it: what is text in a column.
#[doc(hidden)]
pub fn columns(minting: &NewMedia) -> Result<(String, String, i64), Error> {
    let facts = serde_json::to_string(&minting.facts).map_err(|_| Error::Damaged("facts"))?;
    let memory = serde_json::to_string(&minting.memory).map_err(|_| Error::Damaged("a memory"))?;
    // Far ahead is for ever, and no sum overflows.
    let lasting = i64::try_from(minting.lasting.as_millis()).unwrap_or(i64::MAX / 4);
    Ok((facts, memory, lasting.min(i64::MAX / 4)))
}

/// Reads what [`columns`] gave.
#[doc(hidden)]
pub fn minted(
    reference: &str,
    blob: [u8; 32],
    facts: &str,
    memory: &str,
    expires: i64,
) -> Result<(MediaRef, MediaRecord), Error> {
    let reference = reference.parse().map_err(|_| Error::Damaged("a reference"))?;
    let facts = serde_json::from_str(facts).map_err(|_| Error::Damaged("facts"))?;
    let memory = serde_json::from_str(memory).map_err(|_| Error::Damaged("a memory"))?;
    Ok((reference, MediaRecord { blob: blob.into(), facts, memory, expires }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_reads_back_and_nothing_else_is_one() {
        let one = MediaRef::random().unwrap();
        assert_eq!(one.as_str().parse().as_ref(), Ok(&one));
        assert_eq!(one.as_str().len(), 29);
        let json = serde_json::to_string(&one).unwrap();
        assert_eq!(serde_json::from_str::<MediaRef>(&json).unwrap(), one);
        let text = one.as_str();
        for bad in ["", "mr_", &text[1..], &text[..28], &format!("{text}0"), &text.to_uppercase()] {
            assert_eq!(bad.parse::<MediaRef>(), Err(NotAMediaRef), "{bad}");
        }
    }

    #[test]
    fn every_letter_of_a_reference_is_random() {
        let many: Vec<MediaRef> = (0..200).map(|_| MediaRef::random().unwrap()).collect();
        for place in 3..29 {
            let letters: std::collections::BTreeSet<u8> =
                many.iter().map(|one| one.as_str().as_bytes()[place]).collect();
            assert!(letters.len() > 20, "{place}: {letters:?}");
        }
    }
}
