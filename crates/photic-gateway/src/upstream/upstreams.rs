//! Chooses the upstream of a request: by model first, then by wire.

use std::sync::Arc;

use http::Request;
use photic::Wire;
use photic_net::Timeouts;

use super::connections::{own_client, reads_files};
use super::key_family::{KeyIssuer, KeyShapes};
use super::model_routes::ModelRoutes;
use super::provider::Upstream;
use super::timeouts;
use crate::config::{Config, ConfigError, Family, ModelsConfig, NamedPrefix, UpstreamConfig};
use crate::http::{Endpoint, Refusal, Route};

/// All upstreams: the configured ones, or the defaults if none is configured. They do not change, so
/// that all of them can be replaced at once.
#[derive(Debug)]
pub(crate) struct Upstreams {
    all: Vec<Arc<Upstream>>,
    keys: Arc<KeyShapes>,
    /// Set if no upstream is configured: a key is then sent only to the provider that issued it.
    is_default: bool,
    /// Set if models have upstreams of their own.
    routes: Option<Arc<ModelRoutes>>,
    models: ModelsConfig,
}

/// The settings of upstreams, and the upstreams that were created from them.
type Before<'b> = (&'b [UpstreamConfig], &'b Upstreams);

impl Upstreams {
    /// Creates the upstreams of a configuration, and the routes of its models.
    pub(crate) fn of(config: &Config) -> Result<Self, ConfigError> {
        Self::routed(config, None)
    }

    /// Creates the upstreams of a configuration that replaces another one. An upstream with the same
    /// settings keeps its health, its counts and its connections.
    pub(crate) fn after(config: &Config, before: (&Config, &Self)) -> Result<Self, ConfigError> {
        let before = Some(before).filter(|(old, _)| old.timeouts == config.timeouts);
        Self::routed(config, before.map(|(old, upstreams)| (old.upstream.as_slice(), upstreams)))
    }

    /// Returns `true` if two configurations have the same upstreams and routes, and no file that they
    /// depend on has to be read again.
    pub(crate) fn are_same(one: &Config, other: &Config) -> bool {
        one.upstream == other.upstream
            && one.model == other.model
            && one.models == other.models
            && one.failover == other.failover
            && one.timeouts == other.timeouts
            && !one.upstream.iter().any(reads_files)
    }

    fn routed(config: &Config, before: Option<Before<'_>>) -> Result<Self, ConfigError> {
        let mut this = Self::create(&config.upstream, Some(timeouts(config)), before)?;
        this.routes = ModelRoutes::new(config, &this.all)?;
        this.models = config.models.clone();
        Ok(this)
    }

    /// Creates the configured upstreams. If there are none, it creates the provider of each wire, for
    /// the keys that it issued.
    #[cfg(test)]
    pub(crate) fn new(configured: &[UpstreamConfig]) -> Result<Self, ConfigError> {
        Self::create(configured, None, None)
    }

    fn create(
        configured: &[UpstreamConfig],
        timeouts: Option<Timeouts>,
        before: Option<Before<'_>>,
    ) -> Result<Self, ConfigError> {
        let keys = Arc::new(KeyShapes::load()?);
        let known = |config: &UpstreamConfig| -> Option<Arc<Upstream>> {
            let (settings, upstreams) = before.filter(|_| !reads_files(config))?;
            let index = settings.iter().position(|other| other == config)?;
            upstreams.all.get(index).cloned()
        };
        let one = |config: &UpstreamConfig| -> Result<Arc<Upstream>, ConfigError> {
            if let Some(known) = known(config) {
                return Ok(known);
            }
            let mut upstream = Upstream::new(config)?;
            upstream.shapes = Some(Arc::clone(&keys));
            if let Some(wire) = config.wire.filter(|_| config.issuer_only) {
                upstream.issuer = Some((Family::of(wire), Arc::clone(&keys)));
            }
            if let Some(timeouts) = timeouts {
                upstream.client = own_client(config, timeouts)?;
            }
            Ok(Arc::new(upstream))
        };
        let all = |list: &[UpstreamConfig]| list.iter().map(one).collect::<Result<_, _>>();
        let is_default = configured.is_empty();
        let all = if is_default { all(&UpstreamConfig::defaults()?)? } else { all(configured)? };
        Ok(Self { all, keys, is_default, routes: None, models: ModelsConfig::default() })
    }

    /// Returns the routes of models, if any are configured.
    pub(crate) const fn routes(&self) -> Option<&Arc<ModelRoutes>> {
        self.routes.as_ref()
    }

    /// Returns the settings of lists of models.
    pub(crate) const fn models(&self) -> &ModelsConfig {
        &self.models
    }

    /// Returns the refusal of a request that no upstream serves.
    pub(crate) const fn refusal(&self) -> Refusal {
        if self.models.deny_unmatched { Refusal::Unmatched } else { Refusal::NoUpstream }
    }

    /// Iterates over all upstreams.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Upstream>> {
        self.all.iter()
    }

    /// Returns `true` if the upstream depends on the model, so that the body must be read first.
    pub(crate) fn differ_by_model(&self) -> bool {
        self.routes.is_some()
            || self.models.deny_unmatched
            || self.all.iter().any(|upstream| !upstream.models.is_empty())
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
        if self.models.deny_unmatched {
            return by_model;
        }
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

    /// Chooses the upstream of a request that is not a turn: that of its path, of its wire, or of its
    /// family.
    pub(crate) fn choose_for_path(
        &self,
        wire: Wire,
        path: &str,
        prefix: Option<&NamedPrefix>,
    ) -> Option<&Arc<Upstream>> {
        self.choose_by_path(path, prefix).or_else(|| self.choose_for_other(wire, prefix))
    }

    /// Chooses the upstream that names the path of a request.
    pub(crate) fn choose_by_path(
        &self,
        path: &str,
        prefix: Option<&NamedPrefix>,
    ) -> Option<&Arc<Upstream>> {
        let of_prefix = prefix.map(|prefix| &*prefix.0);
        let mut own = self.all.iter().filter(|one| one.prefix.as_deref() == of_prefix);
        own.find(|upstream| upstream.has_path(path))
    }

    /// Chooses the upstream of a request whose path and model mean nothing: that of its wire, or of its
    /// family.
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
    fn paths_lead_to_upstreams_that_name_them() {
        let upstreams = upstreams(
            "[[upstream]]\nurl='http://all'\n[[upstream]]\nurl='http://audio'\n\
             models=['none']\npaths=['/audio/*', '/v1/embeddings']",
        );
        let host = |path| upstreams.choose_for_path(Wire::OpenAiChat, path, None).unwrap().host();
        for (path, expected) in [
            ("/v1/audio/speech", "audio"),
            ("/audio/transcriptions", "audio"),
            ("/embeddings", "audio"),
            ("/v1/embeddings/x", "all"),
            ("/v1/files", "all"),
        ] {
            assert_eq!(host(path), expected, "{path}");
        }
    }

    #[test]
    fn what_matches_nothing_can_be_denied() {
        let text = "[models]\ndeny_unmatched=true\n[[upstream]]\nurl='http://a'\n\
                    [[upstream]]\nurl='http://b'\nmodels=['qwen*']\npaths=['/files*']";
        let upstreams = Upstreams::of(&Config::parse(text).unwrap()).unwrap();
        let host = |model| upstreams.choose(Wire::OpenAiChat, model, None).map(|one| one.host());
        assert_eq!((host(Some("qwen3")), host(Some("gpt")), host(None)), (Some("b"), None, None));
        let host = |path| upstreams.choose_for_path(Wire::OpenAiChat, path, None);
        assert_eq!(host("/v1/files").map(|one| one.host()), Some("b"));
        assert!(host("/v1/models").is_none());
        assert_eq!(upstreams.refusal(), Refusal::Unmatched);
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
