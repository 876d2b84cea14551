//! Rules: the ordered patterns of `profiles/rejections.toml`, compiled once.
//!
//! This module tries them, on the innermost message before codes and wrappers, and reads the limit
//! that a text names. Every judgment must come from the data. The one exception is the status 413,
//! which is enough by itself.

use std::sync::LazyLock;

use regex_lite::{Captures, Regex, RegexBuilder};
use serde::Deserialize;

use super::Class;
use super::envelope::Layers;

const SHIPPED: &str = include_str!("../../profiles/rejections.toml");

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| load(SHIPPED).0);

/// Returns the class of an answer, and the limit it names.
pub(super) fn decide(status: Option<u16>, layers: &Layers) -> (Class, Option<u64>) {
    let fallback = if status == Some(413) { Class::BodyTooLarge } else { Class::Unrelated };
    first(&RULES, status, layers).map_or((fallback, None), |(_, verdict)| verdict)
}

/// Returns the first rule that matches, and its result. It tries the provider's message, then the
/// codes, then the messages of the routers in between.
pub(super) fn first(
    rules: &[Rule],
    status: Option<u16>,
    layers: &Layers,
) -> Option<(usize, (Class, Option<u64>))> {
    let codes = layers.codes.join("\n");
    let outer = layers.outer.iter().map(String::as_str);
    let judged = |words| {
        let verdicts = rules.iter().map(|rule: &Rule| rule.judge(status, words));
        verdicts.enumerate().find_map(|(index, verdict)| Some((index, verdict?)))
    };
    [layers.innermost.as_str(), codes.as_str()].into_iter().chain(outer).find_map(judged)
}

/// Reads a file of rules. Rules that cannot be read are left out and reported.
pub(super) fn load(text: &str) -> (Vec<Rule>, Vec<String>) {
    let file = match toml::from_str::<File>(text) {
        Ok(file) => file,
        Err(error) => return (Vec::new(), vec![error.to_string()]),
    };
    let mut rules = Vec::new();
    let mut problems = Vec::new();
    for raw in file.rule {
        match raw.compile() {
            Ok(rule) => rules.push(rule),
            Err(problem) => problems.push(problem),
        }
    }
    (rules, problems)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "as_of")]
    _as_of: String,
    rule: Vec<Raw>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    class: Class,
    pattern: String,
    unless: Option<String>,
    /// If not empty, the rule applies only to answers with one of these statuses.
    #[serde(default)]
    status: Vec<u16>,
    /// The limit, if the text spells it out in words or implies it.
    limit: Option<u64>,
}

/// One compiled rule.
pub(super) struct Rule {
    pub(super) class: Class,
    pattern: Regex,
    unless: Option<Regex>,
    status: Vec<u16>,
    limit: Option<u64>,
}

impl Raw {
    fn compile(self) -> Result<Rule, String> {
        let compile = |pattern: &str| {
            RegexBuilder::new(pattern)
                .case_insensitive(true)
                .dot_matches_new_line(true)
                .build()
                .map_err(|error| format!("`{pattern}`: {error}"))
        };
        Ok(Rule {
            class: self.class,
            pattern: compile(&self.pattern)?,
            unless: self.unless.as_deref().map(compile).transpose()?,
            status: self.status,
            limit: self.limit,
        })
    }
}

impl Rule {
    fn judge(&self, status: Option<u16>, words: &str) -> Option<(Class, Option<u64>)> {
        if !self.status.is_empty() && !status.is_some_and(|s| self.status.contains(&s)) {
            return None;
        }
        let captures = self.pattern.captures(words)?;
        if self.unless.as_ref().is_some_and(|unless| unless.is_match(words)) {
            return None;
        }
        Some((self.class, self.limit.or_else(|| named_limit(&captures))))
    }
}

/// Returns the larger of the groups `limit` and `other`, in the unit of the group `unit`.
///
/// Two numbers are a width and a height; the limit is on the longer side.
fn named_limit(captures: &Captures<'_>) -> Option<u64> {
    let unit = captures.name("unit").map_or(1.0, |unit| bytes_of(unit.as_str()));
    let number = |group| {
        let digits: String = captures.name(group)?.as_str().chars().filter(|c| *c != ',').collect();
        digits.trim_end_matches('.').parse::<f64>().ok()
    };
    let limit = number("limit")?.max(number("other").unwrap_or(0.0)) * unit;
    (limit >= 1.0).then_some(limit as u64)
}

/// Returns the bytes of a unit. Units are decimal unless the name is binary, because the smaller
/// value never exceeds the limit.
fn bytes_of(unit: &str) -> f64 {
    match unit.to_ascii_lowercase().as_str() {
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "kib" => 1024.0,
        "mib" => 1024.0 * 1024.0,
        "gib" => 1024.0 * 1024.0 * 1024.0,
        _ => 1.0,
    }
}
