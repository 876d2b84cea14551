//! Path prefixes with a secret token: a gateway that only answers clients that know the token.

use std::fmt;
use std::sync::Arc;

use super::family::Family;

/// The prefixes that request paths must begin with: `/<token>/<family>`, or `/<token>/<name>` for
/// upstreams that have this name as their prefix.
///
/// Requests without the token are refused. A request of one family never reaches an upstream of
/// another, and one behind a name never reaches an upstream without it, except by its model or by
/// a flag.
#[derive(Clone, PartialEq, Eq)]
pub struct PathPrefixes {
    /// Digest of the token. Comparing digests takes the same time wherever they differ.
    digest: blake3::Hash,
    length: usize,
    names: Vec<Arc<str>>,
}

/// The part of a prefix after the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Prefix {
    /// Wires of one family.
    Family(Family),
    /// The upstream with this prefix.
    Named(NamedPrefix),
}

/// The name of a prefix. It travels with the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedPrefix(pub(crate) Arc<str>);

impl PathPrefixes {
    /// Creates prefixes with this token.
    pub fn new(token: &str) -> Self {
        Self { digest: blake3::hash(token.as_bytes()), length: token.len(), names: Vec::new() }
    }

    /// Adds a name that paths may have instead of a family. Names of families keep their meaning.
    #[must_use]
    pub fn with_name(mut self, name: &str) -> Self {
        self.names.push(name.into());
        self
    }

    /// Splits a path into the rest and its prefix. Returns `None` if token or prefix are wrong.
    pub(crate) fn strip<'p>(&self, path: &'p str) -> Option<(&'p str, Prefix)> {
        let rest = path.strip_prefix('/')?;
        let (token, rest) = (rest.get(..self.length)?, rest.get(self.length..)?);
        let is_known = blake3::hash(token.as_bytes()) == self.digest;
        let rest = rest.strip_prefix('/').filter(|_| is_known)?;
        let word = rest.split('/').next().unwrap_or_default();
        let named = || self.names.iter().find(|name| ***name == *word).cloned();
        let prefix = match Family::from_name(word) {
            Some(family) => Prefix::Family(family),
            None => Prefix::Named(NamedPrefix(named()?)),
        };
        Some((&rest[word.len()..], prefix))
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
            let family = Prefix::Family(Family::OPENAI);
            assert_eq!(prefixes.strip(path), rest.map(|rest| (rest, family)), "{path}");
        }
        assert!(!format!("{prefixes:?}").contains("secret"));
    }

    #[test]
    fn names_are_prefixes_once_they_are_added() {
        let path = "/secret/azure/openai/v1/responses";
        assert_eq!(PathPrefixes::new("secret").strip(path), None);
        let prefixes = PathPrefixes::new("secret").with_name("azure").with_name("openai");
        let named = Prefix::Named(NamedPrefix("azure".into()));
        assert_eq!(prefixes.strip(path), Some(("/openai/v1/responses", named)));
        let family = Prefix::Family(Family::OPENAI);
        assert_eq!(prefixes.strip("/secret/openai/x"), Some(("/x", family)));
        assert_eq!(prefixes.strip("/secret/azur/x"), None);
    }
}
