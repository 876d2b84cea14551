//! Settings that a model or endpoint refuses or spells in its own way.
//!
//! Owns the schema of the section `settings`. The facts are data. Settings have the names of Chat
//! Completions on every wire. The rules apply only to requests that are translated: on its own wire
//! a request keeps the settings it came with.

use serde::{Deserialize, Serialize};

use super::Capability;

/// The endpoint's reaction to a setting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Taken {
    /// It is accepted, or ignored without harm.
    #[default]
    Taken,
    /// A request with it is refused.
    Refused,
}

/// The endpoint's reaction to fields that it does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum UnknownFields {
    /// A request with them is refused.
    #[default]
    Refused,
    /// They are ignored, or used by a server that extends the wire.
    Ignored,
}

/// The characters and the length that the name of a tool may have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolNames {
    /// Maximum number of characters.
    pub most: usize,
    /// The characters that are allowed besides letters and digits.
    pub others: String,
    /// `true` if the first character must be a letter or an underscore.
    #[serde(default)]
    pub starts_with_letter: bool,
}

/// Settings that are refused from a version of the API on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Since {
    /// The version, as a date.
    pub version: String,
    /// The settings that this version and later ones refuse.
    pub refuses: Vec<String>,
}

/// The settings that are refused or spelled differently.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SettingRules {
    /// The endpoint's reaction to fields that it does not know.
    pub unknown_fields: UnknownFields,
    /// Settings that the model refuses.
    pub refuses: Vec<String>,
    /// Groups of settings of which only one may be sent. The first one present is sent.
    pub only_one_of: Vec<Vec<String>>,
    /// Maximum temperature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_temperature: Option<f64>,
    /// Maximum number of strings that end an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_stops: Option<usize>,
    /// The endpoint's reaction to strings of white space that end an answer.
    pub blank_stops: Taken,
    /// The reasoning efforts of the model, the least first. Empty means that it takes none.
    pub efforts: Vec<String>,
    /// The endpoint's reaction to a demand that a tool be called.
    pub forced_calls: Taken,
    /// The capability of tools to demand that arguments match their schema.
    pub strict_tools: Capability,
    /// The rule for the names of tools. `None` means that every name is taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_names: Option<ToolNames>,
    /// The endpoint's reaction to alternatives at the root of a tool's schema.
    pub schema_alternatives: Taken,
    /// The name of the setting that makes answers repeatable, if it is not `seed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed_name: Option<String>,
    /// The settings that later versions of the API refuse.
    pub since: Vec<Since>,
}

impl super::Profile {
    /// Adds the settings that a version of the API refuses. Without a call the oldest version is
    /// assumed.
    pub fn at_version(&mut self, version: &str) {
        let newer = |since: &&Since| version >= since.version.as_str();
        let refused = self.settings.since.iter().filter(newer).flat_map(|since| &since.refuses);
        let refused: Vec<String> = refused.cloned().collect();
        for name in refused {
            if !self.settings.refuses.contains(&name) {
                self.settings.refuses.push(name);
            }
        }
    }

    /// Returns the source of a fact about settings, in plain words and with its date.
    pub(crate) fn setting_source(&self, field: &str) -> String {
        let states = |fact: &&super::Fact| {
            fact.section == "settings" && fact.fields.iter().any(|name| name == field)
        };
        let fact = self.facts.iter().rev().find(states);
        fact.map_or_else(String::new, |fact| format!("{}, {}", fact.source, fact.as_of))
    }
}
