//! Handles: how somebody outside names a blob.
//!
//! The same picture has the same handle for a tenant for ever, so that what stands in a
//! conversation is constant; another tenant's handle of it is another; and from neither follows the
//! hash, nor the handle from it. So a handle is tied to the secret that the store keeps of a tenant.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::blobs::BlobId;
use crate::error::Error;

/// Whose sessions and handles they are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Tenant(String);

impl Tenant {
    /// A tenant by its name.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The only one there is on somebody's own machine.
    pub fn local() -> Self {
        Self::new("local")
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// How a tenant names a blob: `img_` and 16 letters and digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle(String);

/// What a tenant's handles are made with. It never leaves the store.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub(crate) [u8; 32]);

impl From<[u8; 32]> for Secret {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl Secret {
    /// A proof that somebody who has the secret wrote a text, for a purpose. Compared in constant
    /// time.
    pub fn sign(&self, purpose: &str, text: &str) -> blake3::Hash {
        let key = blake3::Hasher::new_derive_key("photic-store 2026 signatures of a tenant")
            .update(&self.0)
            .update(purpose.as_bytes())
            .finalize();
        blake3::keyed_hash(key.as_bytes(), text.as_bytes())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

const PREFIX: &str = "img_";
const LENGTH: usize = 16;
/// Letters and digits that are not mistaken for each other.
pub(crate) const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

impl Handle {
    /// The handle of a blob under a tenant's secret.
    pub fn of(secret: &Secret, blob: &BlobId) -> Self {
        let hash = blake3::keyed_hash(&secret.0, blob.as_bytes());
        Self(format!("{PREFIX}{}", spell(hash.as_bytes())))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Sixteen letters for the first 80 bits.
pub(crate) fn spell(bytes: &[u8; 32]) -> String {
    let letter = |at: usize| {
        let (byte, bit) = (at * 5 / 8, at * 5 % 8);
        let window = u16::from_be_bytes([bytes[byte], bytes[byte + 1]]);
        char::from(LETTERS[usize::from(window >> (11 - bit) & 31)])
    };
    (0..LENGTH).map(letter).collect()
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The text is no handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a handle is `img_` and 16 letters and digits")]
pub struct NotAHandle;

impl FromStr for Handle {
    type Err = NotAHandle;

    fn from_str(text: &str) -> Result<Self, NotAHandle> {
        let letters = text.strip_prefix(PREFIX).ok_or(NotAHandle)?;
        let is_one = letters.len() == LENGTH && letters.bytes().all(|byte| LETTERS.contains(&byte));
        is_one.then(|| Self(text.to_owned())).ok_or(NotAHandle)
    }
}

/// What is known about a blob that has a handle.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The type of its bytes.
    pub media_type: Option<String>,
    /// Width and height, of a picture.
    pub size: Option<(u32, u32)>,
    /// How many bytes.
    pub bytes: u64,
    /// Where it came from, in words that may be shown.
    pub label: Option<String>,
}

/// What a handle stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issued {
    /// The blob.
    pub blob: BlobId,
    /// What is known about it.
    pub facts: Facts,
    /// Whether it is kept as long as nobody lets go of it.
    pub pinned: bool,
}

/// Where handles are kept.
pub trait Handles: Send + Sync {
    /// What a tenant's handles are made with: made at the first call, the same ever after.
    fn secret(&self, tenant: &Tenant) -> impl Future<Output = Result<Secret, Error>> + Send;

    /// Gives a blob a handle, which is the one it had if it had one. The newest facts hold.
    fn issue(
        &self,
        tenant: &Tenant,
        blob: &BlobId,
        facts: &Facts,
    ) -> impl Future<Output = Result<Handle, Error>> + Send;

    /// What a handle of the tenant stands for; `None` for any other text.
    fn resolve(
        &self,
        tenant: &Tenant,
        handle: &Handle,
    ) -> impl Future<Output = Result<Option<Issued>, Error>> + Send;

    /// Keeps the blob behind a handle whatever happens to sessions, or no longer does; whether
    /// there is such a handle.
    fn pin(
        &self,
        tenant: &Tenant,
        handle: &Handle,
        pinned: bool,
    ) -> impl Future<Output = Result<bool, Error>> + Send;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_depends_on_the_secret_and_the_blob_and_tells_neither() {
        let (one, two) = (Secret([1; 32]), Secret([2; 32]));
        let (a, b) = (BlobId::of(b"a"), BlobId::of(b"b"));
        let handles = [Handle::of(&one, &a), Handle::of(&one, &b), Handle::of(&two, &a)];
        assert_eq!(handles[0], Handle::of(&one, &a));
        assert!(handles[0] != handles[1] && handles[0] != handles[2]);
        for handle in &handles {
            assert_eq!(handle.as_str().parse().as_ref(), Ok(handle));
            assert_eq!(handle.as_str().len(), 20);
        }
        assert_eq!(format!("{one:?}"), "Secret");
    }

    #[test]
    fn every_bit_of_the_spelling_counts() {
        let zero = spell(&[0; 32]);
        assert_eq!(zero, "0".repeat(16));
        for bit in 0..80 {
            let mut bytes = [0; 32];
            bytes[bit / 8] = 128 >> (bit % 8);
            let text = spell(&bytes);
            assert_eq!(text.chars().filter(|&letter| letter != '0').count(), 1, "{bit} {text}");
        }
        assert_eq!(spell(&[255; 32]), "z".repeat(16));
    }

    #[test]
    fn nothing_else_is_a_handle() {
        for bad in
            ["", "img_", "img_0123456789abcde", "img_0123456789abcdef0", "img_0123456789abcdeI"]
        {
            assert_eq!(bad.parse::<Handle>(), Err(NotAHandle), "{bad}");
        }
        assert!("img_0123456789abcdef".parse::<Handle>().is_ok());
    }
}
