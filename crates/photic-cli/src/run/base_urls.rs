//! The environment variables from which SDKs and agents read base URLs.
//!
//! Their values become upstreams of the gateway, and for the command they are replaced by the
//! gateway's address.

use std::net::SocketAddr;

use anyhow::bail;
use photic::Wire;
use photic_gateway::{ConfigError, Family, UpstreamConfig};

/// One environment variable.
#[derive(Debug)]
struct Variable {
    name: &'static str,
    /// The provider family that its readers talk to.
    family: Family,
    /// The end of its URL, before readers add their paths.
    suffix: &'static str,
}

/// All variables, the better known ones first.
const VARIABLES: [Variable; 10] = [
    // The SDKs of OpenAI, the AI SDK, pydantic-ai, Codex, and most others.
    Variable { name: "OPENAI_BASE_URL", family: Family::OPENAI, suffix: "/v1" },
    // LangChain, LiteLLM, aider.
    Variable { name: "OPENAI_API_BASE", family: Family::OPENAI, suffix: "/v1" },
    // goose, which writes the version itself.
    Variable { name: "OPENAI_HOST", family: Family::OPENAI, suffix: "" },
    // The SDKs of Anthropic, Claude Code. The AI SDK reads it, too, and wants a `/v1` in it, but
    // the gateway answers with and without.
    Variable { name: "ANTHROPIC_BASE_URL", family: Family::ANTHROPIC, suffix: "" },
    // LangChain.
    Variable { name: "ANTHROPIC_API_URL", family: Family::ANTHROPIC, suffix: "" },
    // LiteLLM, aider.
    Variable { name: "ANTHROPIC_API_BASE", family: Family::ANTHROPIC, suffix: "" },
    // goose.
    Variable { name: "ANTHROPIC_HOST", family: Family::ANTHROPIC, suffix: "" },
    // The SDKs of Google, Gemini CLI.
    Variable { name: "GOOGLE_GEMINI_BASE_URL", family: Family::GOOGLE, suffix: "" },
    // Every SDK of Amazon, and its command.
    Variable { name: "AWS_ENDPOINT_URL_BEDROCK_RUNTIME", family: Family::AMAZON, suffix: "" },
    // Ollama's SDKs and command.
    Variable { name: "OLLAMA_HOST", family: Family::OLLAMA, suffix: "" },
];

/// Environment variables from which Amazon's SDKs read the region.
const REGIONS: [&str; 2] = ["AWS_REGION", "AWS_DEFAULT_REGION"];
/// Default port of Ollama.
const OLLAMA_PORT: u16 = 11434;

/// Environment variables that would send loopback requests through a proxy.
const PROXIES: [&str; 4] = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"];
/// Environment variables with exceptions from the proxy.
const NO_PROXIES: [&str; 2] = ["no_proxy", "NO_PROXY"];

/// The base URLs that are set.
#[derive(Debug, Default)]
pub(crate) struct BaseUrls {
    set: Vec<(&'static Variable, String)>,
    /// The region, which Amazon's addresses and signatures depend on.
    region: Option<String>,
}

impl BaseUrls {
    /// Reads the environment, except for wires with a named upstream.
    pub(crate) fn from_environment(named: &[UpstreamConfig]) -> anyhow::Result<Self> {
        Self::from(|name| std::env::var(name).ok(), named)
    }

    fn from(
        get: impl Fn(&str) -> Option<String>,
        named: &[UpstreamConfig],
    ) -> anyhow::Result<Self> {
        let mut bases = Self::default();
        for variable in &VARIABLES {
            let serves = |wire: Wire| named.iter().any(|one| one.wire.is_none_or(|w| w == wire));
            if variable.family.wires().all(serves) {
                continue;
            }
            let Some(url) = get(variable.name).filter(|url| !url.trim().is_empty()) else {
                continue;
            };
            bases.add(variable, complete(variable.family, url.trim()))?;
        }
        if !named.iter().any(|one| one.wire.is_none_or(|wire| wire.http().signs_requests)) {
            bases.region = REGIONS.iter().find_map(|name| get(name).filter(|name| is_region(name)));
        }
        Ok(bases)
    }

    /// Adds a variable. Fails if two variables of one family name different servers.
    fn add(&mut self, variable: &'static Variable, url: String) -> anyhow::Result<()> {
        let name = variable.name;
        match upstream(variable, &url, None).check() {
            Ok(()) => {}
            Err(ConfigError::Value { problem, .. }) => bail!("`{name}`: {problem}"),
            Err(other) => bail!("`{name}`: {other}"),
        }
        let same = self.set.iter().find(|(other, _)| other.family == variable.family);
        match same {
            Some((other, before)) if root(other, before) != root(variable, &url) => bail!(
                "`{}` and `{name}` name different servers; unset one, or pass `--upstream`",
                other.name
            ),
            Some(_) => {}
            None => self.set.push((variable, url)),
        }
        Ok(())
    }

    /// The upstreams for requests without a named one.
    pub(crate) fn upstreams(&self) -> impl Iterator<Item = UpstreamConfig> {
        let set = self.set.iter().flat_map(|(variable, url)| {
            variable.family.wires().map(|wire| {
                let region = self.region.clone().filter(|_| wire.http().signs_requests);
                UpstreamConfig { region, ..upstream(variable, url, Some(wire)) }
            })
        });
        set.chain(self.amazon())
    }

    /// Amazon's own endpoint, which depends on the region.
    fn amazon(&self) -> Option<UpstreamConfig> {
        let elsewhere = self.set.iter().any(|(variable, _)| variable.family == Family::AMAZON);
        let region = self.region.as_ref().filter(|_| !elsewhere)?;
        let url = format!("https://bedrock-runtime.{region}.amazonaws.com");
        let region = Some(region.clone());
        Some(UpstreamConfig { region, ..UpstreamConfig::new(url, Some(Wire::BedrockConverse)) })
    }

    /// The variable that names this host.
    pub(crate) fn naming(&self, host: &str) -> Option<&'static str> {
        let named = |url: &str| url.split('/').nth(2) == Some(host);
        self.set.iter().find(|(_, url)| named(url)).map(|(variable, _)| variable.name)
    }
}

/// Returns `true` if a named upstream serves a family, for all or for some models.
pub(crate) fn serves(upstreams: &[UpstreamConfig], family: Family) -> bool {
    let speaks = |one: &UpstreamConfig| one.wire.is_none_or(|wire| Family::of(wire) == family);
    upstreams.iter().any(|one| speaks(one) || !one.models.is_empty())
}

/// Adds the default provider of every family without an upstream, since the command would use it.
/// Amazon has none without a region.
pub(crate) fn complete_families(upstreams: &mut Vec<UpstreamConfig>) -> anyhow::Result<()> {
    let named: Vec<Family> = Family::all()
        .into_iter()
        .filter(|family| {
            let speaks = |one: &UpstreamConfig| {
                one.models.is_empty() && one.wire.is_none_or(|wire| Family::of(wire) == *family)
            };
            *family == Family::AMAZON || upstreams.iter().any(speaks)
        })
        .collect();
    let is_named =
        |one: &UpstreamConfig| one.wire.is_some_and(|wire| named.contains(&Family::of(wire)));
    upstreams.extend(UpstreamConfig::defaults()?.into_iter().filter(|one| !is_named(one)));
    Ok(())
}

/// The environment of the command: every variable points to the prefix of its family, and past any
/// proxy. Amazon's is set only if the gateway has an upstream for it.
pub(crate) fn leading_to(
    gateway: SocketAddr,
    token: &str,
    lead_amazon: bool,
) -> Vec<(&'static str, String)> {
    let known = VARIABLES.iter().filter(|one| lead_amazon || one.family != Family::AMAZON);
    let lead = |one: &Variable| {
        let family = one.family.name();
        (one.name, format!("http://{gateway}/{token}/{family}{}", one.suffix))
    };
    let mut all: Vec<(&str, String)> = known.map(lead).collect();
    if PROXIES.iter().any(|name| std::env::var_os(name).is_some()) {
        for name in NO_PROXIES {
            let before = std::env::var(name).unwrap_or_default();
            all.push((name, no_proxy(&before, gateway)));
        }
    }
    all
}

/// Adds the gateway to a list of exceptions from the proxy.
fn no_proxy(before: &str, gateway: SocketAddr) -> String {
    match before.trim() {
        "" => gateway.ip().to_string(),
        "*" => "*".to_owned(),
        list => format!("{list},{}", gateway.ip()),
    }
}

/// The upstream of a variable. A URL that ends with a version, or with the provider's replacement
/// for it, is complete: paths are appended directly.
fn upstream(variable: &Variable, url: &str, wire: Option<Wire>) -> UpstreamConfig {
    let unversioned = !variable.suffix.is_empty();
    UpstreamConfig { unversioned, ..UpstreamConfig::new(url, wire) }
}

/// Completes a URL as its readers do: Ollama's may be only a host, or the address that its server
/// listens on.
fn complete(family: Family, url: &str) -> String {
    if family != Family::OLLAMA || url.contains("://") {
        return url.to_owned();
    }
    let (host, port) = match url.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (host, port),
        _ => (url, ""),
    };
    let host = if matches!(host, "" | "0.0.0.0") { "127.0.0.1" } else { host };
    let port = if port.is_empty() { OLLAMA_PORT.to_string() } else { port.to_owned() };
    format!("http://{host}:{port}")
}

/// Returns `true` for a valid region, which becomes part of a URL.
fn is_region(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// The URL without the suffix of its variable.
fn root<'a>(variable: &Variable, url: &'a str) -> &'a str {
    let url = url.trim_end_matches('/');
    url.strip_suffix(variable.suffix).unwrap_or(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bases(set: &[(&str, &str)], named: &[&str]) -> anyhow::Result<BaseUrls> {
        let get = |name: &str| set.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
        let named: Vec<UpstreamConfig> = named.iter().map(|one| one.parse().unwrap()).collect();
        BaseUrls::from(get, &named)
    }

    #[test]
    fn what_was_set_is_where_requests_go() {
        let set = [("OPENAI_BASE_URL", "http://h/v4"), ("ANTHROPIC_API_URL", "http://a/api")];
        let found: Vec<_> = bases(&set, &[])
            .unwrap()
            .upstreams()
            .map(|one| (one.url, one.wire.unwrap(), one.unversioned))
            .collect();
        assert_eq!(
            found,
            [
                ("http://h/v4".to_owned(), Wire::OpenAiChat, true),
                ("http://h/v4".to_owned(), Wire::OpenAiResponses, true),
                ("http://a/api".to_owned(), Wire::Anthropic, false),
            ]
        );
        assert_eq!(bases(&[("OPENAI_BASE_URL", " ")], &[]).unwrap().upstreams().count(), 0);
    }

    #[test]
    fn one_gateway_stands_for_one_place() {
        let same = [("OPENAI_BASE_URL", "http://h/v1/"), ("OPENAI_HOST", "http://h")];
        assert_eq!(bases(&same, &[]).unwrap().upstreams().count(), 2);
        let other = [("OPENAI_BASE_URL", "http://h/v1"), ("OPENAI_API_BASE", "http://g/v1")];
        let says = bases(&other, &[]).unwrap_err().to_string();
        assert!(says.contains("`OPENAI_BASE_URL` and `OPENAI_API_BASE`"), "{says}");
        assert_eq!(bases(&other, &["http://mine"]).unwrap().upstreams().count(), 0);
        assert!(bases(&other, &["anthropic=http://mine"]).is_err());
    }

    #[test]
    fn what_cannot_be_used_is_named_and_keeps_its_secrets() {
        let says = |url: &str| bases(&[("ANTHROPIC_HOST", url)], &[]).unwrap_err().to_string();
        assert!(says("ftp://h").starts_with("`ANTHROPIC_HOST`: `ftp://h` does not begin"));
        assert!(
            says("http://u:secret@h").starts_with("`ANTHROPIC_HOST`: the URL contains a user name")
        );
        assert!(!says("http://u:secret@h").contains("secret"));
    }

    #[test]
    fn hosts_of_ollama_are_completed() {
        for (host, url) in [
            ("http://h:1", "http://h:1"),
            ("h", "http://h:11434"),
            ("h:1", "http://h:1"),
            ("0.0.0.0", "http://127.0.0.1:11434"),
            (":1", "http://127.0.0.1:1"),
        ] {
            let found: Vec<_> = bases(&[("OLLAMA_HOST", host)], &[]).unwrap().upstreams().collect();
            assert_eq!((found[0].url.as_str(), found[0].wire), (url, Some(Wire::Ollama)));
        }
    }

    #[test]
    fn amazon_is_where_its_region_is() {
        let found = |set: &[(&str, &str)], named: &[&str]| {
            let upstreams: Vec<_> = bases(set, named).unwrap().upstreams().collect();
            let lead_amazon = serves(&upstreams, Family::AMAZON);
            let leads = leading_to(SocketAddr::from(([127, 0, 0, 1], 1)), "t", lead_amazon);
            let leads = leads.iter().any(|(name, _)| name.starts_with("AWS_"));
            let one = upstreams.into_iter().next().map(|one| (one.url, one.region.unwrap()));
            (one, leads)
        };
        let region = ("AWS_REGION", "eu-west-1");
        let own = "https://bedrock-runtime.eu-west-1.amazonaws.com".to_owned();
        assert_eq!(found(&[region], &[]), (Some((own, "eu-west-1".to_owned())), true));
        let endpoint = ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "http://e");
        let elsewhere = ("http://e".to_owned(), "eu-west-1".to_owned());
        assert_eq!(found(&[region, endpoint], &[]), (Some(elsewhere), true));
        assert_eq!(found(&[], &[]), (None, false));
        assert_eq!(found(&[("AWS_REGION", "a/b")], &[]), (None, false));
        assert_eq!(found(&[region], &["bedrock-converse=http://mine"]).0, None);
    }

    #[test]
    fn families_that_nobody_named_keep_their_provider() {
        let completed = |named: &[&str]| {
            let mut all: Vec<UpstreamConfig> =
                named.iter().map(|one| one.parse().unwrap()).collect();
            complete_families(&mut all).unwrap();
            all.split_off(named.len()).into_iter().map(|one| one.wire.unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(completed(&["http://mine"]), []);
        let (google, ollama) = (Wire::Gemini, Wire::Ollama);
        assert_eq!(completed(&["openai-responses=http://mine"]), [Wire::Anthropic, google, ollama]);
        let all = [Wire::OpenAiChat, Wire::OpenAiResponses, Wire::Anthropic, google, ollama];
        assert_eq!(completed(&[]), all);
        let mut by_model = vec![UpstreamConfig::new("http://mine", None)];
        by_model[0].models = vec!["qwen*".to_owned()];
        complete_families(&mut by_model).unwrap();
        assert_eq!(by_model.len(), 1 + all.len());
    }

    #[test]
    fn every_family_has_a_prefix_of_its_own() {
        for (name, url) in leading_to(SocketAddr::from(([127, 0, 0, 1], 1)), "t", true) {
            let Some(variable) = VARIABLES.iter().find(|one| one.name == name) else { continue };
            let prefix = format!("http://127.0.0.1:1/t/{}", variable.family.name());
            assert!(url.starts_with(&prefix), "{name}={url}");
        }
    }

    #[test]
    fn loopback_needs_no_proxy() {
        let gateway = SocketAddr::from(([127, 0, 0, 1], 4141));
        assert_eq!(no_proxy("", gateway), "127.0.0.1");
        assert_eq!(no_proxy("a.example", gateway), "a.example,127.0.0.1");
        assert_eq!(no_proxy("*", gateway), "*");
    }
}
