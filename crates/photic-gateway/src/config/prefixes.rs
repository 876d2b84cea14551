//! Path prefixes with a secret token: a gateway that only answers clients that know the token.

use std::fmt;

use super::family::Family;

/// The prefixes that request paths must begin with, `/<token>/<family>`.
///
/// Requests without the token are refused. A request of one family never reaches an upstream of
/// another.
#[derive(Clone, PartialEq, Eq)]
pub struct PathPrefixes {
    /// Digest of the token. Comparing digests takes the same time wherever they differ.
    digest: blake3::Hash,
    length: usize,
}

impl PathPrefixes {
    /// Creates prefixes with this token.
    pub fn new(token: &str) -> Self {
        Self { digest: blake3::hash(token.as_bytes()), length: token.len() }
    }

    /// Splits a path into its family and the rest. Returns `None` if token or family are wrong.
    pub(crate) fn strip<'p>(&self, path: &'p str) -> Option<(&'p str, Family)> {
        let rest = path.strip_prefix('/')?;
        let (token, rest) = (rest.get(..self.length)?, rest.get(self.length..)?);
        let is_known = blake3::hash(token.as_bytes()) == self.digest;
        let rest = rest.strip_prefix('/').filter(|_| is_known)?;
        let family = rest.split('/').next().unwrap_or_default();
        Some((&rest[family.len()..], Family::from_name(family)?))
    }
}

/// Does not print the token.
impl fmt::Debug for PathPrefixes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PathPrefixes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_knows_the_token_gets_past_it() {
        let prefixes = PathPrefixes::new("secret");
        for (path, rest) in [
            ("/secret/openai/v1/models", Some("/v1/models")),
            ("/secret/openai/", Some("/")),
            ("/secret/openai", Some("")),
            ("/secret/openai.evil/v1", None),
            ("/secret/v1/models", None),
            ("/secreT/openai/v1/models", None),
            ("/secret", None),
            ("/v1/models", None),
            ("/", None),
            ("", None),
            ("/sécret/openai/v1", None),
        ] {
            assert_eq!(prefixes.strip(path), rest.map(|rest| (rest, Family::OPENAI)), "{path}");
        }
        assert!(!format!("{prefixes:?}").contains("secret"));
    }
}
