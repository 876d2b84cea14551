//! The variables that SDKs and agents read their base addresses from: what they led to becomes an
//! upstream, and for the command they lead to the gateway.

use std::net::SocketAddr;

use anyhow::bail;
use photic::Wire;
use photic_gateway::{ConfigError, UpstreamConfig};

/// One variable.
#[derive(Debug)]
struct Variable {
    name: &'static str,
    /// What its readers talk.
    family: Family,
    /// What an address in it ends with before its readers add their paths.
    suffix: &'static str,
}

/// Wires that share a base address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    OpenAi,
    Anthropic,
}

/// Every one, the better known before its kin.
const VARIABLES: [Variable; 7] = [
    // The SDKs of OpenAI, the AI SDK, pydantic-ai, Codex, and most others.
    Variable { name: "OPENAI_BASE_URL", family: Family::OpenAi, suffix: "/v1" },
    // LangChain, LiteLLM, aider.
    Variable { name: "OPENAI_API_BASE", family: Family::OpenAi, suffix: "/v1" },
    // goose, which writes the version itself.
    Variable { name: "OPENAI_HOST", family: Family::OpenAi, suffix: "" },
    // The SDKs of Anthropic, Claude Code. The AI SDK reads it, too, and wants a `/v1` in it, but
    // the gateway answers with and without.
    Variable { name: "ANTHROPIC_BASE_URL", family: Family::Anthropic, suffix: "" },
    // LangChain.
    Variable { name: "ANTHROPIC_API_URL", family: Family::Anthropic, suffix: "" },
    // LiteLLM, aider.
    Variable { name: "ANTHROPIC_API_BASE", family: Family::Anthropic, suffix: "" },
    // goose.
    Variable { name: "ANTHROPIC_HOST", family: Family::Anthropic, suffix: "" },
];

/// Those that send requests to loopback through a proxy of the user's.
const PROXIES: [&str; 4] = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"];
/// Those that keep them from it.
const NO_PROXIES: [&str; 2] = ["no_proxy", "NO_PROXY"];

impl Family {
    const fn wires(self) -> &'static [Wire] {
        match self {
            Self::OpenAi => &[Wire::OpenAiChat, Wire::OpenAiResponses],
            Self::Anthropic => &[Wire::Anthropic],
        }
    }
}

/// The base addresses that were set.
#[derive(Debug, Default)]
pub(crate) struct Bases(Vec<(&'static Variable, String)>);

impl Bases {
    /// Those of this process, but for wires that an upstream was named for.
    pub(crate) fn from_environment(named: &[UpstreamConfig]) -> anyhow::Result<Self> {
        Self::from(|name| std::env::var(name).ok(), named)
    }

    fn from(
        get: impl Fn(&str) -> Option<String>,
        named: &[UpstreamConfig],
    ) -> anyhow::Result<Self> {
        let mut bases = Self::default();
        for variable in &VARIABLES {
            let serves = |wire: &Wire| named.iter().any(|one| one.wire.is_none_or(|w| w == *wire));
            if variable.family.wires().iter().all(serves) {
                continue;
            }
            let Some(url) = get(variable.name).filter(|url| !url.trim().is_empty()) else {
                continue;
            };
            bases.add(variable, url.trim().to_owned())?;
        }
        Ok(bases)
    }

    /// Fails where one gateway cannot stand for all.
    fn add(&mut self, variable: &'static Variable, url: String) -> anyhow::Result<()> {
        let name = variable.name;
        match upstream(variable, &url, None).check() {
            Ok(()) => {}
            Err(ConfigError::Value { problem, .. }) => bail!("`{name}`: {problem}"),
            Err(other) => bail!("`{name}`: {other}"),
        }
        let same = self.0.iter().find(|(other, _)| other.family == variable.family);
        match same {
            Some((other, before)) if root(other, before) != root(variable, &url) => bail!(
                "`{}` and `{name}` lead to different places; unset one, or say `--upstream`",
                other.name
            ),
            Some(_) => {}
            None => self.0.push((variable, url)),
        }
        Ok(())
    }

    /// Where requests go that nobody else was named for.
    pub(crate) fn upstreams(&self) -> impl Iterator<Item = UpstreamConfig> {
        self.0.iter().flat_map(|(variable, url)| {
            variable.family.wires().iter().map(|wire| upstream(variable, url, Some(*wire)))
        })
    }

    /// The variable that names this host.
    pub(crate) fn naming(&self, host: &str) -> Option<&'static str> {
        let named = |url: &str| url.split('/').nth(2) == Some(host);
        self.0.iter().find(|(_, url)| named(url)).map(|(variable, _)| variable.name)
    }
}

/// What the command gets: every variable leads to the gateway, and past any proxy.
pub(crate) fn leading_to(gateway: SocketAddr) -> Vec<(&'static str, String)> {
    let lead = |one: &Variable| (one.name, format!("http://{gateway}{}", one.suffix));
    let mut all: Vec<(&str, String)> = VARIABLES.iter().map(lead).collect();
    if PROXIES.iter().any(|name| std::env::var_os(name).is_some()) {
        for name in NO_PROXIES {
            let before = std::env::var(name).unwrap_or_default();
            all.push((name, no_proxy(&before, gateway)));
        }
    }
    all
}

fn no_proxy(before: &str, gateway: SocketAddr) -> String {
    match before.trim() {
        "" => gateway.ip().to_string(),
        "*" => "*".to_owned(),
        list => format!("{list},{}", gateway.ip()),
    }
}

/// An address that ends with a version, or with whatever the provider has in its place, is complete:
/// its readers put their paths right behind it.
fn upstream(variable: &Variable, url: &str, wire: Option<Wire>) -> UpstreamConfig {
    let unversioned = !variable.suffix.is_empty();
    UpstreamConfig { url: url.to_owned(), wire, models: Vec::new(), unversioned }
}

/// An address as if every variable wanted the same suffix.
fn root<'a>(variable: &Variable, url: &'a str) -> &'a str {
    let url = url.trim_end_matches('/');
    url.strip_suffix(variable.suffix).unwrap_or(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bases(set: &[(&str, &str)], named: &[&str]) -> anyhow::Result<Bases> {
        let get = |name: &str| set.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
        let named: Vec<UpstreamConfig> = named.iter().map(|one| one.parse().unwrap()).collect();
        Bases::from(get, &named)
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
        assert!(says("http://u:secret@h").starts_with("`ANTHROPIC_HOST`: holds a name"));
        assert!(!says("http://u:secret@h").contains("secret"));
    }

    #[test]
    fn loopback_needs_no_proxy() {
        let gateway = SocketAddr::from(([127, 0, 0, 1], 4141));
        assert_eq!(no_proxy("", gateway), "127.0.0.1");
        assert_eq!(no_proxy("a.example", gateway), "a.example,127.0.0.1");
        assert_eq!(no_proxy("*", gateway), "*");
    }
}
