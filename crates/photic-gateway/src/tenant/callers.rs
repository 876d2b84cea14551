//! Identifies the caller of a request by its tenant key.
//!
//! Keys of providers are not tenant keys: they pass through. If no tenant keys are required, all
//! callers are the same tenant.

use std::sync::Arc;

use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use http::uri::PathAndQuery;
use http::{Request, Uri};
use photic_store::Tenant;

use super::identity::Identity;
use super::limits::CallerLimits;
use crate::future::BoxFuture;
use crate::http::headers::TENANT_KEY;
use crate::http::{Failure, TokenProblem};

/// The caller of a request.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// The tenant.
    pub(crate) tenant: Tenant,
    /// The id of the tenant key in the request.
    pub(crate) key: Option<String>,
    /// The owner of its lessons and of its cached images.
    pub(crate) identity: Identity,
    /// Its name and limits, if it is known by them.
    pub(crate) named: Option<NamedCaller>,
}

/// A caller that is known by name, with its limits.
#[derive(Clone, Debug)]
pub(crate) struct NamedCaller {
    pub(crate) name: Arc<str>,
    pub(crate) limits: Arc<CallerLimits>,
}

/// The headers in which clients send the key of a provider.
const CLIENT_KEYS: [HeaderName; 4] = [
    AUTHORIZATION,
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("api-key"),
    HeaderName::from_static("x-goog-api-key"),
];

/// The places in which a request may show the key of a tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyPlace {
    /// Only in the header `x-photic-key`: `authorization` holds the key of a provider.
    OwnHeader,
    /// In `x-photic-key` or as bearer token, on paths of the gateway itself.
    OwnHeaderOrBearer,
}

/// Identifies the callers of requests.
#[derive(Debug, Default)]
pub(crate) struct Callers {
    /// Set if keys are required.
    keys: Option<Box<dyn KeyRing>>,
}

/// The keys of tenants or of callers.
pub(crate) trait KeyRing: std::fmt::Debug + Send + Sync {
    /// Finds the owner of a key.
    fn find<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<KeyOwner>, KeyError>>;

    /// Returns `true` if clients may send these keys where they send those of providers.
    fn replaces_client_keys(&self) -> bool {
        false
    }

    /// Returns the failure of a request without a key that has an owner.
    fn missing(&self) -> Failure {
        Failure::NoKey
    }
}

/// The owner of a key.
#[derive(Clone, Debug)]
pub(crate) struct KeyOwner {
    pub(crate) tenant: Tenant,
    /// The public name of the key, for the audit.
    pub(crate) key: Option<String>,
    /// The owner of lessons and cached images.
    pub(crate) identity: Identity,
    /// The name and the limits of a caller, if it has some of its own.
    pub(crate) named: Option<NamedCaller>,
}

/// The reason for which the owner of a key is not known.
#[derive(Debug)]
pub(crate) enum KeyError {
    /// Keys cannot be looked up at the moment.
    Away,
    /// The key is a token that is refused.
    Token(TokenProblem),
}

impl Callers {
    /// Requires a tenant key in every request.
    pub(crate) fn by_key(keys: Box<dyn KeyRing>) -> Self {
        Self { keys: Some(keys) }
    }

    /// Returns `true` if requests must carry a tenant key.
    pub(crate) const fn requires_keys(&self) -> bool {
        self.keys.is_some()
    }

    /// Returns the caller of a request.
    ///
    /// # Errors
    ///
    /// Fails if a tenant key is required and the request has no valid one, or if the database is
    /// unavailable.
    pub(crate) async fn caller(
        &self,
        headers: &HeaderMap,
        query: Option<&str>,
        key_place: KeyPlace,
    ) -> Result<Caller, Failure> {
        let Some(keys) = &self.keys else {
            let identity = Identity::of(headers, query);
            return Ok(Caller { tenant: Tenant::local(), key: None, identity, named: None });
        };
        let bearer =
            headers.get(AUTHORIZATION).filter(|_| key_place == KeyPlace::OwnHeaderOrBearer);
        let bearer = bearer.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        let key = headers.get(TENANT_KEY).and_then(|value| value.to_str().ok());
        let key = key.or(bearer).ok_or_else(|| keys.missing())?;
        let owner = keys.find(key).await.map_err(|error| match error {
            KeyError::Away => Failure::KeysAway,
            KeyError::Token(problem) => Failure::Token(problem),
        })?;
        let KeyOwner { tenant, key, identity, named } = owner.ok_or_else(|| keys.missing())?;
        Ok(Caller { tenant, key, identity, named })
    }

    /// Moves the key of a caller to the header `x-photic-key`, which no upstream gets, if the client
    /// sent it where it sends the key of a provider. A client that sends both keeps the other one.
    pub(crate) fn move_key<B>(&self, request: &mut Request<B>) {
        let Some(keys) = &self.keys else { return };
        if !keys.replaces_client_keys() || request.headers().contains_key(TENANT_KEY) {
            return;
        }
        for name in &CLIENT_KEYS {
            let Some(value) = request.headers_mut().remove(name) else { continue };
            let key = match value.to_str().ok() {
                Some(text) if *name == AUTHORIZATION => text.strip_prefix("Bearer ").map(str::trim),
                other => other,
            };
            if let Some(Ok(key)) = key.map(HeaderValue::from_str) {
                return insert_key(request.headers_mut(), key);
            }
        }
        if let Some((key, rest)) = request.uri().query().and_then(without_key)
            && let Ok(key) = HeaderValue::from_str(&key)
            && let Some(uri) = with_query(request.uri(), &rest)
        {
            *request.uri_mut() = uri;
            insert_key(request.headers_mut(), key);
        }
    }
}

fn insert_key(headers: &mut HeaderMap, mut key: HeaderValue) {
    key.set_sensitive(true);
    headers.insert(TENANT_KEY, key);
}

/// Returns the key in a query, which Gemini's clients use, and the query without it.
fn without_key(query: &str) -> Option<(String, String)> {
    let key = query.split('&').find_map(|pair| pair.strip_prefix("key="))?;
    let rest: Vec<&str> = query.split('&').filter(|pair| !pair.starts_with("key=")).collect();
    Some((key.to_owned(), rest.join("&")))
}

fn with_query(uri: &Uri, query: &str) -> Option<Uri> {
    let mut parts = uri.clone().into_parts();
    let path = match query {
        "" => uri.path().parse::<PathAndQuery>(),
        query => format!("{}?{query}", uri.path()).parse(),
    };
    parts.path_and_query = Some(path.ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct NoKeys;

    impl KeyRing for NoKeys {
        fn find<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Option<KeyOwner>, KeyError>> {
            Box::pin(async { Ok(None) })
        }

        fn replaces_client_keys(&self) -> bool {
            true
        }
    }

    #[test]
    fn a_key_of_ours_is_moved_to_where_no_upstream_sees_it() {
        let callers = Callers::by_key(Box::new(NoKeys));
        for (name, value, uri, left) in [
            ("authorization", "Bearer k", "/v1/messages?beta=true", "/v1/messages?beta=true"),
            ("x-api-key", "k", "/v1/messages", "/v1/messages"),
            ("api-key", "k", "/o?api-version=1", "/o?api-version=1"),
            ("x-goog-api-key", "k", "/m", "/m"),
            ("accept", "*/*", "/m?alt=sse&key=k&x=1", "/m?alt=sse&x=1"),
            ("accept", "*/*", "/m?key=k", "/m"),
        ] {
            let mut request = Request::builder().uri(uri).header(name, value).body(()).unwrap();
            callers.move_key(&mut request);
            assert_eq!(request.headers()[TENANT_KEY], "k", "{name} {uri}");
            assert!(name == "accept" || !request.headers().contains_key(name), "{name}");
            assert_eq!(request.uri().to_string(), left);
        }
        // The key of a provider stays if the caller shows its own beside it.
        let request = Request::builder().header("x-photic-key", "k").header("x-api-key", "theirs");
        let mut request = request.body(()).unwrap();
        callers.move_key(&mut request);
        assert_eq!(request.headers()["x-api-key"], "theirs");
        // A gateway without callers changes nothing.
        let mut request = Request::builder().header("x-api-key", "theirs").body(()).unwrap();
        Callers::default().move_key(&mut request);
        assert!(!request.headers().contains_key(TENANT_KEY));
    }
}
