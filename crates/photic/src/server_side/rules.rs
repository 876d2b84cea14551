//! The rules of `profiles/server_side.toml`, and the values of a body that they are about.

use std::sync::LazyLock;

use serde::Deserialize;

use super::Effect;
use crate::json::Value;
use crate::wire::Wire;

static SHIPPED: &str = include_str!("../../profiles/server_side.toml");

pub(super) static RULES: LazyLock<Vec<Rule>> =
    LazyLock::new(|| toml::from_str::<File>(SHIPPED).map(|file| file.rule).unwrap_or_default());

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "as_of")]
    _as_of: String,
    rule: Vec<Rule>,
}

/// One field, and its effect.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    pub(super) wire: Wire,
    path: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    /// A value that switches the effect off.
    unless: Option<String>,
    pub(super) effect: Effect,
    across: Option<Across>,
    pub(super) refused_as: Option<String>,
    /// The numbers that hold for a request that states none.
    pub(super) clears: Option<Defaults>,
    #[serde(rename = "source")]
    _source: String,
    #[serde(rename = "confidence")]
    _confidence: String,
}

/// The treatment of a request on another wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Across {
    Refused,
}

/// The numbers of an edit that clears tool results.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Defaults {
    pub(super) trigger_tokens: u64,
    pub(super) keep: usize,
}

impl Rule {
    /// Returns the name of the field, or the type of the item.
    pub(super) fn field(&self) -> &str {
        match (self.path.rsplit('/').next(), &self.kind) {
            (Some("*") | None, Some(kind)) => kind,
            (last, _) => last.unwrap_or_default(),
        }
    }

    pub(super) fn is_refused(&self) -> bool {
        self.across == Some(Across::Refused)
    }

    /// Returns the values in a body that the rule is about.
    pub(super) fn values<'d, 'a>(&self, root: Value<'d, 'a>) -> Vec<Value<'d, 'a>> {
        let (first, rest) = self.path.split_once('/').unwrap_or((&self.path, ""));
        let mut values = Vec::new();
        // Most rules are about members that a request does not have.
        if let Some(value) = root.get(first) {
            let steps: Vec<&str> = rest.split('/').filter(|step| !step.is_empty()).collect();
            self.add_values(value, &steps, &mut values);
        }
        values
    }

    /// Adds the values below another one, in order.
    fn add_values<'d, 'a>(
        &self,
        value: Value<'d, 'a>,
        steps: &[&str],
        values: &mut Vec<Value<'d, 'a>>,
    ) {
        match steps {
            [] => values.extend(self.fits(value).then_some(value)),
            ["*", rest @ ..] => value.items().for_each(|item| self.add_values(item, rest, values)),
            [name, rest @ ..] => {
                if let Some(value) = value.get(name) {
                    self.add_values(value, rest, values);
                }
            }
        }
    }

    fn fits(&self, value: Value<'_, '_>) -> bool {
        let is_kind = |kind: &String| value.get("type").is_some_and(|name| name.is(kind));
        !value.is_null()
            && self.kind.as_ref().is_none_or(is_kind)
            && !self.unless.as_ref().is_some_and(|off| value.is(off))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_read() {
        let file: File = toml::from_str(SHIPPED).unwrap();
        assert!(file.rule.len() >= 15);
        for rule in &file.rule {
            assert!(!rule.field().is_empty(), "{rule:?}");
            assert_eq!(rule.clears.is_some(), rule.effect == Effect::ClearsResults, "{rule:?}");
        }
    }
}
