//! Reads profile files, lays them over one another, and chooses a profile for a request.
//!
//! Owns inheritance (`extends`), the overlay of a host on a model, and the record of the origin of
//! each field. Must never panic on a file, shipped or not: what cannot be read is a problem in a
//! list, and the rest still works.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::price::{self, Priced};
use super::{Confidence, Fact, Profile, glob};
use crate::wire::Wire;

const SHIPPED: &[&str] = &[
    include_str!("../../profiles/openai.toml"),
    include_str!("../../profiles/anthropic.toml"),
    include_str!("../../profiles/gemini.toml"),
    include_str!("../../profiles/bedrock.toml"),
    include_str!("../../profiles/ollama.toml"),
    include_str!("../../profiles/compatible.toml"),
    include_str!("../../profiles/prices.toml"),
    #[cfg(feature = "sample-wire")]
    include_str!("../../profiles/sample.toml"),
];

/// Maximum depth of `extends`. More is a loop.
const MAX_DEPTH: usize = 8;

/// A set of profiles to choose from.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    profiles: Vec<Profile>,
    /// The own statements of each profile, in the order of `profiles`.
    entries: Vec<Entry>,
    prices: Vec<Priced>,
}

impl Catalog {
    /// Returns the profiles that come with the library.
    pub fn shipped() -> &'static Self {
        static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::load(SHIPPED).0);
        &CATALOG
    }

    /// Loads the shipped profiles with a user's own on top. Also returns the problems found in
    /// them.
    ///
    /// A user's profile replaces a shipped one of that id, and wins over one whose globs are as
    /// specific.
    pub fn shipped_with(texts: &[&str]) -> (Self, Vec<String>) {
        let mut all = SHIPPED.to_vec();
        all.extend_from_slice(texts);
        Self::load(&all)
    }

    /// Loads the profiles of these files. Also returns the problems found in them.
    pub fn load(texts: &[&str]) -> (Self, Vec<String>) {
        let mut problems = Vec::new();
        let mut entries: Vec<Entry> = Vec::new();
        let mut prices: Vec<Priced> = Vec::new();
        for text in texts {
            match toml::from_str::<File>(text) {
                Ok(file) => {
                    for raw in file.profile {
                        for entry in raw.expand(&mut problems) {
                            entries.retain(|former| former.id != entry.id);
                            entries.push(entry);
                        }
                    }
                    problems.extend(file.price.iter().filter_map(Priced::problem));
                    prices.extend(file.price.into_iter().filter(|p| p.problem().is_none()));
                }
                Err(error) => problems.push(error.to_string()),
            }
        }
        let mut catalog = Self { prices, ..Self::default() };
        for entry in &entries {
            match chain(&entries, entry).and_then(|layers| assemble(entry, &layers)) {
                Ok(profile) => {
                    catalog.profiles.push(profile);
                    catalog.entries.push(entry.clone());
                }
                Err(problem) => problems.push(format!("profile `{}`: {problem}", entry.id)),
            }
        }
        (catalog, problems)
    }

    /// Returns every profile, in file order.
    pub fn profiles(&self) -> &[Profile] {
        &self.profiles
    }

    /// Returns the profile of that id.
    pub fn by_id(&self, id: &str) -> Option<&Profile> {
        self.profiles.iter().find(|profile| profile.id == id)
    }

    /// Returns the profile of a wire about which nothing else is known.
    pub fn generic(&self, wire: Wire) -> Profile {
        self.by_id(wire.name()).cloned().unwrap_or_else(|| Profile::bare(wire))
    }

    /// Returns the profile for a request. There is always one; see [`super::resolve`].
    pub fn resolve(&self, wire: Wire, model: Option<&str>, host: Option<&str>) -> Profile {
        let models = model.map(glob::model_names).unwrap_or_default();
        let mut profile = self.chosen(wire, &models, host);
        price::apply(&self.prices, &models, &mut profile);
        profile
    }

    fn chosen(&self, wire: Wire, models: &[&str], host: Option<&str>) -> Profile {
        let Some(by_model) = self.pick(wire, models, &[]) else { return self.generic(wire) };
        let hosts = host.map(glob::host_names).unwrap_or_default();
        let Some(by_host) = self.pick(wire, models, &hosts).filter(|_| !hosts.is_empty()) else {
            return self.profiles[by_model].clone();
        };
        self.overlaid(by_model, by_host).unwrap_or_else(|| self.profiles[by_model].clone())
    }

    /// Returns the most specific profile: by host first if there are hosts, then by model. Of
    /// equals the later one wins, so that a user's file overrides a shipped one.
    fn pick(&self, wire: Wire, models: &[&str], hosts: &[&str]) -> Option<usize> {
        let mut best: Option<((usize, usize), usize)> = None;
        for (index, profile) in self.profiles.iter().enumerate() {
            if profile.wire != wire || profile.hosts.is_empty() != hosts.is_empty() {
                continue;
            }
            let by_host =
                if hosts.is_empty() { Some(0) } else { glob::best(&profile.hosts, hosts) };
            // Without a model name only the catch-all applies.
            let by_model = if models.is_empty() { &[""] } else { models };
            let Some(rank) = by_host.zip(glob::best(&profile.models, by_model)) else { continue };
            if best.is_none_or(|(former, _)| rank >= former) {
                best = Some((rank, index));
            }
        }
        best.map(|(_, index)| index)
    }

    /// Returns the model's profile under the statements of the host and of the hosts it extends.
    fn overlaid(&self, by_model: usize, by_host: usize) -> Option<Profile> {
        let (model, host) = (self.entries.get(by_model)?, self.entries.get(by_host)?);
        let mut layers = chain(&self.entries, model).ok()?;
        let hosts = chain(&self.entries, host).ok()?;
        layers.extend(hosts.into_iter().filter(|entry| !entry.hosts.is_empty()));
        let mut profile = assemble(model, &layers).ok()?;
        profile.id = format!("{}+{}", model.id, host.id);
        profile.hosts.clone_from(&host.hosts);
        Some(profile)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    profile: Vec<Raw>,
    #[serde(default)]
    price: Vec<Priced>,
}

/// A profile as written in a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    id: String,
    wire: Wires,
    extends: Option<String>,
    #[serde(default)]
    models: Vec<String>,
    #[serde(default)]
    hosts: Vec<String>,
    sight: Option<Table>,
    placement: Option<Table>,
    accepts: Option<Table>,
    limits: Option<Table>,
    tokens: Option<Table>,
    pages: Option<Table>,
    cache: Option<Table>,
    quirks: Option<Table>,
    settings: Option<Table>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Wires {
    One(Wire),
    Many(Vec<Wire>),
}

/// A profile of one wire, with only its own statements.
#[derive(Clone, Debug)]
struct Entry {
    id: String,
    wire: Wire,
    extends: Option<String>,
    models: Vec<String>,
    hosts: Vec<String>,
    sections: Vec<(Table, Fact)>,
}

impl Raw {
    /// Returns one entry per wire. Several wires make ids of the form `id@wire`.
    fn expand(self, problems: &mut Vec<String>) -> Vec<Entry> {
        let named = [
            ("sight", self.sight),
            ("placement", self.placement),
            ("accepts", self.accepts),
            ("limits", self.limits),
            ("tokens", self.tokens),
            ("pages", self.pages),
            ("cache", self.cache),
            ("quirks", self.quirks),
            ("settings", self.settings),
        ];
        let mut sections = Vec::new();
        for (name, table) in named {
            let Some(table) = table else { continue };
            match split_origin(name, &self.id, table) {
                Ok(section) => sections.push(section),
                Err(problem) => {
                    problems.push(format!("profile `{}`, section `{name}`: {problem}", self.id));
                }
            }
        }
        let (wires, single) = match self.wire {
            Wires::One(wire) => (vec![wire], true),
            Wires::Many(wires) => (wires, false),
        };
        wires
            .into_iter()
            .map(|wire| Entry {
                id: if single { self.id.clone() } else { format!("{}@{wire}", self.id) },
                wire,
                extends: self.extends.clone(),
                models: self.models.clone(),
                hosts: self.hosts.clone(),
                sections: sections.clone(),
            })
            .collect()
    }
}

/// Splits a section into its facts and their origin.
fn split_origin(section: &str, id: &str, mut table: Table) -> Result<(Table, Fact), String> {
    let mut take = |key: &str| match table.remove(key) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(format!("`{key}` is not a string")),
        None => Err(format!("`{key}` is missing")),
    };
    let (as_of, source) = (take("as_of")?, take("source")?);
    let confidence = Value::String(take("confidence")?);
    let confidence: Confidence = confidence.try_into().map_err(|e| e.to_string())?;
    let mut fields: Vec<String> = table.keys().cloned().collect();
    fields.sort();
    let (section, profile) = (section.to_owned(), id.to_owned());
    Ok((table, Fact { section, fields, as_of, source, confidence, profile }))
}

/// Returns an entry and all it extends, the most general first. Without `extends` that is the
/// generic profile of its wire, which is the one whose id is the name of the wire.
fn chain<'a>(entries: &'a [Entry], entry: &'a Entry) -> Result<Vec<&'a Entry>, String> {
    let mut layers = vec![entry];
    let mut current = entry;
    while current.id != current.wire.name() {
        if layers.len() > MAX_DEPTH {
            return Err("extends itself".to_owned());
        }
        let wanted = current.extends.as_deref().unwrap_or(current.wire.name());
        let on_wire = format!("{wanted}@{}", current.wire);
        let parent = entries
            .iter()
            .find(|e| e.wire == current.wire && (e.id == wanted || e.id == on_wire))
            .ok_or_else(|| format!("extends `{wanted}`, which is not on {}", current.wire))?;
        layers.push(parent);
        current = parent;
    }
    layers.reverse();
    Ok(layers)
}

/// Lays the layers over one another, field by field, and converts the result to its types.
fn assemble(named: &Entry, layers: &[&Entry]) -> Result<Profile, String> {
    let mut sections: BTreeMap<&str, Table> = BTreeMap::new();
    let mut profile = Profile::bare(named.wire);
    for (table, fact) in layers.iter().flat_map(|entry| &entry.sections) {
        let section = sections.entry(&fact.section).or_default();
        // A new rule discards the numbers of the former one, which mean nothing to it.
        if table.contains_key("rule") {
            section.clear();
            profile.facts.retain(|former| former.section != fact.section);
        }
        section.extend(table.clone());
        profile.attribute(fact.clone());
    }
    profile.id.clone_from(&named.id);
    profile.models.clone_from(&named.models);
    profile.hosts.clone_from(&named.hosts);
    typed(&mut sections, "sight", &mut profile.sight)?;
    typed(&mut sections, "placement", &mut profile.placement)?;
    typed(&mut sections, "accepts", &mut profile.accepts)?;
    typed(&mut sections, "limits", &mut profile.limits)?;
    typed(&mut sections, "tokens", &mut profile.tokens)?;
    typed(&mut sections, "pages", &mut profile.pages)?;
    typed(&mut sections, "cache", &mut profile.cache)?;
    typed(&mut sections, "quirks", &mut profile.quirks)?;
    typed(&mut sections, "settings", &mut profile.settings)?;
    Ok(profile)
}

fn typed<T: DeserializeOwned>(
    sections: &mut BTreeMap<&str, Table>,
    name: &str,
    into: &mut T,
) -> Result<(), String> {
    if let Some(table) = sections.remove(name) {
        *into = Value::Table(table).try_into().map_err(|e| format!("section `{name}`: {e}"))?;
    }
    Ok(())
}
