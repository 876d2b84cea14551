//! Handles: public names of blobs.
//!
//! A picture has one handle per tenant, and it never changes, so that the text of a conversation
//! stays constant. Other tenants have other handles for it. Handle and hash cannot be derived from
//! each other, because the handle is keyed with a secret of the tenant.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::blobs::BlobId;
use crate::error::Error;
use crate::letters::{LETTERS, NAME_LETTERS, spell};

/// Owner of sessions and handles.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Tenant(String);

impl Tenant {
    /// Creates a tenant from its name.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// Returns the only tenant of a local store.
    pub fn local() -> Self {
        Self::new("local")
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Name of a blob for a tenant: `img_` and 16 letters and digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle(String);

/// Secret from which the handles of a tenant are derived. It never leaves the store.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub(crate) [u8; 32]);

impl From<[u8; 32]> for Secret {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl Secret {
    /// Signs a text for a purpose. The returned hash compares in constant time.
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

impl Handle {
    /// Derives the handle of a blob from a tenant's secret.
    pub fn of(secret: &Secret, blob: &BlobId) -> Self {
        let hash = blake3::keyed_hash(&secret.0, blob.as_bytes());
        Self(format!("{PREFIX}{}", spell(hash.as_bytes())))
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Error of a text that is not a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a handle is `img_` and 16 letters and digits")]
pub struct NotAHandle;

impl FromStr for Handle {
    type Err = NotAHandle;

    fn from_str(text: &str) -> Result<Self, NotAHandle> {
        let letters = text.strip_prefix(PREFIX).ok_or(NotAHandle)?;
        let is_one =
            letters.len() == NAME_LETTERS && letters.bytes().all(|byte| LETTERS.contains(&byte));
        is_one.then(|| Self(text.to_owned())).ok_or(NotAHandle)
    }
}

/// Facts about a blob that has a handle.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Media type of its bytes.
    pub media_type: Option<String>,
    /// Width and height of a picture.
    pub size: Option<(u32, u32)>,
    /// Size in bytes.
    pub bytes: u64,
    /// Its origin, in words that may be shown.
    pub label: Option<String>,
}

/// Target of a handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuedHandle {
    /// The blob.
    pub blob: BlobId,
    /// Facts about it.
    pub facts: Facts,
    /// If true, the blob is kept even if no session refers to it.
    pub pinned: bool,
}

/// A storage of handles.
pub trait Handles: Send + Sync {
    /// Returns the secret of a tenant. Creates it at the first call.
    fn secret(&self, tenant: &Tenant) -> impl Future<Output = Result<Secret, Error>> + Send;

    /// Issues the handle of a blob. A blob that has one keeps it. The new facts replace the old
    /// ones.
    fn issue(
        &self,
        tenant: &Tenant,
        blob: &BlobId,
        facts: &Facts,
    ) -> impl Future<Output = Result<Handle, Error>> + Send;

    /// Looks up a handle of the tenant. Returns `None` if it does not exist.
    fn resolve(
        &self,
        tenant: &Tenant,
        handle: &Handle,
    ) -> impl Future<Output = Result<Option<IssuedHandle>, Error>> + Send;

    /// Keeps the blob behind a handle even if no session refers to it. Returns `true` if the handle
    /// exists.
    fn pin(
        &self,
        tenant: &Tenant,
        handle: &Handle,
    ) -> impl Future<Output = Result<bool, Error>> + Send;

    /// Undoes [`Handles::pin`]. Returns `true` if the handle exists.
    fn unpin(
        &self,
        tenant: &Tenant,
        handle: &Handle,
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
