//! References to media: names that a client uses in a conversation for what it has uploaded.
//!
//! A handle is the same for a picture forever. A reference is random and expires. An invalid,
//! foreign or expired reference is reported in the same way: it does not exist.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use photic::MediaStub;
use serde::{Deserialize, Serialize};

use crate::blobs::BlobId;
use crate::error::Error;
use crate::handle::{Facts, Tenant};
use crate::letters::LETTERS;
use crate::random::random_bytes;
use crate::session_id::SessionId;

/// Reference of a tenant to uploaded media: `mr_` and 26 letters and digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MediaRef(String);

const PREFIX: &str = "mr_";
/// Each letter has five random bits, which gives 130 bits.
const LENGTH: usize = 26;

impl MediaRef {
    /// Creates a random reference.
    pub fn random() -> Result<Self, Error> {
        let bytes = random_bytes::<LENGTH>()?;
        let letters = bytes.iter().map(|byte| char::from(LETTERS[usize::from(byte & 31)]));
        Ok(Self(PREFIX.chars().chain(letters).collect()))
    }

    /// Returns the text.
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

/// Error of a text that is not a reference.
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

/// Input of [`Media::create_media`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMedia {
    /// The blob, which was stored or [touched](crate::Blobs::touch) just before.
    pub blob: BlobId,
    /// Facts about the blob.
    pub facts: Facts,
    /// Stub for planning when the bytes are not available.
    pub memory: MediaStub,
    /// Session that owns the reference. If the session is forgotten, so is the reference.
    pub session: Option<SessionId>,
    /// Lifetime of the reference.
    pub lasting: Duration,
}

/// Target of a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaRecord {
    /// The blob.
    pub blob: BlobId,
    /// Facts about the blob.
    pub facts: Facts,
    /// Stub for planning when the bytes are not available.
    pub memory: MediaStub,
    /// Expiry in milliseconds since 1970.
    pub expires: i64,
}

/// A storage of references. A blob is kept as long as a valid reference points to it.
pub trait Media: Send + Sync {
    /// Creates a reference.
    fn create_media(
        &self,
        tenant: &Tenant,
        minting: &NewMedia,
    ) -> impl Future<Output = Result<MediaRef, Error>> + Send;

    /// Looks up references. Expired, foreign and unknown ones are missing from the result.
    fn media(
        &self,
        tenant: &Tenant,
        references: &[MediaRef],
    ) -> impl Future<Output = Result<BTreeMap<MediaRef, MediaRecord>, Error>> + Send;

    /// Deletes a reference. Returns whether a valid one existed.
    fn delete_media(
        &self,
        tenant: &Tenant,
        reference: &MediaRef,
    ) -> impl Future<Output = Result<bool, Error>> + Send;
}

/// Serializes a reference into the text columns of a backend.
#[doc(hidden)]
pub fn columns(minting: &NewMedia) -> Result<(String, String, i64), Error> {
    let facts = serde_json::to_string(&minting.facts).map_err(|_| Error::Damaged("facts"))?;
    let memory = serde_json::to_string(&minting.memory).map_err(|_| Error::Damaged("a memory"))?;
    // Capped, so that sums do not overflow.
    let lasting = i64::try_from(minting.lasting.as_millis()).unwrap_or(i64::MAX / 4);
    Ok((facts, memory, lasting.min(i64::MAX / 4)))
}

/// Parses the result of [`columns`].
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
