//! The identity of a caller. It separates the lessons and cached images of one caller from those of
//! others.

use std::fmt;
use std::str::FromStr;

use http::HeaderMap;
use http::header::AUTHORIZATION;
use photic_store::Tenant;
use serde::{Deserialize, Serialize};

/// Headers that may hold the key of a provider, in the order of their precedence.
const KEYS: [&str; 4] = ["authorization", "x-api-key", "x-goog-api-key", "api-key"];
/// The context of the digest, so that digests for other purposes differ.
const PURPOSE: &str = "photic 2026-11-18 the identity of a caller by its key";

/// The identity of a caller.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
#[non_exhaustive]
pub enum Identity {
    /// The operator of the gateway.
    Operator,
    /// A tenant, by any of its keys.
    Tenant(Tenant),
    /// The owner of a key of a provider: a digest of the key, never the key itself.
    Key([u8; 16]),
    /// A caller without any key. All such callers have this one identity.
    #[default]
    Nobody,
}

impl Identity {
    /// Returns the identity of a request's caller, by the key of a provider in its headers or query.
    pub(crate) fn of(headers: &HeaderMap, query: Option<&str>) -> Self {
        match Self::of_headers(headers) {
            Self::Nobody => query.map_or(Self::Nobody, Self::of_query),
            known => known,
        }
    }

    fn of_headers(headers: &HeaderMap) -> Self {
        let found = KEYS.iter().find_map(|name| headers.get(*name));
        let Some(key) = found else { return Self::Nobody };
        if headers.get(AUTHORIZATION).is_some_and(|value| value == key)
            && let Some(signer) = signer(key.as_bytes())
        {
            return Self::of_key(signer);
        }
        Self::of_key(key.as_bytes())
    }

    /// Returns the identity by the key in the query, which Gemini accepts.
    fn of_query(query: &str) -> Self {
        let key = query.split('&').find_map(|pair| pair.strip_prefix("key="));
        key.map_or(Self::Nobody, |key| Self::of_key(key.as_bytes()))
    }

    fn of_key(key: &[u8]) -> Self {
        let mut digest = [0; 16];
        blake3::Hasher::new_derive_key(PURPOSE).update(key).finalize_xof().fill(&mut digest);
        Self::Key(digest)
    }

    /// Returns a digest that differs from that of every other identity.
    pub(crate) fn digest(&self) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        match self {
            Self::Operator => hasher.update(b"o"),
            Self::Tenant(tenant) => {
                let name = tenant.as_str().as_bytes();
                hasher.update(b"t").update(&(name.len() as u64).to_le_bytes()).update(name)
            }
            Self::Key(digest) => hasher.update(b"k").update(digest),
            Self::Nobody => hasher.update(b"n"),
        };
        hasher.finalize()
    }
}

/// Returns the id of the key that a request was signed with. The signature itself differs in every
/// request.
fn signer(value: &[u8]) -> Option<&[u8]> {
    let rest = value.strip_prefix(b"AWS4-HMAC-SHA256 ")?;
    let at = rest.windows(11).position(|here| here == b"Credential=")? + 11;
    rest[at..].split(|byte| matches!(byte, b'/' | b',')).next()
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operator => f.write_str("operator"),
            Self::Tenant(tenant) => write!(f, "tenant:{}", tenant.as_str()),
            Self::Key(digest) => write!(f, "key:{:032x}", u128::from_be_bytes(*digest)),
            Self::Nobody => f.write_str("nobody"),
        }
    }
}

/// The error of parsing an [`Identity`].
#[derive(Debug, thiserror::Error)]
#[error(
    "invalid identity; use `operator`, `tenant:NAME`, `key:` with 32 hexadecimal digits, or `nobody`"
)]
pub struct NoIdentity;

impl FromStr for Identity {
    type Err = NoIdentity;

    fn from_str(text: &str) -> Result<Self, NoIdentity> {
        match text.split_once(':') {
            None if text == "operator" => Ok(Self::Operator),
            None if text == "nobody" => Ok(Self::Nobody),
            Some(("tenant", name)) => Ok(Self::Tenant(Tenant::new(name))),
            Some(("key", digits)) if digits.len() == 32 => u128::from_str_radix(digits, 16)
                .map(|digest| Self::Key(digest.to_be_bytes()))
                .map_err(|_| NoIdentity),
            _ => Err(NoIdentity),
        }
    }
}

impl From<Identity> for String {
    fn from(identity: Identity) -> Self {
        identity.to_string()
    }
}

impl TryFrom<String> for Identity {
    type Error = NoIdentity;

    fn try_from(text: String) -> Result<Self, NoIdentity> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn of(name: &'static str, value: &'static str) -> Identity {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_static(value));
        Identity::of_headers(&headers)
    }

    #[test]
    fn callers_are_told_apart_by_their_keys() {
        let one = of("authorization", "Bearer sk-1");
        assert_eq!(one, of("authorization", "Bearer sk-1"));
        assert_ne!(one, of("authorization", "Bearer sk-2"));
        assert_ne!(of("x-api-key", "a"), of("x-api-key", "b"));
        assert_eq!(of("user-agent", "curl"), Identity::Nobody);
        assert_ne!(Identity::of_query("alt=sse&key=a"), Identity::of_query("key=b"));
        assert_eq!(Identity::of_query("alt=sse"), Identity::Nobody);
        // Each request of one signer has another signature.
        let signed = "AWS4-HMAC-SHA256 Credential=AKIA/20261118/x, Signature=1";
        let again = "AWS4-HMAC-SHA256 Credential=AKIA/20261119/x, Signature=2";
        assert_eq!(of("authorization", signed), of("authorization", again));
    }

    #[test]
    fn a_name_says_who_and_never_the_key() {
        let key = of("authorization", "Bearer sk-secret");
        assert!(!key.to_string().contains("secret"));
        for one in [key, Identity::Operator, Identity::Nobody, Identity::Tenant(Tenant::new("a:b"))]
        {
            assert_eq!(one.to_string().parse::<Identity>().unwrap(), one);
        }
        assert!("key:1".parse::<Identity>().is_err() && "x".parse::<Identity>().is_err());
    }
}
