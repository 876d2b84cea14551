//! Recognizes the provider that issued a request's key, by headers, parameters and key prefixes.
//!
//! They are data (`data/keys.toml`), with the day on which they were looked up.

use std::collections::BTreeMap;

use http::HeaderMap;
use http::header::{AUTHORIZATION, COOKIE};
use serde::Deserialize;

use crate::config::ConfigError;
use crate::config::Family;

/// The beginning of keys of many issuers.
const AMBIGUOUS: &str = "sk-";

/// Headers, parameters, key prefixes and authorization schemes of every family.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyShapes {
    headers: BTreeMap<String, String>,
    query: BTreeMap<String, String>,
    keys: BTreeMap<String, String>,
    schemes: BTreeMap<String, String>,
}

/// The issuer of a request's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyIssuer {
    /// The request has no key.
    NoKey,
    /// All keys are of this family.
    Family(Family),
    /// The key has no known prefix.
    Unknown,
    /// The key is of a provider without a default upstream, or there are keys of several providers.
    Foreign,
}

impl KeyShapes {
    /// Loads the built-in data.
    pub(crate) fn load() -> Result<Self, ConfigError> {
        toml::from_str(include_str!("../../data/keys.toml"))
            .map_err(|error| ConfigError::Toml(error.to_string()))
    }

    /// Returns the issuer of the keys in the headers and the query of a request.
    pub(crate) fn owner(&self, headers: &HeaderMap, query: Option<&str>) -> KeyIssuer {
        let mut owner = KeyIssuer::NoKey;
        for (name, value) in headers {
            if let Some(family) = self.headers.get(name.as_str()) {
                owner = owner.and(named(family));
                // The header names one family, but the key in it may be of another.
                if name.as_str().ends_with("key")
                    && let Some(family) = value.to_str().ok().and_then(|key| self.shape(key))
                {
                    owner = owner.and(named(family));
                }
            } else if name == AUTHORIZATION {
                owner = owner.and(value.to_str().map_or(KeyIssuer::Unknown, |it| self.bearer(it)));
            } else if name == COOKIE {
                owner = owner.and(KeyIssuer::Unknown);
            }
        }
        for pair in query.into_iter().flat_map(|query| query.split('&')) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if let Some(family) = self.query.get(name) {
                owner = owner.and(named(self.shape(value).unwrap_or(family)));
            }
        }
        owner
    }

    fn bearer(&self, value: &str) -> KeyIssuer {
        let (scheme, key) = value.trim().split_once(' ').unwrap_or(("", value));
        let family = self.schemes.get(scheme).map(String::as_str);
        family.or_else(|| self.shape(key.trim())).map_or(KeyIssuer::Unknown, named)
    }

    /// Returns the family that certainly issued a key. Local servers and proxies have keys that begin
    /// with `sk-`, too.
    pub(crate) fn certain_issuer(&self, key: &str) -> Option<Family> {
        if self.keys.keys().all(|start| start == AMBIGUOUS || !key.starts_with(start.as_str())) {
            return None;
        }
        Family::from_name(self.shape(key)?)
    }

    /// Returns the family whose keys begin like this one.
    fn shape(&self, key: &str) -> Option<&str> {
        let fitting = self.keys.iter().filter(|(start, _)| key.starts_with(start.as_str()));
        fitting.max_by_key(|(start, _)| start.len()).map(|(_, family)| family.as_str())
    }
}

impl KeyIssuer {
    /// Combines the issuers that two parts of a request indicate.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            _ if self == other || other == Self::NoKey => self,
            (Self::NoKey | Self::Unknown, _) => other,
            (_, Self::Unknown) => self,
            _ => Self::Foreign,
        }
    }
}

fn named(family: &str) -> KeyIssuer {
    Family::from_name(family).map_or(KeyIssuer::Foreign, KeyIssuer::Family)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(headers: &[(&'static str, &'static str)], query: Option<&str>) -> KeyIssuer {
        let headers = headers.iter().map(|(name, value)| {
            (http::HeaderName::from_static(name), http::HeaderValue::from_static(value))
        });
        KeyShapes::load().unwrap().owner(&headers.collect(), query)
    }

    #[test]
    fn a_usual_beginning_is_not_certain() {
        let shapes = KeyShapes::load().unwrap();
        for (key, issuer) in [
            ("sk-ant-api03-x", Some(Family::ANTHROPIC)),
            ("sk-proj-x", Some(Family::OPENAI)),
            ("AIzaSy", Some(Family::GOOGLE)),
            ("sk-1234", None),
            ("sk-or-v1-x", None),
            ("anything", None),
        ] {
            assert_eq!(shapes.certain_issuer(key), issuer, "{key}");
        }
    }

    #[test]
    fn keys_tell_who_issued_them() {
        let [amazon, anthropic, google, openai] =
            [Family::AMAZON, Family::ANTHROPIC, Family::GOOGLE, Family::OPENAI];
        for (name, value, expected) in [
            ("authorization", "Bearer sk-proj-x", KeyIssuer::Family(openai)),
            ("authorization", "Bearer sk-ant-oat01-x", KeyIssuer::Family(anthropic)),
            ("authorization", "bearer AIzaSy", KeyIssuer::Family(google)),
            ("authorization", "Bearer ABSKx", KeyIssuer::Family(amazon)),
            ("authorization", "AWS4-HMAC-SHA256 Credential=x", KeyIssuer::Family(amazon)),
            ("authorization", "Bearer something", KeyIssuer::Unknown),
            ("authorization", "Bearer sk-or-v1-x", KeyIssuer::Foreign),
            ("x-api-key", "anything", KeyIssuer::Family(anthropic)),
            ("x-api-key", "sk-proj-x", KeyIssuer::Foreign),
            ("x-goog-api-key", "anything", KeyIssuer::Family(google)),
            ("anthropic-version", "2023-06-01", KeyIssuer::Family(anthropic)),
            ("api-key", "azure", KeyIssuer::Foreign),
            ("accept", "sk-ant-x", KeyIssuer::NoKey),
        ] {
            assert_eq!(owner(&[(name, value)], None), expected, "{name}: {value}");
        }
        assert_eq!(owner(&[], Some("alt=sse&key=x")), KeyIssuer::Family(google));
        assert_eq!(owner(&[], Some("key=sk-ant-x")), KeyIssuer::Family(anthropic));
        let both = [("x-goog-api-key", "x"), ("authorization", "Bearer sk-proj-x")];
        assert_eq!(owner(&both, None), KeyIssuer::Foreign);
        let named = [("anthropic-version", "x"), ("authorization", "Bearer token")];
        assert_eq!(owner(&named, None), KeyIssuer::Family(anthropic));
    }
}
