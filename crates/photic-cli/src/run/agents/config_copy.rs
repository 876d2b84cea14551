//! Agents whose base URLs are in a configuration file: they get a copy of it for one run.
//!
//! In the copy, each URL leads through the gateway to where it led before. The user's file is only
//! read.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Preparation, filled};
use crate::run::launch::{Launch, SCRATCH};
use crate::run::scratch::Overlay;

/// A configuration of which an agent gets a changed copy.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConfigCopy {
    /// Its folder, below the home.
    folder: String,
    /// The variable that names another folder. The copy is announced by it, unless `argument` is set.
    variable: Option<String>,
    /// The argument that names another file.
    argument: Option<String>,
    /// The file in the folder.
    file: String,
    /// The key of each base URL.
    key: String,
    /// JSON pointers that get a value if they have none.
    #[serde(default)]
    defaults: BTreeMap<String, String>,
}

impl ConfigCopy {
    /// Adds the copy, if there is a URL in it, and points the agent to it.
    pub(super) fn prepare(&self, launch: &mut Launch, context: &Preparation<'_>, command: &str) {
        let variable = self.variable.as_deref().unwrap_or_default();
        let Some(folder) = context.environment.folder(variable, &self.folder) else {
            return;
        };
        let words = launch.command.iter().skip(context.at);
        let is_argument = |name: &String| {
            words.clone().any(|word| {
                let word = word.to_string_lossy();
                word == name.as_str() || word.starts_with(&format!("{name}="))
            })
        };
        if self.argument.as_ref().is_some_and(is_argument) {
            // The user names a file.
            return;
        }
        let file = folder.join(&self.file);
        let before = std::fs::read_to_string(&file).ok();
        let mut count = 0;
        let mut lead = |url: &str| {
            count += 1;
            launch.lead(&format!("{command}-{count}"), url).ok()
        };
        let is_yaml = Path::new(&self.file).extension().is_some_and(|it| it == "yaml");
        let after = if is_yaml {
            before.as_deref().and_then(|text| in_yaml(text, &self.key, &mut lead))
        } else {
            self.in_json(before.as_deref(), &mut lead)
        };
        let Some(after) = after.filter(|after| before.as_ref() != Some(after)) else {
            return;
        };
        let copy_of = before.is_some().then_some(file);
        let path = format!("{command}/{}", self.file);
        let path = launch.write(&path, after, copy_of);
        if let Some(argument) = &self.argument {
            launch.insert(context.at, &[argument.clone(), path]);
        } else {
            let except = vec![self.file.clone()];
            launch.overlays.push(Overlay { path: command.into(), of: folder, except });
            launch.set(variable, format!("{SCRATCH}/{command}"));
        }
    }

    /// Rewrites JSON. Returns `None` if it is none: it may hold comments.
    fn in_json(
        &self,
        before: Option<&str>,
        lead: &mut impl FnMut(&str) -> Option<String>,
    ) -> Option<String> {
        let mut value: Value = match before {
            Some(text) => serde_json::from_str(text).ok()?,
            None if self.defaults.is_empty() => return None,
            None => json!({}),
        };
        replace(&mut value, &self.key, lead);
        for (pointer, url) in &self.defaults {
            add(&mut value, pointer, &filled(url));
        }
        Some(format!("{value:#}\n"))
    }
}

/// Replaces every URL with this key.
fn replace(value: &mut Value, key: &str, lead: &mut impl FnMut(&str) -> Option<String>) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, key, lead)),
        Value::Object(entries) => {
            for (name, value) in entries {
                match value.as_str() {
                    Some(url) if name == key => {
                        if let Some(link) = lead(url) {
                            *value = json!(link);
                        }
                    }
                    _ => replace(value, key, lead),
                }
            }
        }
        _ => {}
    }
}

/// Sets the value at a pointer, unless it has one.
fn add(value: &mut Value, pointer: &str, text: &str) {
    let mut at = value;
    for step in pointer.split('/').skip(1) {
        if at.is_null() {
            *at = json!({});
        }
        let Value::Object(entries) = at else { return };
        at = entries.entry(step).or_insert(Value::Null);
    }
    if at.is_null() {
        *at = json!(text);
    }
}

/// Replaces every URL after this key, line by line: anything else in the file stays as it is. Returns
/// `None` if there is none.
fn in_yaml(text: &str, key: &str, lead: &mut impl FnMut(&str) -> Option<String>) -> Option<String> {
    let mut is_changed = false;
    let mut one = |line: &str| {
        let (before, after) = line.split_once(':')?;
        let name = before.trim_start_matches([' ', '-']).trim_matches(['"', '\'']);
        let value = after.split(" #").next().unwrap_or_default().trim();
        let url = value.trim_matches(['"', '\'']);
        (name == key).then_some(())?;
        let link = lead(url)?;
        is_changed = true;
        Some(format!("{before}: \"{link}\""))
    };
    let lines: Vec<String> =
        text.lines().map(|line| one(line).unwrap_or_else(|| line.to_owned())).collect();
    is_changed.then(|| lines.join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_in_yaml_are_replaced_and_nothing_else() {
        let text = "models:\n  - name: a # apiBase: http://x\n    apiBase: 'http://h/v1' # own\n  \
                    - apiBase: http://g\n    apiKey: k\n    apiBaseUrl: http://no\n";
        let mut seen = Vec::new();
        let after = in_yaml(text, "apiBase", &mut |url| {
            seen.push(url.to_owned());
            Some(format!("http://gateway/{}", seen.len()))
        });
        assert_eq!(seen, ["http://h/v1", "http://g"]);
        let none = in_yaml("models: []\nname: no final newline", "apiBase", &mut |_| None);
        assert_eq!(none, None);
        assert_eq!(
            after.unwrap(),
            "models:\n  - name: a # apiBase: http://x\n    apiBase: \"http://gateway/1\"\n  \
             - apiBase: \"http://gateway/2\"\n    apiKey: k\n    apiBaseUrl: http://no\n"
        );
    }

    #[test]
    fn values_are_added_only_where_there_are_none() {
        let mut value = json!({"providers": {"anthropic": {"baseUrl": "http://mine"}, "x": 1}});
        add(&mut value, "/providers/anthropic/baseUrl", "http://g/a");
        add(&mut value, "/providers/openai/baseUrl", "http://g/o");
        add(&mut value, "/providers/x/baseUrl", "http://g/x");
        assert_eq!(
            value,
            json!({"providers": {
                "anthropic": {"baseUrl": "http://mine"}, "openai": {"baseUrl": "http://g/o"}, "x": 1,
            }})
        );
    }
}
