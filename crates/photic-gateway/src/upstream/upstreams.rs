//! Whom to send a request to: by model first, then by wire.

use std::sync::Arc;

use http::uri::{Authority, PathAndQuery, Scheme};
use http::{Request, Uri};
use photic::Wire;
use photic::wire::PathParams;

use super::key_family::{KeyOwner, KeyShapes};
use super::sign::Signer;
use crate::config::Family;
use crate::config::{ConfigError, UpstreamConfig};
use crate::http::{Refusal, Route, is_complete, without_version};

/// Whom to send requests to.
#[derive(Debug)]
pub(crate) struct Upstream {
    scheme: Scheme,
    authority: Authority,
    /// The path of its address, without a slash or version at its end.
    base: String,
    /// Whether its address ends with a version, or has to do without.
    versioned: bool,
    /// What stands before the paths of conversations.
    version: &'static str,
    wire: Option<Wire>,
    models: Vec<String>,
    /// Whether it comes before those that name models.
    overrides: bool,
    /// Signs what is sent, where an address is one of Amazon's.
    signer: Option<Signer>,
    /// The addresses of conversations, which are asked for all the time.
    usual: Vec<(String, Uri)>,
}

/// All of them: those that were configured, or the defaults where none were.
#[derive(Debug)]
pub(crate) struct Upstreams {
    all: Vec<Arc<Upstream>>,
    /// Who gets which key, where nobody said who gets the requests.
    keys: Option<KeyShapes>,
}

impl Upstreams {
    /// The configured ones. Without any, the provider of each wire, for keys of its own.
    pub(crate) fn new(configured: &[UpstreamConfig]) -> Result<Self, ConfigError> {
        let all = |list: &[UpstreamConfig]| {
            list.iter().map(|one| Upstream::new(one).map(Arc::new)).collect::<Result<_, _>>()
        };
        if configured.is_empty() {
            let keys = Some(KeyShapes::load()?);
            return Ok(Self { all: all(&UpstreamConfig::defaults()?)?, keys });
        }
        Ok(Self { all: all(configured)?, keys: None })
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Upstream> {
        self.all.iter().map(Arc::as_ref)
    }

    /// Whether the body has to be read to know whom it is for.
    pub(crate) fn differ_by_model(&self) -> bool {
        self.all.iter().any(|upstream| !upstream.models.is_empty())
    }

    /// The wire whose upstream may be asked: that of the route, or that of the request's key where
    /// the path is no wire's. Fails where the key belongs to somebody else.
    pub(crate) fn permit<B>(&self, route: Route, request: &Request<B>) -> Result<Wire, Refusal> {
        let wire = route.wire();
        let Some(keys) = &self.keys else { return Ok(wire) };
        let is_of_wire = match route {
            Route::Other(_) => {
                Route::by_path(request.method(), request.uri().path()) == Some(route)
            }
            Route::Openwop => false,
            _ => true,
        };
        match keys.owner(request.headers(), request.uri().query()) {
            KeyOwner::Nobody => Ok(wire),
            KeyOwner::Unknown if is_of_wire => Ok(wire),
            KeyOwner::Family(family) if family == Family::of(wire) => Ok(wire),
            KeyOwner::Family(family) if !is_of_wire => Ok(family.wire()),
            KeyOwner::Unknown | KeyOwner::Family(_) | KeyOwner::Foreign => Err(Refusal::ForeignKey),
        }
    }

    /// The one that a flag names for the wire; else the one that serves the model; else the first
    /// for the wire. Nothing, where none is configured for it.
    pub(crate) fn choose(&self, wire: Wire, model: Option<&str>) -> Option<&Arc<Upstream>> {
        let speaks = |upstream: &&Arc<Upstream>| upstream.speaks(wire) == wire;
        if let Some(first) = self.all.iter().filter(|one| one.overrides).find(speaks) {
            return Some(first);
        }
        let by_model = self.all.iter().rev().filter_map(|upstream| {
            let specific = photic::profile::specificity(&upstream.models, model?)?;
            Some(((specific, upstream.speaks(wire) == wire), upstream))
        });
        // Of equals the first configured: `max_by_key` takes the last, so they come reversed.
        let by_model = by_model.max_by_key(|(rank, _)| *rank).map(|(_, upstream)| upstream);
        let mut general = self.all.iter().filter(|upstream| upstream.models.is_empty());
        by_model.or_else(|| general.find(speaks))
    }

    /// The one for requests that are no conversation: as for the wire, or for its family.
    pub(crate) fn choose_for_other(&self, wire: Wire) -> Option<&Arc<Upstream>> {
        let family = || Family::of(wire).wires().find_map(|wire| self.choose(wire, None));
        self.choose(wire, None).or_else(family)
    }
}

impl Upstream {
    fn new(config: &UpstreamConfig) -> Result<Self, ConfigError> {
        let wrong = |problem: &str| ConfigError::Value {
            key: "upstream.url".to_owned(),
            problem: format!("`{}` {problem}", config.url),
        };
        let uri: Uri = config.url.parse().map_err(|_| wrong("is no address"))?;
        let parts = uri.into_parts();
        let scheme = parts.scheme.filter(|scheme| matches!(scheme.as_str(), "http" | "https"));
        let scheme = scheme.ok_or_else(|| wrong("does not begin with `http://` or `https://`"))?;
        let authority = parts.authority.ok_or_else(|| wrong("names no host"))?;
        if authority.as_str().contains('@') {
            // Without the address: it is nobody's to read.
            let problem = "holds a name or password; keys come with requests".to_owned();
            return Err(ConfigError::Value { key: "upstream.url".to_owned(), problem });
        }
        let path = parts.path_and_query.as_ref().map_or("", PathAndQuery::path);
        if parts.path_and_query.as_ref().is_some_and(|path| path.query().is_some()) {
            return Err(wrong("holds a query"));
        }
        let path = path.trim_end_matches('/');
        let base = path.strip_suffix("/v1").filter(|_| !config.unversioned);
        let mut this = Self {
            scheme,
            authority,
            base: base.unwrap_or(path).to_owned(),
            versioned: base.is_some() || config.unversioned,
            version: if config.unversioned { "" } else { "/v1" },
            wire: config.wire,
            models: config.models.clone(),
            overrides: config.overrides,
            signer: config.region.as_deref().map(Signer::new),
            usual: Vec::new(),
        };
        let params = PathParams::default();
        let usual = Wire::ALL.into_iter().filter(|wire| wire.names_model());
        let usual = usual.map(|wire| without_version(&wire.path(&params).0).to_owned());
        this.usual =
            usual.filter_map(|path| Some((path.clone(), this.route(&path, None)?))).collect();
        Ok(this)
    }

    /// The wire a caller's request has to be written in for it.
    pub(crate) fn speaks(&self, caller: Wire) -> Wire {
        self.wire.unwrap_or(caller)
    }

    pub(crate) const fn signer(&self) -> Option<&Signer> {
        self.signer.as_ref()
    }

    /// Its host, with the port if one is named.
    pub(crate) fn host(&self) -> &str {
        self.authority.as_str()
    }

    /// Its host and port.
    pub(crate) fn endpoint(&self) -> (&str, u16) {
        let usual = if self.scheme == Scheme::HTTPS { 443 } else { 80 };
        let host = self.authority.host();
        (host.trim_matches(['[', ']']), self.authority.port_u16().unwrap_or(usual))
    }

    /// The address of a conversation, or of something beside one: its version, if it has one, is
    /// written whether or not the caller wrote it.
    pub(crate) fn route(&self, path: &str, query: Option<&str>) -> Option<Uri> {
        let path = without_version(path);
        let usual = self.usual.iter().find(|(usual, _)| *usual == path && query.is_none());
        match usual {
            Some((_, uri)) => Some(uri.clone()),
            None if is_complete(path) => {
                // The version may stand at the end of the address already.
                let version = self.base.rsplit_once('/').map_or("", |(_, last)| last);
                let own = path.strip_prefix('/').and_then(|path| path.strip_prefix(version));
                let own = own.filter(|rest| version.starts_with("v1") && rest.starts_with('/'));
                self.join(own.unwrap_or(path), query)
            }
            None => self.join(&[self.version, path].concat(), query),
        }
    }

    /// The address of anything else: as the caller wrote it, but for a version that the upstream's
    /// own address has already.
    pub(crate) fn other(&self, path: &str, query: Option<&str>) -> Option<Uri> {
        if self.versioned { self.route(path, query) } else { self.join(path, query) }
    }

    fn join(&self, path: &str, query: Option<&str>) -> Option<Uri> {
        let query = query.map(|query| ["?", query].concat()).unwrap_or_default();
        let whole = [self.base.as_str(), path, &query].concat();
        Uri::builder()
            .scheme(self.scheme.clone())
            .authority(self.authority.clone())
            .path_and_query(whole)
            .build()
            .ok()
    }
}

impl UpstreamConfig {
    /// Whether its address can be used.
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
    fn without_a_word_the_wire_decides() {
        let upstreams = upstreams("");
        for (wire, host) in [
            (Wire::OpenAiChat, "api.openai.com"),
            (Wire::OpenAiResponses, "api.openai.com"),
            (Wire::Anthropic, "api.anthropic.com"),
            (Wire::Gemini, "generativelanguage.googleapis.com"),
            (Wire::BedrockConverse, "bedrock-runtime.us-east-1.amazonaws.com"),
            (Wire::Ollama, "127.0.0.1:11434"),
        ] {
            assert_eq!(upstreams.choose(wire, Some("m")).unwrap().host(), host);
        }
    }

    #[test]
    fn models_come_before_wires() {
        let upstreams = upstreams(
            "[[upstream]]\nurl='http://all'\n[[upstream]]\nurl='http://qwen'\n\
             wire='openai-chat'\nmodels=['qwen*']\n[[upstream]]\nurl='http://vl'\nmodels=['qwen*vl']",
        );
        let host = |wire, model| upstreams.choose(wire, model).unwrap().host().to_owned();
        assert_eq!(host(Wire::Anthropic, Some("qwen3")), "qwen");
        assert_eq!(host(Wire::Anthropic, Some("vendor/qwen3-vl")), "vl");
        assert_eq!(host(Wire::Anthropic, Some("opus")), "all");
        assert_eq!(host(Wire::OpenAiChat, None), "all");
    }

    #[test]
    fn where_some_are_configured_nobody_else_is_asked() {
        let upstreams = upstreams(
            "[[upstream]]\nurl='http://vl'\nwire='openai-chat'\nmodels=['qwen*']\n\
             [[upstream]]\nurl='http://r'\nwire='openai-responses'",
        );
        assert!(upstreams.choose(Wire::OpenAiChat, Some("gpt-4o")).is_none());
        assert!(upstreams.choose(Wire::Anthropic, None).is_none());
        assert!(upstreams.choose_for_other(Wire::Ollama).is_none());
        assert_eq!(upstreams.choose_for_other(Wire::OpenAiChat).unwrap().host(), "r");
    }

    #[test]
    fn a_flag_comes_before_models() {
        let mut config =
            Config::parse("[[upstream]]\nurl='http://file'\nmodels=['*']").unwrap().upstream;
        let flag = UpstreamConfig { overrides: true, ..config[0].clone() };
        config.push(UpstreamConfig { url: "http://flag".to_owned(), models: Vec::new(), ..flag });
        let upstreams = Upstreams::new(&config).unwrap();
        assert_eq!(upstreams.choose(Wire::Anthropic, Some("opus")).unwrap().host(), "flag");
    }

    #[test]
    fn addresses_are_joined_with_one_version() {
        for (url, path, route, other) in [
            (
                "http://h",
                "/chat/completions",
                "http://h/v1/chat/completions",
                "http://h/chat/completions",
            ),
            ("http://h/", "/v1/models", "http://h/v1/models", "http://h/v1/models"),
            ("http://h/v1", "/v1/models", "http://h/v1/models", "http://h/v1/models"),
            ("http://h/api/v1/", "/models", "http://h/api/v1/models", "http://h/api/v1/models"),
        ] {
            let upstream = Upstream::new(&url.parse().unwrap()).unwrap();
            assert_eq!(upstream.route(path, None).unwrap(), route);
            assert_eq!(upstream.other(path, None).unwrap(), other);
        }
    }

    #[test]
    fn paths_that_stand_for_themselves_get_no_version() {
        for (url, path, route) in [
            ("http://h", "/api/chat", "http://h/api/chat"),
            ("http://h/v1", "/v1beta/models/g:x", "http://h/v1beta/models/g:x"),
            ("http://h/v1beta/", "/v1beta/models/g:x", "http://h/v1beta/models/g:x"),
            ("http://h/a", "/model/m/converse", "http://h/a/model/m/converse"),
        ] {
            let upstream = Upstream::new(&url.parse().unwrap()).unwrap();
            assert_eq!(upstream.route(path, None).unwrap(), route);
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

    #[test]
    fn addresses_that_are_complete() {
        for (url, path, address) in [
            ("http://h/v4/", "/v1/chat/completions", "http://h/v4/chat/completions"),
            ("http://h/v1", "/v1/embeddings", "http://h/v1/embeddings"),
            ("http://h", "/chat/completions", "http://h/chat/completions"),
        ] {
            let config = UpstreamConfig { unversioned: true, ..url.parse().unwrap() };
            let upstream = Upstream::new(&config).unwrap();
            assert_eq!(upstream.route(path, None).unwrap(), address);
            assert_eq!(upstream.other(path, None).unwrap(), address);
        }
    }
}
