//! The environment variables from which SDKs and agents read base URLs.
//!
//! Their values become upstreams of the gateway, and for the command they are replaced by the
//! gateway's address. The table is `data/base_urls.toml`.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};
use photic::Wire;
use photic_gateway::{ConfigError, Family, UpstreamConfig};
use serde::Deserialize;

use super::destination::{Destination, GATEWAY};
use super::environment::Environment;
use super::launch::Launch;

/// The table.
static TABLE: &str = include_str!("../../data/base_urls.toml");
/// Environment variables from which Amazon's SDKs read the region.
const REGIONS: [&str; 2] = ["AWS_REGION", "AWS_DEFAULT_REGION"];
/// Default port of Ollama.
const OLLAMA_PORT: u16 = 11434;

/// One environment variable. The head of the table explains the fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Variable {
    name: String,
    #[serde(default, deserialize_with = "family")]
    family: Option<Family>,
    #[serde(default)]
    suffix: String,
    prefix: Option<String>,
    #[serde(default)]
    fallback: Vec<String>,
    default: Option<String>,
    #[serde(default)]
    defaults: BTreeMap<String, String>,
    #[serde(default)]
    when: Vec<String>,
    #[serde(default)]
    needs: Vec<String>,
    #[serde(default)]
    unless: Vec<String>,
    #[serde(default)]
    unset: Vec<String>,
    #[serde(default)]
    signs: bool,
    caution: Option<String>,
    #[expect(dead_code, reason = "for readers of the table")]
    readers: String,
}

/// All variables, and those with an upstream.
#[derive(Debug)]
pub(crate) struct BaseUrls {
    table: Vec<Variable>,
    /// The URLs of all variables of families that the user has set, by their place in the table.
    given: BTreeMap<usize, String>,
    /// The variables of families that are set, by their place in the table.
    set: Vec<(usize, String)>,
    /// The variables with an upstream of their own.
    own: Vec<(usize, Destination)>,
}

impl BaseUrls {
    /// Reads the environment, except for wires with a named upstream.
    pub(crate) fn new(environment: &Environment, named: &[UpstreamConfig]) -> anyhow::Result<Self> {
        #[derive(Deserialize)]
        struct Table {
            variable: Vec<Variable>,
        }
        let Table { variable: table } =
            toml::from_str(TABLE).context("`base_urls.toml` is not valid")?;
        let mut this =
            Self { table: Vec::new(), given: BTreeMap::new(), set: Vec::new(), own: Vec::new() };
        for (index, variable) in table.iter().enumerate() {
            match (&variable.prefix, variable.family) {
                (Some(prefix), _) => {
                    let found = variable.destination(prefix, environment)?;
                    this.own.extend(found.map(|found| (index, found)));
                }
                (None, Some(family)) => {
                    let given = environment.get(&variable.name);
                    let given = given.map(|url| complete(family, &url));
                    this.given.extend(given.clone().map(|url| (index, url)));
                    let serves =
                        |wire: Wire| named.iter().any(|one| one.wire.is_none_or(|w| w == wire));
                    if family.wires().all(serves) {
                        continue;
                    }
                    if let Some(url) = given {
                        this.add(&table, index, url)?;
                    }
                }
                (None, None) => bail!("`{}` has neither a family nor a prefix", variable.name),
            }
        }
        Ok(Self { table, ..this })
    }

    /// Adds a variable. Fails if two variables of one family name different servers.
    fn add(&mut self, table: &[Variable], index: usize, url: String) -> anyhow::Result<()> {
        let variable = &table[index];
        let name = &variable.name;
        checked(name, &variable.upstream(&url, None))?;
        let same = self.set.iter().find(|(other, _)| table[*other].family == variable.family);
        match same.map(|(other, before)| (&table[*other], before)) {
            Some((other, before)) if other.root(before) != variable.root(&url) => bail!(
                "`{}` and `{name}` name different servers; unset one, or pass `--upstream`",
                other.name
            ),
            Some(_) => {}
            None => self.set.push((index, url)),
        }
        Ok(())
    }

    /// The upstreams for requests without a named one.
    pub(crate) fn upstreams(&self) -> impl Iterator<Item = UpstreamConfig> {
        let set = self.set.iter().flat_map(|(index, url)| {
            let variable = &self.table[*index];
            let wires = variable.family.into_iter().flat_map(Family::wires);
            wires.map(|wire| variable.upstream(url, Some(wire)))
        });
        set.chain(self.own.iter().map(|(_, destination)| destination.upstream()))
    }

    /// The prefixes of the gateway that have an upstream of their own.
    pub(crate) fn prefixes(&self) -> impl Iterator<Item = &str> {
        self.own.iter().map(|(_, destination)| destination.prefix())
    }

    /// The base URL of a family, if a variable names it.
    pub(crate) fn of_family(&self, family: Family) -> Option<&str> {
        let is_of = |(index, _): &&(usize, String)| self.table[*index].family == Some(family);
        self.set.iter().find(is_of).map(|(_, url)| url.as_str())
    }

    /// The variable that names this host.
    pub(crate) fn naming(&self, host: &str) -> Option<&str> {
        let own = self.own.iter().map(|(index, destination)| (index, destination.url()));
        let mut all = self.set.iter().map(|(index, url)| (index, url.as_str())).chain(own);
        let (index, _) = all.find(|(_, url)| url.split('/').nth(2) == Some(host))?;
        Some(&self.table[*index].name)
    }

    /// Points every variable to its prefix. That of a family without an upstream is left alone.
    pub(crate) fn set(&self, launch: &mut Launch, upstreams: &[UpstreamConfig]) {
        for (index, variable) in self.table.iter().enumerate() {
            if let Some((_, own)) = self.own.iter().find(|(own, _)| *own == index) {
                launch.set(&variable.name, own.link());
                launch.remove(&variable.unset);
            } else if let Some(family) = variable.family.filter(|one| serves(upstreams, *one)) {
                let url = format!("{GATEWAY}/{}{}", family.name(), variable.suffix);
                launch.set(&variable.name, url);
            }
        }
    }

    /// The variables of families for a gateway without prefixes at this address, as `photic serve`
    /// is. Each is of a provider that the gateway knows. `here` is its address on this machine, which
    /// is no URL of the user's own.
    pub(crate) fn without_prefixes(&self, gateway: &str, here: &str) -> Vec<PlainVariable<'_>> {
        let plain = self.table.iter().filter(|one| one.prefix.is_none());
        let plain = plain.filter_map(|variable| {
            let family = variable.family?;
            // Another variable of the family may come before the one with the user's URL.
            let mut given = self.given.iter().filter(|(index, url)| {
                let other = &self.table[**index];
                other.family == Some(family) && other.root(url) != here
            });
            let given = given.next().map(|(_, url)| (url.as_str(), family));
            let url = [gateway, &variable.suffix].concat();
            Some(PlainVariable { name: &variable.name, url, given, caution: variable.caution() })
        });
        plain.collect()
    }

    /// The names of the variables that have an upstream of their own.
    pub(crate) fn own_names(&self) -> impl Iterator<Item = &str> {
        self.own.iter().map(|(index, _)| self.table[*index].name.as_str())
    }
}

/// A variable for `photic serve`.
#[derive(Debug)]
pub(crate) struct PlainVariable<'b> {
    pub(crate) name: &'b str,
    /// The URL of the gateway.
    pub(crate) url: String,
    /// The server that the user's variables name for its family.
    pub(crate) given: Option<(&'b str, Family)>,
    /// The reason why it is not set by default.
    pub(crate) caution: Option<&'b str>,
}

impl Variable {
    fn caution(&self) -> Option<&str> {
        self.caution.as_deref()
    }

    /// The upstream of a variable with a prefix of its own.
    fn destination(
        &self,
        prefix: &str,
        environment: &Environment,
    ) -> anyhow::Result<Option<Destination>> {
        let is_set = |name: &String| match name.strip_suffix('*') {
            Some(start) => environment.names().any(|name| name.starts_with(start)),
            None => environment.is_on(name),
        };
        if !self.needs.is_empty() && !self.needs.iter().any(is_set) {
            return Ok(None);
        }
        let mut given = std::iter::once(&self.name).chain(&self.fallback);
        let given = given.find_map(|name| Some((name.as_str(), environment.get(name)?)));
        let is_default = (self.when.is_empty() || self.when.iter().any(is_set))
            && !self.unless.iter().any(is_set);
        let default = || Some((self.name.as_str(), self.filled(environment)?));
        let Some((name, url)) = given.or_else(|| is_default.then(default).flatten()) else {
            return Ok(None);
        };
        let mut destination = Destination::new(prefix, &url);
        if self.signs {
            destination.region = REGIONS.iter().find_map(|name| environment.word(name));
        }
        checked(name, &destination.upstream())?;
        Ok(Some(destination))
    }

    /// The default URL, with the values of the variables it names.
    fn filled(&self, environment: &Environment) -> Option<String> {
        let default = self.default.as_deref()?;
        let Some((before, rest)) = default.split_once('{') else {
            return Some(default.to_owned());
        };
        let (names, after) = rest.split_once('}')?;
        let value = names.split('|').find_map(|name| environment.word(name))?;
        let special = self.defaults.get(&value).cloned();
        Some(special.unwrap_or_else(|| [before, &value, after].concat()))
    }

    /// The upstream of a family's variable. A URL that ends with a version, or with the provider's
    /// replacement for it, is complete: paths are appended directly.
    fn upstream(&self, url: &str, wire: Option<Wire>) -> UpstreamConfig {
        let unversioned = !self.suffix.is_empty();
        UpstreamConfig { unversioned, ..UpstreamConfig::new(url, wire) }
    }

    /// The URL without the suffix of its variable.
    fn root<'a>(&self, url: &'a str) -> &'a str {
        let url = url.trim_end_matches('/');
        url.strip_suffix(&self.suffix).unwrap_or(url)
    }
}

/// Fails with the name of the variable if its URL cannot be used.
fn checked(name: &str, upstream: &UpstreamConfig) -> anyhow::Result<()> {
    match upstream.check() {
        Ok(()) => Ok(()),
        Err(ConfigError::Value { problem, .. }) => bail!("`{name}`: {problem}"),
        Err(other) => bail!("`{name}`: {other}"),
    }
}

/// Returns `true` if an upstream serves a family, for all or for some models. Amazon has no default
/// upstream for the other models, so one that serves only some is not enough.
fn serves(upstreams: &[UpstreamConfig], family: Family) -> bool {
    let all = |one: &UpstreamConfig| {
        one.models.iter().any(|model| model == "*")
            || (one.models.is_empty() && speaks(one, family))
    };
    let is_enough = |one: &UpstreamConfig| match family {
        Family::AMAZON => all(one),
        _ => speaks(one, family) || !one.models.is_empty(),
    };
    upstreams.iter().any(is_enough)
}

/// Returns `true` if requests of a family may be sent to an upstream without translation.
fn speaks(upstream: &UpstreamConfig, family: Family) -> bool {
    upstream.prefix.is_none() && upstream.wire.is_none_or(|wire| Family::of(wire) == family)
}

/// Adds the default provider of every family without an upstream, since the command would use it.
/// It gets only keys that it issued: the command may have a key for another server, whose URL it
/// reads from a file, and which the variables of the gateway override. Amazon has none without a
/// region.
pub(crate) fn complete_families(upstreams: &mut Vec<UpstreamConfig>) -> anyhow::Result<()> {
    let named: Vec<Family> = Family::all()
        .into_iter()
        .filter(|family| {
            let serves = |one: &UpstreamConfig| one.models.is_empty() && speaks(one, *family);
            *family == Family::AMAZON || upstreams.iter().any(serves)
        })
        .collect();
    let is_named =
        |one: &UpstreamConfig| one.wire.is_some_and(|wire| named.contains(&Family::of(wire)));
    let defaults = UpstreamConfig::defaults()?.into_iter().filter(|one| !is_named(one));
    upstreams.extend(defaults.map(|one| UpstreamConfig { issuer_only: true, ..one }));
    Ok(())
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

/// Reads the name of a family.
fn family<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Family>, D::Error> {
    let name = String::deserialize(deserializer)?;
    let family = Family::from_name(&name);
    family.map(Some).ok_or_else(|| serde::de::Error::custom(format!("unknown family `{name}`")))
}

#[cfg(test)]
mod tests;
