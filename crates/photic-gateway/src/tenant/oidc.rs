//! Callers that show a token which an identity provider signed (OIDC).
//!
//! The keys of the issuer are fetched at the start, when they are old, and when a token names a key
//! that is not known. How often is bounded, because anybody can make up a name.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use http::{Request, Uri};
use http_body_util::{BodyExt as _, Limited};
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use photic_net::{Client, Outgoing, Timeouts};
use serde_json::Value;

use super::limits::{CallerEntry, CallerLimits, digest, is_name};
use crate::config::{ConfigError, OidcConfig};
use crate::http::TokenProblem;

/// Maximum size of a document of the issuer.
const MAX_DOCUMENT: usize = 1 << 20;
/// Time for a document of the issuer.
const FETCH_TIMEOUT: Duration = Duration::from_secs(10);
/// Number of times that the keys may be fetched at once.
const MAX_FETCHES: f64 = 4.0;
/// Time after which the keys may be fetched once more.
const FETCH_INTERVAL: Duration = Duration::from_secs(30);
/// Number of tokens whose check is remembered.
const MAX_CHECKED: usize = 4096;
/// Difference of clocks that is tolerated, in seconds.
const LEEWAY: u64 = 30;
/// The algorithms that tokens may be signed with. A shared secret is none: its owner could make tokens.
const ALGORITHMS: [(&str, Algorithm); 9] = [
    ("RS256", Algorithm::RS256),
    ("RS384", Algorithm::RS384),
    ("RS512", Algorithm::RS512),
    ("PS256", Algorithm::PS256),
    ("PS384", Algorithm::PS384),
    ("PS512", Algorithm::PS512),
    ("ES256", Algorithm::ES256),
    ("ES384", Algorithm::ES384),
    ("EdDSA", Algorithm::EdDSA),
];

/// Checks tokens of one issuer.
#[derive(Debug)]
pub(crate) struct Oidc {
    settings: OidcConfig,
    issuer: String,
    algorithms: Vec<Algorithm>,
    /// The limits of every caller with a token.
    like: CallerLimits,
    client: Client,
    keys: Mutex<Keys>,
    fetching: tokio::sync::Mutex<Fetches>,
    checked: Mutex<HashMap<blake3::Hash, Checked>>,
}

/// The keys of the issuer.
#[derive(Debug, Default)]
struct Keys {
    all: Vec<Arc<SigningKey>>,
    fetched: Option<Instant>,
}

struct SigningKey {
    id: Option<String>,
    /// The only algorithm that it is for, if the issuer says so.
    algorithm: Option<String>,
    key: DecodingKey,
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKey").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Bounds how often the keys are fetched.
#[derive(Debug)]
struct Fetches {
    left: f64,
    at: Instant,
}

/// A caller that showed a valid token.
#[derive(Clone, Debug)]
pub(crate) struct TokenOwner {
    pub(crate) name: String,
    pub(crate) limits: Arc<CallerLimits>,
}

#[derive(Debug)]
struct Checked {
    owner: TokenOwner,
    /// The end of the token, in seconds since 1970.
    until: u64,
}

/// The reason for which a token names no caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenError {
    Refused(TokenProblem),
    /// The keys of the issuer were never fetched.
    Away,
}

impl Oidc {
    /// Creates the check of tokens, without keys. Returns `None` if tokens are not accepted.
    ///
    /// # Errors
    ///
    /// Fails if a setting cannot be used.
    pub(crate) fn new(
        settings: &OidcConfig,
        like: CallerLimits,
    ) -> Result<Option<Self>, ConfigError> {
        let Some(issuer) = settings.issuer() else { return Ok(None) };
        let wrong = |key: &str, problem: &str| ConfigError::Value {
            key: format!("oidc.{key}"),
            problem: problem.to_owned(),
        };
        let known = |name: &String| {
            let found = ALGORITHMS.iter().find(|(own, _)| own == name);
            found.map(|(_, algorithm)| *algorithm)
        };
        let algorithms: Option<Vec<Algorithm>> = settings.algorithms.iter().map(known).collect();
        let algorithms = algorithms.filter(|list| !list.is_empty()).ok_or_else(|| {
            let names: Vec<&str> = ALGORITHMS.iter().map(|(name, _)| *name).collect();
            wrong("algorithms", &format!("use some of {}", names.join(", ")))
        })?;
        if settings.audience.is_empty() {
            return Err(wrong("audience", "name the audience that tokens for this gateway have"));
        }
        let source = settings.jwks.as_deref().unwrap_or(issuer);
        if (settings.jwks.is_none() || source.contains("://")) && !is_safe(source) {
            let key = if settings.jwks.is_some() { "jwks" } else { "issuer" };
            return Err(wrong(
                key,
                "is no URL with `https://`; plain `http://` is for loopback only",
            ));
        }
        let timeouts =
            Timeouts { connect: FETCH_TIMEOUT, answer: FETCH_TIMEOUT, ..Timeouts::default() };
        Ok(Some(Self {
            issuer: issuer.to_owned(),
            settings: settings.clone(),
            algorithms,
            like,
            client: Client::new(timeouts),
            keys: Mutex::default(),
            fetching: tokio::sync::Mutex::new(Fetches { left: MAX_FETCHES, at: Instant::now() }),
            checked: Mutex::default(),
        }))
    }

    /// Returns `true` if it checks tokens by these settings.
    pub(crate) fn is_of(&self, settings: &OidcConfig, like: &CallerLimits) -> bool {
        self.settings == *settings && self.like == *like
    }

    /// Returns the owner of a token.
    pub(crate) async fn owner(self: &Arc<Self>, token: &str) -> Result<TokenOwner, TokenError> {
        let name = digest(token);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        if let Some(known) = lock(&self.checked).get(&name).filter(|known| known.until > now) {
            return Ok(known.owner.clone());
        }
        let refused = TokenError::Refused;
        // An algorithm that the crate does not know, such as `none`, is an error here.
        let header = decode_header(token).map_err(|error| match error.kind() {
            ErrorKind::InvalidAlgorithm
            | ErrorKind::InvalidAlgorithmName
            | ErrorKind::UnsupportedAlgorithm
            | ErrorKind::MissingAlgorithm
            | ErrorKind::Json(_) => refused(TokenProblem::Algorithm),
            _ => refused(TokenProblem::Unreadable),
        })?;
        if !self.algorithms.contains(&header.alg) {
            return Err(refused(TokenProblem::Algorithm));
        }
        let key = self.key(header.kid.as_deref()).await?;
        let mut validation = Validation::new(header.alg);
        validation.leeway = LEEWAY;
        validation.validate_nbf = true;
        validation.set_issuer(&[&self.issuer]);
        validation.set_audience(&[&self.settings.audience]);
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        let name_of = |known: &&(&str, Algorithm)| known.1 == header.alg;
        let algorithm = ALGORITHMS.iter().find(name_of).map(|(name, _)| *name);
        let is_for = |key: &&Arc<SigningKey>| {
            key.algorithm.is_none() || key.algorithm.as_deref() == algorithm
        };
        let key = key.iter().filter(is_for);
        let claims = key.map(|key| decode::<Value>(token, &key.key, &validation));
        // Without a name of its key, a token may be signed by any of them.
        let mut problem = refused(TokenProblem::Forged);
        for claims in claims {
            match claims {
                Ok(token) => {
                    let owner = self.named(&token.claims)?;
                    let until = token.claims["exp"].as_f64().unwrap_or_default() as u64;
                    self.remember(name, Checked { owner: owner.clone(), until });
                    return Ok(owner);
                }
                Err(error) => problem = refused(problem_of(error.kind())),
            }
        }
        Err(problem)
    }

    /// Returns the caller and the limits that the claims of a token name.
    fn named(&self, claims: &Value) -> Result<TokenOwner, TokenError> {
        let unreadable = TokenError::Refused(TokenProblem::Unreadable);
        let name = claims[&self.settings.name_claim].as_str().filter(|name| is_name(name));
        let name = name.ok_or(unreadable)?.to_owned();
        let stated = self.settings.limits_claim.as_ref().map(|claim| &claims[claim]);
        let limits = match stated.filter(|stated| !stated.is_null()) {
            None => self.like.clone(),
            Some(stated) => {
                let entry = serde_json::from_value::<CallerEntry>(stated.clone());
                let limits = entry.ok().and_then(|entry| entry.limits(&self.like).ok());
                limits.ok_or(unreadable)?
            }
        };
        Ok(TokenOwner { name, limits: Arc::new(limits) })
    }

    fn remember(&self, name: blake3::Hash, checked: Checked) {
        let mut all = lock(&self.checked);
        if all.len() >= MAX_CHECKED {
            all.clear();
        }
        all.insert(name, checked);
    }

    /// Returns the keys that may have signed a token, and fetches them if none is known.
    async fn key(self: &Arc<Self>, id: Option<&str>) -> Result<Vec<Arc<SigningKey>>, TokenError> {
        let find = |keys: &Keys| -> Vec<Arc<SigningKey>> {
            let of_id = |key: &&Arc<SigningKey>| id.is_none() || key.id.as_deref() == id;
            keys.all.iter().filter(of_id).map(Arc::clone).collect()
        };
        let (found, age) = {
            let keys = lock(&self.keys);
            (find(&keys), keys.fetched.map(|at| at.elapsed()))
        };
        let refresh = Duration::from_secs(self.settings.refresh_s.max(1).into());
        if !found.is_empty() {
            if age.is_some_and(|age| age > refresh) {
                let this = Arc::clone(self);
                tokio::spawn(async move { this.fetch(age).await });
            }
            return Ok(found);
        }
        self.fetch(age).await;
        let keys = lock(&self.keys);
        match find(&keys) {
            found if !found.is_empty() => Ok(found),
            _ if keys.fetched.is_none() => Err(TokenError::Away),
            _ => Err(TokenError::Refused(TokenProblem::Forged)),
        }
    }

    /// Fetches the keys of the issuer. Returns the problem if that fails.
    pub(crate) async fn start(&self) -> Option<String> {
        match self.load().await {
            Ok(()) => None,
            Err(problem) => Some(format!("cannot get the keys of `{}`: {problem}", self.issuer)),
        }
    }

    /// Fetches the keys of the issuer, unless that was done since they had this age, or too often.
    async fn fetch(&self, age: Option<Duration>) {
        let asked = Instant::now();
        let mut fetches = self.fetching.lock().await;
        let fetched = lock(&self.keys).fetched;
        if fetched.is_some_and(|at| at > asked || age.is_some_and(|age| at.elapsed() < age)) {
            return;
        }
        let since = fetches.at.elapsed().as_secs_f64() / FETCH_INTERVAL.as_secs_f64();
        (fetches.left, fetches.at) = ((fetches.left + since).min(MAX_FETCHES), Instant::now());
        if fetches.left < 1.0 {
            return;
        }
        fetches.left -= 1.0;
        // What fails is tried again with the next token.
        let _ = self.load().await;
    }

    async fn load(&self) -> Result<(), String> {
        let text = match &self.settings.jwks {
            Some(path) if !path.contains("://") => {
                let path = path.to_owned();
                let read = tokio::task::spawn_blocking(move || std::fs::read(path)).await;
                let read = read.map_err(|error| error.to_string())?;
                read.map_err(|error| error.to_string())?
            }
            Some(url) => self.get(url).await?,
            None => {
                let issuer = self.issuer.trim_end_matches('/');
                let found = self.get(&format!("{issuer}/.well-known/openid-configuration")).await?;
                let found: Value = serde_json::from_slice(&found).map_err(|_| "no JSON")?;
                if found["issuer"].as_str() != Some(&self.issuer) {
                    return Err("its configuration is of another issuer".to_owned());
                }
                let url = found["jwks_uri"].as_str().filter(|url| is_safe(url));
                self.get(url.ok_or("its configuration names no keys")?).await?
            }
        };
        let set: Value = serde_json::from_slice(&text).map_err(|_| "no JSON")?;
        let keys = set["keys"].as_array().ok_or("no list of keys")?;
        // A set may have keys for other purposes, and of kinds that are not known.
        let keys = keys.iter().filter_map(|key| {
            let jwk: Jwk = serde_json::from_value(key.clone()).ok()?;
            let is_for_signatures = key["use"].as_str().is_none_or(|purpose| purpose == "sig");
            let is_secret = key["kty"].as_str() == Some("oct");
            let id = jwk.common.key_id.clone();
            let algorithm = key["alg"].as_str().map(str::to_owned);
            let key = DecodingKey::from_jwk(&jwk).ok()?;
            let key = Arc::new(SigningKey { id, algorithm, key });
            (is_for_signatures && !is_secret).then_some(key)
        });
        let all: Vec<Arc<SigningKey>> = keys.collect();
        if all.is_empty() {
            return Err("no key for signatures".to_owned());
        }
        *lock(&self.keys) = Keys { all, fetched: Some(Instant::now()) };
        // A key that was withdrawn must not live on in the tokens that it signed.
        lock(&self.checked).clear();
        Ok(())
    }

    async fn get(&self, url: &str) -> Result<Vec<u8>, String> {
        let mut request = Request::new(Outgoing::empty());
        *request.uri_mut() = url.parse().map_err(|_| "invalid URL")?;
        let exchange = async {
            let reply = self.client.send(request).await.map_err(|error| error.to_string())?;
            if !reply.status().is_success() {
                return Err(format!("HTTP {}", reply.status().as_u16()));
            }
            let body = Limited::new(reply.into_body(), MAX_DOCUMENT).collect().await;
            body.map(|body| body.to_bytes().to_vec()).map_err(|error| error.to_string())
        };
        let exchange = tokio::time::timeout(FETCH_TIMEOUT, exchange).await;
        exchange.unwrap_or_else(|_| Err("no answer in time".to_owned()))
    }
}

/// Returns `true` for an address whose answer nobody on the way can change.
fn is_safe(url: &str) -> bool {
    let Ok(uri) = url.parse::<Uri>() else { return false };
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    let address = host.parse::<std::net::IpAddr>();
    let is_near = host == "localhost" || address.is_ok_and(|address| address.is_loopback());
    match uri.scheme_str() {
        Some("https") => !host.is_empty(),
        Some("http") => is_near,
        _ => false,
    }
}

fn problem_of(kind: &ErrorKind) -> TokenProblem {
    match kind {
        ErrorKind::ExpiredSignature => TokenProblem::Expired,
        ErrorKind::ImmatureSignature => TokenProblem::Early,
        ErrorKind::InvalidAudience | ErrorKind::InvalidIssuer => TokenProblem::Foreign,
        ErrorKind::InvalidSignature | ErrorKind::InvalidAlgorithm => TokenProblem::Forged,
        _ => TokenProblem::Unreadable,
    }
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_keys_are_safe() {
        for url in
            ["https://login.example", "http://127.0.0.1:1/k", "http://[::1]/k", "http://localhost"]
        {
            assert!(is_safe(url), "{url}");
        }
        for url in ["http://login.example", "ftp://localhost", "login.example", "https://", ""] {
            assert!(!is_safe(url), "{url}");
        }
    }

    #[test]
    fn settings_that_would_let_anybody_in_are_refused() {
        let issuer =
            || OidcConfig { issuer: Some("https://i".to_owned()), ..OidcConfig::default() };
        let new = |settings: &OidcConfig| Oidc::new(settings, CallerLimits::default());
        assert!(new(&OidcConfig::default()).unwrap().is_none());
        assert!(new(&issuer()).unwrap().is_some());
        for algorithm in ["none", "HS256", "rs256", ""] {
            let wrong = OidcConfig { algorithms: vec![algorithm.to_owned()], ..issuer() };
            assert!(
                new(&wrong).unwrap_err().to_string().contains("oidc.algorithms"),
                "{algorithm}"
            );
        }
        let wrong = OidcConfig { audience: String::new(), ..issuer() };
        assert!(new(&wrong).unwrap_err().to_string().contains("oidc.audience"));
        let wrong = OidcConfig { jwks: Some("http://far.example/keys".to_owned()), ..issuer() };
        assert!(new(&wrong).unwrap_err().to_string().contains("oidc.jwks"));
    }
}
