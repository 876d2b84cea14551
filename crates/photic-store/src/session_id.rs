//! Identifiers of sessions.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::letters::{LETTERS, NAME_LETTERS, spell};
use crate::random::{NoRandomNumbers, random_bytes};

/// Identifier of a session: `s_` and 16 letters and digits.
///
/// ```
/// use photic_store::SessionId;
///
/// let id = SessionId::random().unwrap();
/// assert!(id.as_str().starts_with("s_"));
/// assert_eq!(id.as_str().parse().as_ref(), Ok(&id));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(String);

impl SessionId {
    /// Creates a random identifier.
    pub fn random() -> Result<Self, NoRandomNumbers> {
        Ok(Self(format!("s_{}", spell(&random_bytes()?))))
    }

    /// Creates a random identifier that contains the day of its creation, counted from 1970. A
    /// backend that partitions by day uses it to find the session.
    pub fn dated(day: u16) -> Result<Self, NoRandomNumbers> {
        let mut bytes = random_bytes()?;
        // The first three letters: 15 bits, enough until 2059.
        bytes[0] = (day >> 7) as u8;
        bytes[1] = (day << 1) as u8 | bytes[1] & 1;
        Ok(Self(format!("s_{}", spell(&bytes))))
    }

    /// Returns the day of an identifier created with [`dated`](Self::dated). The result is
    /// arbitrary for others.
    pub fn day(&self) -> u16 {
        let letters = self.0.bytes().skip(2).take(3);
        letters.fold(0, |day, letter| {
            let value = LETTERS.iter().position(|&known| known == letter).unwrap_or_default();
            day << 5 | value as u16
        })
    }

    /// Returns the text.
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

/// Error of a text that is not a session identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a session identifier is `s_` and 16 letters and digits")]
pub struct NotASession;

impl FromStr for SessionId {
    type Err = NotASession;

    fn from_str(text: &str) -> Result<Self, NotASession> {
        let letters = text.strip_prefix("s_").ok_or(NotASession)?;
        let is_one =
            letters.len() == NAME_LETTERS && letters.bytes().all(|byte| LETTERS.contains(&byte));
        is_one.then(|| Self(text.to_owned())).ok_or(NotASession)
    }
}

impl TryFrom<String> for SessionId {
    type Error = NotASession;

    fn try_from(text: String) -> Result<Self, NotASession> {
        text.parse()
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
