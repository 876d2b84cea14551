//! The keys and headers that an upstream gets: those of the caller, or its own.

use std::borrow::Cow;

use http::HeaderMap;
use http::header::{AUTHORIZATION, COOKIE, HeaderName};
use photic::Wire;

use super::secret::Secret;
use crate::config::{ConfigError, CredentialSource, UpstreamConfig};

/// Headers that hold a key, a login or an account of a caller.
const OF_CALLER: [HeaderName; 12] = [
    AUTHORIZATION,
    COOKIE,
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("x-goog-api-key"),
    HeaderName::from_static("api-key"),
    HeaderName::from_static("openai-organization"),
    HeaderName::from_static("openai-project"),
    HeaderName::from_static("chatgpt-account-id"),
    HeaderName::from_static("x-goog-user-project"),
    HeaderName::from_static("x-amz-date"),
    HeaderName::from_static("x-amz-security-token"),
    HeaderName::from_static("x-amz-content-sha256"),
];
/// The first of these that hold the key itself.
const KEYS: usize = 5;
/// Parameters of the query that hold a key or a part of a signature.
const IN_QUERY: [&str; 4] = ["key", "api-key", "api_key", "access_token"];
const SIGNATURE_IN_QUERY: &str = "x-amz-";

/// The credentials of an upstream for which some are configured.
#[derive(Debug)]
pub(super) struct Credentials {
    /// Set if nothing of the caller is passed on.
    is_own: bool,
    key: Option<Secret>,
    headers: Vec<(HeaderName, Secret)>,
}

impl Credentials {
    /// Returns the credentials of an upstream, or `None` if none are configured: the key of the caller
    /// is then passed on.
    pub(super) fn new(config: &UpstreamConfig) -> Result<Option<Box<Self>>, ConfigError> {
        if config.key.is_none() && config.headers.is_empty() && config.credentials.is_none() {
            return Ok(None);
        }
        let key = config.key.as_ref().map(|key| Secret::new(key, "upstream.key")).transpose()?;
        let mut headers = Vec::with_capacity(config.headers.len());
        for (name, value) in &config.headers {
            let setting = format!("upstream.headers.{name}");
            let value = Secret::new(value, &setting)?;
            let name = HeaderName::try_from(name.as_str()).map_err(|_| {
                let problem = "it is not the name of a header".to_owned();
                ConfigError::Value { key: setting, problem }
            })?;
            headers.push((name, value));
        }
        let has_key =
            key.is_some() || headers.iter().any(|(name, _)| OF_CALLER[..KEYS].contains(name));
        if key.is_some() && config.credentials == Some(CredentialSource::Passthrough) {
            let problem = "`passthrough` and `key` exclude each other; remove one".to_owned();
            return Err(ConfigError::Value { key: "upstream.credentials".to_owned(), problem });
        }
        let is_own = match config.credentials {
            None => has_key,
            Some(source) => source == CredentialSource::Own,
        };
        Ok(Some(Box::new(Self { is_own, key, headers })))
    }

    /// Returns `true` if nothing of the caller is passed on.
    pub(super) const fn is_own(&self) -> bool {
        self.is_own
    }

    /// Sets the credentials in the headers of a request of a wire.
    pub(super) fn set(&self, headers: &mut HeaderMap, wire: Wire) {
        if self.is_own {
            remove_of_caller(headers);
        }
        if let Some(key) = &self.key {
            let (name, before) = wire.key_header();
            if let Some(value) = key.header(before) {
                headers.insert(name, value);
            }
        }
        for (name, value) in &self.headers {
            if let Some(value) = value.header("") {
                headers.insert(name, value);
            }
        }
    }

    /// Returns a query without keys of the caller, unless they are passed on.
    pub(super) fn query<'q>(&self, query: Option<&'q str>) -> Option<Cow<'q, str>> {
        let query = query?;
        let is_secret = |pair: &&str| {
            let name = pair.split_once('=').map_or(*pair, |(name, _)| name).to_ascii_lowercase();
            IN_QUERY.contains(&name.as_str()) || name.starts_with(SIGNATURE_IN_QUERY)
        };
        if !self.is_own || !query.split('&').any(|pair| is_secret(&pair)) {
            return Some(Cow::Borrowed(query));
        }
        let rest: Vec<&str> = query.split('&').filter(|pair| !is_secret(pair)).collect();
        (!rest.is_empty()).then(|| Cow::Owned(rest.join("&")))
    }
}

/// Removes the keys, logins and accounts of a caller.
pub(super) fn remove_of_caller(headers: &mut HeaderMap) {
    for name in &OF_CALLER {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn credentials(settings: &str) -> Result<Option<Box<Credentials>>, ConfigError> {
        let config = Config::parse(&format!("[[upstream]]\nurl = 'http://h'\n{settings}")).unwrap();
        Credentials::new(&config.upstream[0])
    }

    fn sent(settings: &str, wire: Wire) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for name in ["authorization", "x-api-key", "cookie", "openai-project", "x-other"] {
            headers.insert(name, "of-caller".parse().unwrap());
        }
        credentials(settings).unwrap().unwrap().set(&mut headers, wire);
        headers
    }

    #[test]
    fn an_own_key_replaces_everything_of_the_caller() {
        for (wire, name, value) in [
            (Wire::OpenAiChat, "authorization", "Bearer k"),
            (Wire::Anthropic, "x-api-key", "k"),
            (Wire::Gemini, "x-goog-api-key", "k"),
        ] {
            let headers = sent("key = 'k'", wire);
            assert_eq!(headers.len(), 2, "{headers:?}");
            assert_eq!(headers[name].as_bytes(), value.as_bytes());
            assert_eq!(headers["x-other"].as_bytes(), b"of-caller");
            assert!(headers[name].is_sensitive());
        }
        let azure = sent("headers = { api-key = 'k', x-team = 't' }", Wire::OpenAiChat);
        assert_eq!(azure.len(), 3);
        assert_eq!(
            (azure["api-key"].as_bytes(), azure["x-team"].as_bytes()),
            (&b"k"[..], &b"t"[..])
        );
        assert_eq!(sent("credentials = 'own'", Wire::OpenAiChat).len(), 1);
    }

    #[test]
    fn a_header_that_is_no_key_leaves_that_of_the_caller() {
        for settings in ["headers = { x-team = 't' }", "credentials = 'passthrough'"] {
            let headers = sent(settings, Wire::OpenAiChat);
            assert_eq!(headers["authorization"], "of-caller", "{settings}");
        }
    }

    #[test]
    fn keys_in_the_query_stay_behind() {
        let own = credentials("key = 'k'").unwrap().unwrap();
        for (query, rest) in [
            ("alt=sse&key=x", Some("alt=sse")),
            ("key=x", None),
            ("api-version=1&api-key=x", Some("api-version=1")),
            ("X-Amz-Signature=x&a=b&access_token=y", Some("a=b")),
            ("keys=1", Some("keys=1")),
        ] {
            assert_eq!(own.query(Some(query)).as_deref(), rest, "{query}");
        }
        let passed = credentials("credentials = 'passthrough'").unwrap().unwrap();
        assert_eq!(passed.query(Some("key=x")).as_deref(), Some("key=x"));
    }

    #[test]
    fn contradictions_are_refused() {
        let says = credentials("key = 'k'\ncredentials = 'passthrough'").unwrap_err().to_string();
        assert!(says.contains("exclude each other"), "{says}");
        let says = credentials("headers = { 'no name' = 'k' }").unwrap_err().to_string();
        assert!(says.contains("not the name of a header"), "{says}");
        assert!(credentials("").unwrap().is_none());
    }
}
