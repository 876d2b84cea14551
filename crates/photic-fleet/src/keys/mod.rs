//! API keys of tenants: a public name for lookups, and a secret.
//!
//! The form is `pk_<12 letters>_<52 letters>`: 60 random bits of name and 256 of secret. The server
//! stores only a hash of the secret. A slow hash is not needed, because 256 bits cannot be guessed.
//! A full key is shown once, when it is created. An invalid key is rejected without a reason.

mod cache;
mod store;

use std::fmt;
use std::str::FromStr;

use photic_store::Error;

pub use cache::KeyCache;
pub use store::{KeyFacts, Keys};

/// Public name of a key. It appears in lists and logs and grants no access.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(String);

/// A full key. It is printed by [`reveal`](ApiKey::reveal) only.
#[derive(Clone)]
pub struct ApiKey {
    id: KeyId,
    secret: [u8; 32],
}

/// Stored hash of a secret.
pub type SecretHash = blake3::Hash;

const PREFIX: &str = "pk_";
const ID_LETTERS: usize = 12;
const SECRET_LETTERS: usize = 52;
/// Letters and digits that are not easily confused.
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

impl KeyId {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Error of a text that is not a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key is `pk_`, 12 letters and digits, `_` and 52 more")]
pub struct NotAKey;

impl FromStr for KeyId {
    type Err = NotAKey;

    fn from_str(text: &str) -> Result<Self, NotAKey> {
        let is_one = text.len() == ID_LETTERS && text.bytes().all(|byte| LETTERS.contains(&byte));
        is_one.then(|| Self(text.to_owned())).ok_or(NotAKey)
    }
}

impl ApiKey {
    /// Creates a random key.
    pub fn random() -> Result<Self, Error> {
        let (mut id, mut secret) = ([0; 8], [0; 32]);
        getrandom::fill(&mut id).map_err(|_| Error::Random)?;
        getrandom::fill(&mut secret).map_err(|_| Error::Random)?;
        let mut id = spell(&id);
        id.truncate(ID_LETTERS);
        Ok(Self { id: KeyId(id), secret })
    }

    /// Returns its public name.
    pub const fn id(&self) -> &KeyId {
        &self.id
    }

    /// Returns the stored hash. The name is hashed as well, so that a hash fits one key only.
    pub fn hash(&self) -> SecretHash {
        blake3::Hasher::new_derive_key("photic-fleet 2026 secret of a key")
            .update(self.id.0.as_bytes())
            .update(&self.secret)
            .finalize()
    }

    /// Returns the full key with its secret, for its owner.
    pub fn reveal(&self) -> String {
        format!("{PREFIX}{}_{}", self.id, spell(&self.secret))
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiKey({})", self.id)
    }
}

impl FromStr for ApiKey {
    type Err = NotAKey;

    fn from_str(text: &str) -> Result<Self, NotAKey> {
        let (id, secret) =
            text.strip_prefix(PREFIX).and_then(|rest| rest.split_once('_')).ok_or(NotAKey)?;
        Ok(Self { id: id.parse()?, secret: read(secret).ok_or(NotAKey)? })
    }
}

/// Encodes five bits per letter, most significant first, padded with zeros.
fn spell(bytes: &[u8]) -> String {
    let bit = |at: usize| bytes.get(at / 8).map_or(0, |byte| byte >> (7 - at % 8) & 1);
    let letters = (0..bytes.len() * 8).step_by(5).map(|start| {
        let value = (start..start + 5).fold(0, |value, at| value << 1 | bit(at));
        char::from(LETTERS[usize::from(value)])
    });
    letters.collect()
}

/// Decodes the result of [`spell`].
fn read(letters: &str) -> Option<[u8; 32]> {
    if letters.len() != SECRET_LETTERS {
        return None;
    }
    let mut bytes = [0; 32];
    for (place, letter) in letters.bytes().enumerate() {
        let value = LETTERS.iter().position(|&known| known == letter)?;
        for (at, shift) in (place * 5..).zip((0..5).rev()) {
            let bit = (value >> shift & 1) as u8;
            match bytes.get_mut(at / 8) {
                Some(byte) => *byte |= bit << (7 - at % 8),
                // Bits beyond the end must be zero, so that every key has one spelling.
                None if bit == 1 => return None,
                None => {}
            }
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_reads_back_and_shows_its_secret_only_when_asked() {
        let key = ApiKey::random().unwrap();
        let text = key.reveal();
        assert_eq!(text.len(), 3 + 12 + 1 + 52);
        let again: ApiKey = text.parse().unwrap();
        assert_eq!((again.id(), again.hash()), (key.id(), key.hash()));
        let shown = format!("{key:?}");
        assert!(!shown.contains(&text[16..]) && shown.contains(key.id().as_str()), "{shown}");
    }

    #[test]
    fn every_letter_of_a_key_counts() {
        let key = ApiKey { id: KeyId("0".repeat(12)), secret: [0; 32] };
        let text = key.reveal();
        for at in 3..text.len() {
            let mut other = text.clone().into_bytes();
            if other[at] == b'_' {
                continue;
            }
            other[at] = b'g';
            let other = String::from_utf8(other).unwrap();
            match other.parse::<ApiKey>() {
                Ok(other) => assert_ne!(other.hash(), key.hash(), "{at}"),
                // The last letter has only one bit.
                Err(NotAKey) => assert_eq!(at, text.len() - 1),
            }
        }
    }

    #[test]
    fn nothing_else_is_a_key() {
        let good = ApiKey::random().unwrap().reveal();
        for bad in [
            "",
            "pk_",
            &good[1..],
            &good[..good.len() - 1],
            &format!("{good}0"),
            &good.to_uppercase(),
            &good.replace('_', "-"),
            &good.replacen("pk_", "sk_", 1),
        ] {
            assert!(bad.parse::<ApiKey>().is_err(), "{bad}");
        }
    }
}
