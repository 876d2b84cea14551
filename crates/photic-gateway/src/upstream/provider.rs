//! An upstream: its URL, the requests that it serves, and the keys that it gets.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderMap, Uri};
use photic::Wire;
use photic::wire::PathParams;
use photic_net::Client;

use super::cause::{AttemptCounts, KeyOwner};
use super::credentials::{Credentials, remove_of_caller};
use super::health::Health;
use super::key_family::{KeyIssuer, KeyShapes};
use super::sign::{Signer, carries_key};
use crate::config::{ConfigError, Family, SecretText, UpstreamConfig};
use crate::http::{Endpoint, Refusal, without_version};

/// A provider or local server that requests are sent to.
#[derive(Debug)]
pub(crate) struct Upstream {
    /// Its name in settings, replies, metrics and logs.
    name: String,
    /// The name behind a slash.
    key: String,
    pub(super) scheme: Scheme,
    pub(super) authority: Authority,
    /// The path of its URL, without a final slash or version.
    pub(super) base: String,
    /// Set if its URL ends with a version, or has none by configuration.
    pub(super) versioned: bool,
    /// The version before the paths of conversations, or nothing.
    pub(super) version: &'static str,
    pub(super) wire: Option<Wire>,
    pub(super) models: Vec<String>,
    /// Globs of paths that lead here.
    pub(super) paths: Vec<String>,
    /// Set if it may have a WebSocket for Responses.
    pub(super) websocket: bool,
    /// Set if it takes precedence over upstreams that name models.
    pub(super) overrides: bool,
    /// Set if only requests behind this path prefix are sent to it.
    pub(super) prefix: Option<String>,
    /// Signs requests to Amazon Bedrock.
    signer: Option<Signer>,
    /// Set if it gets only keys that its own family may have issued.
    pub(super) issuer: Option<(Family, Arc<KeyShapes>)>,
    /// Set if credentials are configured for it.
    credentials: Option<Box<Credentials>>,
    /// Recognizes keys that another provider issued.
    pub(super) shapes: Option<Arc<KeyShapes>>,
    /// Set if its connections have settings of their own.
    pub(super) client: Option<Client>,
    /// The time limit of a whole request.
    total: Option<Duration>,
    health: Health,
    attempts: AttemptCounts,
    /// URLs of the common paths, computed once.
    pub(super) usual: Vec<(String, Uri)>,
}

impl Upstream {
    pub(super) fn new(config: &UpstreamConfig) -> Result<Self, ConfigError> {
        let wrong = |problem: &str| ConfigError::Value {
            key: "upstream.url".to_owned(),
            problem: format!("`{}` {problem}", config.url),
        };
        let uri: Uri = config.url.parse().map_err(|_| wrong("is not a valid URL"))?;
        let parts = uri.into_parts();
        let scheme = parts.scheme.filter(|scheme| matches!(scheme.as_str(), "http" | "https"));
        let scheme = scheme.ok_or_else(|| wrong("does not begin with `http://` or `https://`"))?;
        let authority = parts.authority.ok_or_else(|| wrong("has no host"))?;
        if authority.as_str().contains('@') {
            // The URL is not shown, because it may contain a password.
            let problem =
                "the URL contains a user name or password; remove it, clients send their own keys"
                    .to_owned();
            return Err(ConfigError::Value { key: "upstream.url".to_owned(), problem });
        }
        let path = parts.path_and_query.as_ref().map_or("", PathAndQuery::path);
        if parts.path_and_query.as_ref().is_some_and(|path| path.query().is_some()) {
            return Err(wrong("has a query; remove it"));
        }
        let path = path.trim_end_matches('/');
        let is_exact = config.unversioned || config.prefix.is_some();
        let base = path.strip_suffix("/v1").filter(|_| !is_exact);
        let name = config.name.clone().unwrap_or_else(|| authority.as_str().to_owned());
        if config.name.as_deref().is_some_and(|name| !is_name(name)) {
            let problem = "use letters, digits, `-`, `_`, `.` and `:`".to_owned();
            return Err(ConfigError::Value { key: "upstream.name".to_owned(), problem });
        }
        let region = config.region.as_ref().map(SecretText::new);
        let region = region.map(|region| region.read("upstream.region")).transpose()?;
        let mut this = Self {
            key: format!("/{name}"),
            name,
            scheme,
            authority,
            base: base.unwrap_or(path).to_owned(),
            versioned: base.is_some() || config.unversioned,
            version: if config.unversioned { "" } else { "/v1" },
            wire: config.wire,
            models: config.models.clone(),
            paths: config.paths.clone(),
            websocket: config.websocket,
            overrides: config.overrides,
            prefix: config.prefix.clone(),
            signer: region.map(|region| {
                // Behind a named prefix, the region is that of the environment of `photic run`, and
                // one command has clients of its own regions and profiles.
                Signer::new(&region).for_same_client(config.prefix.is_some())
            }),
            issuer: None,
            credentials: Credentials::new(config)?,
            shapes: None,
            client: None,
            total: config.total_s.map(|seconds| Duration::from_secs(seconds.into())),
            health: Health::default(),
            attempts: AttemptCounts::default(),
            usual: Vec::new(),
        };
        let params = PathParams::default();
        let usual = Wire::ALL.into_iter().filter(|wire| wire.names_model());
        let usual = usual.map(|wire| without_version(&wire.path(&params).0).to_owned());
        this.usual =
            usual.filter_map(|path| Some((path.clone(), this.route(&path, None)?))).collect();
        Ok(this)
    }

    /// Returns `true` if requests of this wire are sent to it without translation.
    pub(crate) fn accepts(&self, wire: Wire) -> bool {
        self.wire.is_none_or(|own| own == wire)
    }

    /// Returns `true` if requests to this endpoint are sent to it on the path of the client.
    pub(crate) fn serves(&self, endpoint: Endpoint) -> bool {
        self.accepts(endpoint.served_by())
    }

    /// Returns the wire of requests to this upstream, for a client of this endpoint.
    pub(crate) fn speaks(&self, endpoint: Endpoint) -> Wire {
        self.wire.filter(|_| !self.serves(endpoint)).unwrap_or(endpoint.wire)
    }

    /// Returns the signer, if this is Amazon Bedrock with a region.
    pub(crate) const fn signer(&self) -> Option<&Signer> {
        self.signer.as_ref()
    }

    /// Checks that the key of a request may be sent to this upstream.
    ///
    /// # Errors
    ///
    /// Fails if it gets only keys of its own family, and the key was issued by another provider.
    pub(crate) fn check_key(
        &self,
        headers: &HeaderMap,
        query: Option<&str>,
    ) -> Result<(), Refusal> {
        if self.has_own_credentials() {
            return Ok(());
        }
        let Some((family, keys)) = &self.issuer else { return Ok(()) };
        match keys.owner(headers, query) {
            KeyIssuer::NoKey | KeyIssuer::Unknown => Ok(()),
            KeyIssuer::Family(issuer) if issuer == *family => Ok(()),
            KeyIssuer::Family(_) | KeyIssuer::Foreign => Err(Refusal::ForeignKey),
        }
    }

    /// Returns its name in settings, replies, metrics and logs.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns its name behind a slash, by which its profiles are kept.
    pub(super) fn key(&self) -> &str {
        &self.key
    }

    /// Returns `true` if only requests behind a named path prefix are sent to it.
    pub(crate) const fn is_behind_prefix(&self) -> bool {
        self.prefix.is_some()
    }

    /// Returns `true` if one of its globs of paths fits.
    pub(super) fn has_path(&self, path: &str) -> bool {
        let path = without_version(path);
        self.paths.iter().any(|glob| match without_version(glob).strip_suffix('*') {
            Some(beginning) => path.starts_with(beginning),
            None => path == without_version(glob),
        })
    }

    /// Returns `true` if its globs of models fit a name, or `None` if it has none.
    pub(crate) fn fits(&self, model: &str) -> Option<bool> {
        let fits = || photic::profile::specificity(&self.models, model).is_some();
        (!self.models.is_empty()).then(fits)
    }

    /// Returns the only wire that it speaks, if there is one.
    pub(crate) const fn wire(&self) -> Option<Wire> {
        self.wire
    }

    /// Returns the health.
    pub(crate) const fn health(&self) -> &Health {
        &self.health
    }

    /// Returns the counts of requests by outcome.
    pub(crate) const fn attempts(&self) -> &AttemptCounts {
        &self.attempts
    }

    /// Returns its own client, if its connections have settings of their own.
    pub(super) const fn client(&self) -> Option<&Client> {
        self.client.as_ref()
    }

    /// Returns the time limit of a whole request.
    pub(super) const fn total(&self) -> Option<Duration> {
        self.total
    }

    /// Returns `true` if its settings say which keys it gets.
    pub(super) const fn decides_credentials(&self) -> bool {
        self.credentials.is_some() || self.signer.is_some()
    }

    /// Returns `true` if nothing of the caller is passed on to it: no key, no cookie, no account.
    pub(crate) fn has_own_credentials(&self) -> bool {
        self.credentials.as_ref().is_some_and(|credentials| credentials.is_own())
    }

    /// Returns the owner of the key that it gets.
    pub(crate) fn key_owner(&self) -> KeyOwner {
        if self.has_own_credentials() { KeyOwner::Gateway } else { KeyOwner::Caller }
    }

    /// Sets the credentials in the headers of a request of a wire.
    pub(crate) fn set_credentials(&self, headers: &mut HeaderMap, wire: Wire) {
        if let Some(credentials) = &self.credentials {
            credentials.set(headers, wire);
        }
    }

    /// Removes the key of a request that was translated to a wire if another provider issued it, unless
    /// the settings say that keys are passed on.
    pub(crate) fn drop_foreign_key(&self, headers: &mut HeaderMap, wire: Wire) {
        let Some(shapes) = self.shapes.as_ref().filter(|_| self.credentials.is_none()) else {
            return;
        };
        let (name, before) = wire.key_header();
        let key = headers.get(name).and_then(|value| value.to_str().ok());
        let issuer = key.and_then(|key| {
            let key = key.strip_prefix(before).unwrap_or(key);
            shapes.certain_issuer(key)
        });
        if issuer.is_some_and(|issuer| issuer != Family::of(wire)) {
            headers.remove(name);
        }
    }

    /// Removes the keys of the caller from a request that the caller did not ask to be sent here, unless
    /// the settings say which keys this upstream gets.
    pub(crate) fn drop_undecided_keys(&self, headers: &mut HeaderMap) {
        if !self.decides_credentials() {
            remove_of_caller(headers);
        }
    }

    /// Returns the query of a request as this upstream gets it.
    pub(crate) fn query<'q>(&self, query: Option<&'q str>) -> Option<Cow<'q, str>> {
        match &self.credentials {
            None => query.map(Cow::Borrowed),
            Some(credentials) => credentials.query(query),
        }
    }

    /// Returns the signer, if a request with these headers has to be signed.
    pub(crate) fn signer_for(&self, headers: &HeaderMap) -> Option<&Signer> {
        self.signer.as_ref().filter(|_| !carries_key(headers))
    }

    /// Returns the host, with the port if the URL has one.
    pub(crate) fn host(&self) -> &str {
        self.authority.as_str()
    }

    /// Returns the host and the port.
    pub(crate) fn endpoint(&self) -> (&str, u16) {
        let usual = if self.scheme == Scheme::HTTPS { 443 } else { 80 };
        let host = self.authority.host();
        (host.trim_matches(['[', ']']), self.authority.port_u16().unwrap_or(usual))
    }
}

/// Returns `true` for a name that can stand in settings, headers and metrics.
fn is_name(name: &str) -> bool {
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:[]".contains(&byte);
    !name.is_empty() && name.len() <= 128 && name.bytes().all(is_fit)
}

impl UpstreamConfig {
    /// Checks the URL.
    ///
    /// # Errors
    ///
    /// Fails if it is not an `http` or `https` URL, or if it contains a login or a query.
    pub fn check(&self) -> Result<(), ConfigError> {
        Upstream::new(self).map(drop)
    }
}
