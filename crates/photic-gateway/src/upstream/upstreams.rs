//! Chooses the upstream of a request: by model first, then by wire.

use std::sync::Arc;

use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderMap, Request, Uri};
use photic::Wire;
use photic::wire::PathParams;

use super::key_family::{KeyIssuer, KeyShapes};
use super::sign::{Signer, carries_key};
use crate::config::{ConfigError, Family, NamedPrefix, UpstreamConfig};
use crate::http::{Endpoint, Refusal, Route, without_version};

/// A provider or local server that requests are sent to.
#[derive(Debug)]
pub(crate) struct Upstream {
    pub(super) scheme: Scheme,
    pub(super) authority: Authority,
    /// The path of its URL, without a final slash or version.
    pub(super) base: String,
    /// Set if its URL ends with a version, or has none by configuration.
    pub(super) versioned: bool,
    /// The version before the paths of conversations, or nothing.
    pub(super) version: &'static str,
    pub(super) wire: Option<Wire>,
    models: Vec<String>,
    /// Set if it may have a WebSocket for Responses.
    websocket: bool,
    /// Set if it takes precedence over upstreams that name models.
    overrides: bool,
    /// Set if only requests behind this path prefix are sent to it.
    pub(super) prefix: Option<String>,
    /// Signs requests to Amazon Bedrock.
    signer: Option<Signer>,
    /// Set if it gets only keys that its own family may have issued.
    issuer: Option<(Family, Arc<KeyShapes>)>,
    /// URLs of the common paths, computed once.
    pub(super) usual: Vec<(String, Uri)>,
}

/// All upstreams: the configured ones, or the defaults if none is configured.
#[derive(Debug)]
pub(crate) struct Upstreams {
    all: Vec<Arc<Upstream>>,
    keys: KeyShapes,
    /// Set if no upstream is configured: a key is then sent only to the provider that issued it.
    is_default: bool,
}

impl Upstreams {
    /// Creates the configured upstreams. If there are none, it creates the provider of each wire, for
    /// the keys that it issued.
    pub(crate) fn new(configured: &[UpstreamConfig]) -> Result<Self, ConfigError> {
        let mut issuers: Option<Arc<KeyShapes>> = None;
        let mut one = |config: &UpstreamConfig| -> Result<Arc<Upstream>, ConfigError> {
            let mut upstream = Upstream::new(config)?;
            if let Some(wire) = config.wire.filter(|_| config.issuer_only) {
                let keys = match &issuers {
                    Some(keys) => Arc::clone(keys),
                    None => Arc::clone(issuers.insert(Arc::new(KeyShapes::load()?))),
                };
                upstream.issuer = Some((Family::of(wire), keys));
            }
            Ok(Arc::new(upstream))
        };
        let mut all = |list: &[UpstreamConfig]| list.iter().map(&mut one).collect::<Result<_, _>>();
        let (keys, is_default) = (KeyShapes::load()?, configured.is_empty());
        let all = if is_default { all(&UpstreamConfig::defaults()?)? } else { all(configured)? };
        Ok(Self { all, keys, is_default })
    }

    /// Iterates over all upstreams.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Upstream> {
        self.all.iter().map(Arc::as_ref)
    }

    /// Returns `true` if the upstream depends on the model, so that the body must be read first.
    pub(crate) fn differ_by_model(&self) -> bool {
        self.all.iter().any(|upstream| !upstream.models.is_empty())
    }

    /// Returns the wire whose upstream may get the request: that of its route, or that of its key if
    /// the path belongs to no wire and an upstream is there for the key.
    ///
    /// # Errors
    ///
    /// Fails if the key was issued by another provider, or if no upstream is configured for an
    /// envelope that needs one.
    pub(crate) fn permit<B>(&self, route: Route, request: &Request<B>) -> Result<Wire, Refusal> {
        let wire = route.served_by();
        if !self.is_default {
            return Ok(self.of_key(route, request).unwrap_or(wire));
        }
        if route.endpoint().is_some_and(Endpoint::needs_configuration) {
            return Err(Refusal::NoUpstream);
        }
        let is_of_wire = match (route, route.endpoint()) {
            (Route::Other(_), _) => is_below_a_wire(route, request),
            (Route::Openwop, _) => false,
            (_, Some(endpoint)) => endpoint.is_own(request.uri().path()),
            (_, None) => true,
        };
        match self.keys.owner(request.headers(), request.uri().query()) {
            KeyIssuer::NoKey => Ok(wire),
            KeyIssuer::Unknown if is_of_wire => Ok(wire),
            KeyIssuer::Family(family) if family == Family::of(wire) => Ok(wire),
            KeyIssuer::Family(family)
                if !is_of_wire && route.endpoint().is_none() && !has_prefix(request) =>
            {
                Ok(family.wire())
            }
            KeyIssuer::Unknown | KeyIssuer::Family(_) | KeyIssuer::Foreign => {
                Err(Refusal::ForeignKey)
            }
        }
    }

    /// Returns the wire of a key on a path that belongs to no wire, if an upstream is configured for
    /// it. Behind a prefix, the prefix decides.
    fn of_key<B>(&self, route: Route, request: &Request<B>) -> Option<Wire> {
        let is_other = matches!(route, Route::Other(_)) && !is_below_a_wire(route, request);
        if !is_other || has_prefix(request) {
            return None;
        }
        match self.keys.owner(request.headers(), request.uri().query()) {
            KeyIssuer::Family(family) if family != Family::of(route.wire()) => {
                self.choose_for_other(family.wire(), None).map(|_| family.wire())
            }
            _ => None,
        }
    }

    /// Chooses the upstream that a flag names for the wire, else the one that serves the model, else
    /// the first one for the wire among those with the path prefix of the request. Returns `None` if
    /// there is none.
    pub(crate) fn choose(
        &self,
        wire: Wire,
        model: Option<&str>,
        prefix: Option<&NamedPrefix>,
    ) -> Option<&Arc<Upstream>> {
        let speaks = |upstream: &&Arc<Upstream>| upstream.accepts(wire);
        if let Some(first) = self.all.iter().filter(|one| one.overrides).find(speaks) {
            return Some(first);
        }
        let by_model = self.all.iter().rev().filter_map(|upstream| {
            let specific = photic::profile::specificity(&upstream.models, model?)?;
            Some(((specific, upstream.accepts(wire)), upstream))
        });
        // `max_by_key` returns the last of equals. The first configured one must win, hence `rev`.
        let by_model = by_model.max_by_key(|(rank, _)| *rank).map(|(_, upstream)| upstream);
        let prefix = prefix.map(|prefix| &*prefix.0);
        let mut general = self
            .all
            .iter()
            .filter(|upstream| upstream.models.is_empty() && upstream.prefix.as_deref() == prefix);
        by_model.or_else(|| general.find(speaks))
    }

    /// Chooses the upstream of a WebSocket for Responses. Returns `None` if no upstream that speaks
    /// Responses can have one, or if upstreams differ by model, which only a later frame names.
    pub(crate) fn choose_for_socket(&self, prefix: Option<&NamedPrefix>) -> Option<&Arc<Upstream>> {
        let wire = Wire::OpenAiResponses;
        let chosen = self.choose(wire, None, prefix).filter(|_| !self.differ_by_model())?;
        Some(chosen).filter(|one| one.accepts(wire) && one.websocket)
    }

    /// Chooses the upstream of a request that is not a turn: that of its wire, or of its family.
    pub(crate) fn choose_for_other(
        &self,
        wire: Wire,
        prefix: Option<&NamedPrefix>,
    ) -> Option<&Arc<Upstream>> {
        let choose = |wire| self.choose(wire, None, prefix);
        choose(wire).or_else(|| Family::of(wire).wires().find_map(choose))
    }
}

/// Returns `true` if a request came behind the path prefix of a family or of an upstream.
fn has_prefix<B>(request: &Request<B>) -> bool {
    let extensions = request.extensions();
    extensions.get::<Family>().is_some() || extensions.get::<NamedPrefix>().is_some()
}

/// Returns `true` if the path of a request is one of the wire of its route, and of no other.
fn is_below_a_wire<B>(route: Route, request: &Request<B>) -> bool {
    Route::by_path(request.method(), request.uri().path()) == Some(route)
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
        let mut this = Self {
            scheme,
            authority,
            base: base.unwrap_or(path).to_owned(),
            versioned: base.is_some() || config.unversioned,
            version: if config.unversioned { "" } else { "/v1" },
            wire: config.wire,
            models: config.models.clone(),
            websocket: config.websocket,
            overrides: config.overrides,
            prefix: config.prefix.clone(),
            signer: config.region.as_deref().map(|region| {
                // Behind a named prefix, the region is that of the environment of `photic run`, and
                // one command has clients of its own regions and profiles.
                Signer::new(region).for_same_client(config.prefix.is_some())
            }),
            issuer: None,
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
    fn accepts(&self, wire: Wire) -> bool {
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
        let Some((family, keys)) = &self.issuer else { return Ok(()) };
        match keys.owner(headers, query) {
            KeyIssuer::NoKey | KeyIssuer::Unknown => Ok(()),
            KeyIssuer::Family(issuer) if issuer == *family => Ok(()),
            KeyIssuer::Family(_) | KeyIssuer::Foreign => Err(Refusal::ForeignKey),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn upstreams(toml: &str) -> Upstreams {
        Upstreams::new(&Config::parse(toml).unwrap().upstream).unwrap()
    }

    #[test]
    fn by_default_the_wire_decides() {
        let upstreams = upstreams("");
        for (wire, host) in [
            (Wire::OpenAiChat, "api.openai.com"),
            (Wire::OpenAiResponses, "api.openai.com"),
            (Wire::Anthropic, "api.anthropic.com"),
            (Wire::Gemini, "generativelanguage.googleapis.com"),
            (Wire::BedrockConverse, "bedrock-runtime.us-east-1.amazonaws.com"),
            (Wire::Ollama, "127.0.0.1:11434"),
        ] {
            assert_eq!(upstreams.choose(wire, Some("m"), None).unwrap().host(), host);
        }
    }

    #[test]
    fn models_come_before_wires() {
        let upstreams = upstreams(
            "[[upstream]]\nurl='http://all'\n[[upstream]]\nurl='http://qwen'\n\
             wire='openai-chat'\nmodels=['qwen*']\n[[upstream]]\nurl='http://vl'\nmodels=['qwen*vl']",
        );
        let host = |wire, model| upstreams.choose(wire, model, None).unwrap().host().to_owned();
        assert_eq!(host(Wire::Anthropic, Some("qwen3")), "qwen");
        assert_eq!(host(Wire::Anthropic, Some("vendor/qwen3-vl")), "vl");
        assert_eq!(host(Wire::Anthropic, Some("opus")), "all");
        assert_eq!(host(Wire::OpenAiChat, None), "all");
    }

    #[test]
    fn configured_upstreams_replace_the_defaults() {
        let upstreams = upstreams(
            "[[upstream]]\nurl='http://vl'\nwire='openai-chat'\nmodels=['qwen*']\n\
             [[upstream]]\nurl='http://r'\nwire='openai-responses'",
        );
        assert!(upstreams.choose(Wire::OpenAiChat, Some("gpt-4o"), None).is_none());
        assert!(upstreams.choose(Wire::Anthropic, None, None).is_none());
        assert!(upstreams.choose_for_other(Wire::Ollama, None).is_none());
        assert_eq!(upstreams.choose_for_other(Wire::OpenAiChat, None).unwrap().host(), "r");
    }

    #[test]
    fn a_flag_comes_before_models() {
        let mut config =
            Config::parse("[[upstream]]\nurl='http://file'\nmodels=['*']").unwrap().upstream;
        let flag = UpstreamConfig { overrides: true, ..config[0].clone() };
        config.push(UpstreamConfig { url: "http://flag".to_owned(), models: Vec::new(), ..flag });
        let upstreams = Upstreams::new(&config).unwrap();
        assert_eq!(upstreams.choose(Wire::Anthropic, Some("opus"), None).unwrap().host(), "flag");
    }

    #[test]
    fn a_prefix_has_an_upstream_of_its_own() {
        let parsed = "[[upstream]]\nurl='http://all'\n[[upstream]]\nurl='http://qwen'\n\
                      models=['qwen*']\n[[upstream]]\nurl='http://azure/v1/'";
        let mut config = Config::parse(parsed).unwrap().upstream;
        config[2].prefix = Some("azure".to_owned());
        let all = Upstreams::new(&config).unwrap();
        let azure = NamedPrefix("azure".into());
        let host = |model, prefix| all.choose(Wire::OpenAiChat, model, prefix).unwrap().host();
        assert_eq!(host(Some("gpt"), Some(&azure)), "azure");
        assert_eq!(host(Some("gpt"), None), "all");
        assert_eq!(host(Some("qwen3"), Some(&azure)), "qwen");
        let other = all.choose_for_other(Wire::Gemini, Some(&azure)).unwrap();
        for path in ["/chat/completions", "/v1/messages", "/openai/v1/responses"] {
            let url = format!("http://azure/v1{path}");
            assert_eq!(other.route(path, None).unwrap().to_string(), url);
            assert_eq!(other.other(path, None).unwrap().to_string(), url);
        }
        let other = NamedPrefix("other".into());
        assert!(all.choose_for_other(Wire::Gemini, Some(&other)).is_none());
    }

    #[test]
    fn an_upstream_can_be_for_keys_of_its_own_family_only() {
        let mut config = UpstreamConfig::new("http://h", Some(Wire::OpenAiChat));
        let reaches = |config: &UpstreamConfig, name: &'static str, key: &str| {
            let all = Upstreams::new(std::slice::from_ref(config)).unwrap();
            let headers = [(http::HeaderName::from_static(name), key.parse().unwrap())];
            let chosen = all.choose(Wire::OpenAiChat, Some("gpt"), None).unwrap();
            chosen.check_key(&headers.into_iter().collect(), None).is_ok()
        };
        assert!(reaches(&config, "authorization", "Bearer sk-or-v1-x"));
        config.issuer_only = true;
        for (name, key, is_sent) in [
            ("authorization", "Bearer sk-proj-x", true),
            ("authorization", "Bearer something", true),
            ("accept", "*/*", true),
            ("authorization", "Bearer sk-or-v1-x", false),
            ("authorization", "Bearer gsk_x", false),
            ("authorization", "Bearer sk-ant-x", false),
            ("api-key", "x", false),
        ] {
            assert_eq!(reaches(&config, name, key), is_sent, "{name}: {key}");
        }
    }

    #[test]
    fn addresses_that_cannot_be_used() {
        for url in ["h:1", "ftp://h", "http://u:p@h", "http://h?x=1", "/v1"] {
            let config: UpstreamConfig = url.parse().unwrap();
            let says = config.check().unwrap_err().to_string();
            assert!(!says.contains("u:p"), "{says}");
        }
    }
}
