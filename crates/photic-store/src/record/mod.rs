//! The record: sessions, their messages without media, their turns, and what was chosen.
//!
//! The trait is what `SQLite` and a server's database have in common, and all that a backend has to
//! write: statements. What the rows mean is decided in `store`, once. Nothing is ever rewritten but
//! counters, choices and what a turn cost: messages are a tree, and a client that changes its history grows a branch.

mod stretch;
mod turn;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use std::time::SystemTime;

use photic::{Choice, Digest, MediaStub};
use serde::{Deserialize, Serialize};

pub use stretch::{Kept, Piece, Stretch};
pub use turn::{Entry, Link, MadeBlob, MadeKey, StoredTurn, Sums};

use crate::blobs::BlobId;
use crate::error::Error;
use crate::handle::{Handle, Handles, LETTERS, Tenant, spell};
use crate::media::Media;

/// The beginning of a chain of BLAKE3 hashes: names a message and everything before it.
pub type Chain = [u8; 16];

/// How a session is named: `s_` and 16 letters and digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(String);

impl SessionId {
    /// A new one.
    pub fn random() -> Result<Self, Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|_| Error::Random)?;
        Ok(Self(format!("s_{}", spell(&bytes))))
    }

    /// A new one that says on which day it began, counted from 1970, so that a backend which keeps
    /// days apart knows where to look.
    pub fn dated(day: u16) -> Result<Self, Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|_| Error::Random)?;
        // Its first three letters: 15 bits, enough until 2059.
        bytes[0] = (day >> 7) as u8;
        bytes[1] = (day << 1) as u8 | bytes[1] & 1;
        Ok(Self(format!("s_{}", spell(&bytes))))
    }

    /// The day of one that was [`dated`](Self::dated); of any other, nothing in particular.
    pub fn day(&self) -> u16 {
        let letters = self.0.bytes().skip(2).take(3);
        letters.fold(0, |day, letter| {
            let value = LETTERS.iter().position(|&known| known == letter).unwrap_or_default();
            day << 5 | value as u16
        })
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.0
    }
}

/// The text names no session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a session is named by `s_` and 16 letters and digits")]
pub struct NotASession;

impl FromStr for SessionId {
    type Err = NotASession;

    fn from_str(text: &str) -> Result<Self, NotASession> {
        let letters = text.strip_prefix("s_").ok_or(NotASession)?;
        let is_one = letters.len() == 16 && letters.bytes().all(|byte| LETTERS.contains(&byte));
        is_one.then(|| Self(text.to_owned())).ok_or(NotASession)
    }
}

impl TryFrom<String> for SessionId {
    type Error = NotASession;

    fn try_from(text: String) -> Result<Self, NotASession> {
        text.parse()
    }
}

/// What is known about a session without reading it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Session {
    /// Its name.
    pub id: SessionId,
    /// What it is about, as its first words say.
    pub title: String,
    /// How many requests it was.
    pub turns: u64,
    /// How many different messages.
    pub messages: u64,
    /// How many different images, documents and sounds the client sent.
    pub images: u64,
    /// How many different blobs it refers to: these, and what was made from them.
    pub blobs: u64,
    /// How many bytes these have.
    pub bytes: u64,
    /// When it began: milliseconds since 1970.
    pub created: i64,
    /// When its last turn was.
    pub last: i64,
}

/// Where the record is kept.
pub trait Record: Handles + Media {
    /// Makes a session.
    fn begin(
        &self,
        tenant: &Tenant,
        title: &str,
    ) -> impl Future<Output = Result<SessionId, Error>> + Send;

    /// The sessions of a tenant, the latest first.
    fn sessions(&self, tenant: &Tenant)
    -> impl Future<Output = Result<Vec<Session>, Error>> + Send;

    /// One of them.
    fn session(
        &self,
        tenant: &Tenant,
        id: &SessionId,
    ) -> impl Future<Output = Result<Option<Session>, Error>> + Send;

    /// The session of which one of these chains was a whole request, and the number of that turn; the
    /// first chain that is found decides, and of several turns the latest.
    fn continued(
        &self,
        kin: &[Chain],
    ) -> impl Future<Output = Result<Option<(SessionId, u64)>, Error>> + Send;

    /// Writes a turn, whole or not at all, durably once this is done; its number, from 1.
    ///
    /// Messages whose chain is known are not written again. Whoever drops the session at the same
    /// time wins: then there is no such session.
    fn append(
        &self,
        tenant: &Tenant,
        id: &SessionId,
        entry: &Entry<'_>,
    ) -> impl Future<Output = Result<u64, Error>> + Send;

    /// Notes what the provider charged for the input of a turn, in US dollars, instead of what was
    /// estimated.
    fn billed(
        &self,
        tenant: &Tenant,
        id: &SessionId,
        number: u64,
        usd: f64,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// A turn of a session.
    fn turn(
        &self,
        id: &SessionId,
        number: u64,
    ) -> impl Future<Output = Result<Option<StoredTurn>, Error>> + Send;

    /// The messages of a turn, in order.
    fn messages(&self, turn: &StoredTurn) -> impl Future<Output = Result<Vec<Kept>, Error>> + Send;

    /// Which of these blobs the session refers to already, as far as is known: any other is stored
    /// once more, which does no harm.
    fn held(
        &self,
        id: &SessionId,
        blobs: &BTreeSet<BlobId>,
    ) -> impl Future<Output = Result<BTreeSet<BlobId>, Error>> + Send;

    /// What is remembered of blobs that a turn refers to.
    fn memories(
        &self,
        turn: &StoredTurn,
        blobs: &BTreeSet<BlobId>,
    ) -> impl Future<Output = Result<BTreeMap<BlobId, MediaStub>, Error>> + Send;

    /// What was made for a turn.
    fn made(
        &self,
        turn: &StoredTurn,
        key: &MadeKey,
    ) -> impl Future<Output = Result<Option<MadeBlob>, Error>> + Send;

    /// Notes what the user wants done with a picture; `None` takes it back.
    fn choose(
        &self,
        tenant: &Tenant,
        id: &SessionId,
        picture: &Digest,
        choice: Option<Choice>,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// What the user wants done with pictures of a session.
    fn choices(
        &self,
        id: &SessionId,
    ) -> impl Future<Output = Result<BTreeMap<Digest, Choice>, Error>> + Send;

    /// Forgets a session, the references that were minted for it, and the handles of what it alone
    /// held unless they are pinned; whether there was one. Its blobs go with the next collection.
    fn forget(
        &self,
        tenant: &Tenant,
        id: &SessionId,
    ) -> impl Future<Output = Result<bool, Error>> + Send;

    /// Whether anything refers to a blob of the tenant: a session, a reference that holds, a pinned
    /// handle, or a handle that was issued at `since` or later. Where tenants share their blobs, anything of any of them.
    fn reaches(
        &self,
        tenant: &Tenant,
        blob: &BlobId,
        since: SystemTime,
    ) -> impl Future<Output = Result<bool, Error>> + Send;

    /// Removes what no session uses any more: pieces, memories, and handles of blobs that nothing
    /// [reaches](Record::reaches); and references that ended.
    fn sweep(
        &self,
        tenant: &Tenant,
        since: SystemTime,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// The handle of a picture, whether or not it was issued.
    fn name(
        &self,
        tenant: &Tenant,
        picture: &Digest,
    ) -> impl Future<Output = Result<Handle, Error>> + Send {
        async move { Ok(Handle::of(&self.secret(tenant).await?, &BlobId::from(*picture))) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_says_on_which_day_it_began() {
        for day in [0, 1, 31, 32, 20_773, 32_767] {
            let (one, two) = (SessionId::dated(day).unwrap(), SessionId::dated(day).unwrap());
            assert_eq!((one.day(), two.day()), (day, day), "{one} {two}");
            assert_ne!(one, two);
            assert_eq!(one.as_str().parse().as_ref(), Ok(&one));
        }
        let one = SessionId::dated(20_773).unwrap();
        assert!((0..100).any(|_| SessionId::dated(20_773).unwrap().0[5..6] != one.0[5..6]));
    }
}
