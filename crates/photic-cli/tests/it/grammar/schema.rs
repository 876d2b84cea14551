//! `docs/cli.schema.json`: what `--json` prints, checked against real outputs.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Folder, chat, data};
use crate::{root, run, stdout};

const PICTURE: &str = "captures/images/bars.png";

/// The published schema is that of the types. `PHOTIC_BLESS=1` rewrites it.
#[test]
fn the_schema_is_published() {
    let path = root().join("docs/cli.schema.json");
    let schema = stdout(&run(&["schema", "--cli"]));
    if std::env::var_os("PHOTIC_BLESS").is_some() {
        std::fs::write(&path, &schema).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == schema, "docs/cli.schema.json is out of date: PHOTIC_BLESS=1 writes it");
}

/// The schema as the command prints it.
pub(super) fn schema() -> Value {
    serde_json::from_slice(&run(&["schema", "--cli"]).stdout).unwrap()
}

/// Checks a value against a schema. Returns the problems. Knows the words that our schemas use, and
/// fails on others.
pub(super) fn problems(schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let mut found = Vec::new();
    // Any value.
    let Some(schema) = schema.as_object() else { return found };
    for (word, says) in schema {
        match (word.as_str(), says) {
            ("type", says) if !is_of_type(says, value) => {
                found.push(format!("{at}: {value} is not of type {says}"));
            }
            ("enum", Value::Array(values)) if !values.contains(value) => {
                found.push(format!("{at}: {value} is none of {says}"));
            }
            ("const", says) if says != value => found.push(format!("{at}: {value} is not {says}")),
            ("minimum", says) if value.is_number() && value.as_f64() < says.as_f64() => {
                found.push(format!("{at}: {value} is less than {says}"));
            }
            ("oneOf" | "anyOf", Value::Array(schemas)) => {
                let fits = schemas.iter().any(|one| problems(one, value, at).is_empty());
                found.extend((!fits).then(|| format!("{at}: {value} fits none of {says}")));
            }
            ("required", Value::Array(names)) => {
                let missing =
                    names.iter().filter(|name| value.get(name.as_str().unwrap()).is_none());
                found.extend(missing.map(|name| format!("{at}: {name} is missing")));
            }
            ("properties", Value::Object(properties)) => {
                for (name, value) in value.as_object().into_iter().flatten() {
                    match properties.get(name) {
                        Some(property) => {
                            found.extend(problems(property, value, &format!("{at}/{name}")));
                        }
                        None => found.push(format!("{at}/{name} is not in the schema")),
                    }
                }
            }
            ("additionalProperties", inner) => {
                for (name, value) in value.as_object().into_iter().flatten() {
                    found.extend(problems(inner, value, &format!("{at}/{name}")));
                }
            }
            ("items", inner) => {
                for (index, value) in value.as_array().into_iter().flatten().enumerate() {
                    found.extend(problems(inner, value, &format!("{at}/{index}")));
                }
            }
            ("prefixItems", Value::Array(inner)) => {
                let values = value.as_array().into_iter().flatten();
                for (index, (schema, value)) in inner.iter().zip(values).enumerate() {
                    found.extend(problems(schema, value, &format!("{at}/{index}")));
                }
            }
            ("minItems" | "maxItems", _) => {
                let (length, limit) = (value.as_array().map(Vec::len), says.as_u64());
                let is_over = word == "maxItems" && length.map(|one| one as u64) > limit;
                let is_under = word == "minItems" && length.map(|one| one as u64) < limit;
                found.extend((is_over || is_under).then(|| format!("{at}: not {word} {says}")));
            }
            (
                "type" | "enum" | "const" | "minimum" | "description" | "format" | "title"
                | "$schema" | "maximum",
                _,
            ) => {}
            (other, _) => found.push(format!("{at}: the test does not know the word `{other}`")),
        }
    }
    found
}

fn is_of_type(names: &Value, value: &Value) -> bool {
    let is = |name: &Value| match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        // A type that the test does not know fits nothing.
        _ => false,
    };
    names.as_array().map_or_else(|| is(names), |names| names.iter().any(is))
}

/// Checks every object of an output, at any depth, against the vocabulary. Returns the problems.
pub(super) fn unusual_words(vocabulary: &Value, value: &Value, at: &str) -> Vec<String> {
    /// Other words for the same things, which earlier versions printed.
    const OLD: [(&str, &str); 5] = [
        ("number", "index"),
        ("now", "fate"),
        ("frames", "pages"),
        ("byte_size", "bytes"),
        ("source", "source_size"),
    ];
    let mut found = Vec::new();
    match value {
        Value::Object(object) => {
            for (name, inner) in object {
                let at = format!("{at}/{name}");
                // Bodies and arguments are those of others; facts are written as in profile files.
                if ["body", "refusal", "arguments", "facts", "known", "heard"]
                    .contains(&name.as_str())
                {
                    continue;
                }
                // `inspect` names the file that it asked about.
                let is_file = name == "source" && inner.is_string();
                if let Some((_, word)) = OLD.iter().find(|(old, _)| old == name && !is_file) {
                    found.push(format!("{at} should be `{word}`"));
                }
                let property = &vocabulary["properties"][name];
                // A list of images is called `images`, too.
                let is_list = inner.is_array() && property["type"] != "array";
                if !property.is_null() && !inner.is_null() && !is_list {
                    found.extend(problems(property, inner, &at));
                }
                found.extend(unusual_words(vocabulary, inner, &at));
            }
        }
        Value::Array(values) => {
            for (index, inner) in values.iter().enumerate() {
                found.extend(unusual_words(vocabulary, inner, &format!("{at}/{index}")));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    found
}

#[test]
fn real_outputs_fit_the_schema() {
    let folder = Folder::new("schema");
    let many = folder.file("many.json", chat("gpt-4o", 10).to_string());
    let unknown = folder.file("unknown.json", chat("nobody/knows-this", 2).to_string());
    let odd = "crates/photic/tests/wires/responses-previous-id/in.json";
    let codex = "crates/photic/tests/wires/responses-codex-tools/in.json";
    let stored = "crates/photic/tests/dumps/langchain-py-dict-v0.json";
    let mut outputs: BTreeMap<&str, Vec<Vec<&str>>> = BTreeMap::new();
    for file in [many.as_str(), &unknown, odd, codex, "examples/request.json"] {
        for command in ["check", "lower", "explain"] {
            outputs.entry(command).or_default().push(vec![command, file]);
        }
        outputs.entry("lower").or_default().push(vec!["lower", file, "--to", "anthropic"]);
        let policy = ["--policy", "newest(2)", "--for", "claude-opus-5", "--to", "anthropic"];
        let explain = [&["explain", file][..], &policy].concat();
        outputs.entry("explain").or_default().push(explain);
        outputs.entry("simulate").or_default().push(vec!["simulate", file, "--steps", "5"]);
    }
    let dump = ["lower", "explain"].map(|command| vec![command, stored, "--to", "gemini"]);
    outputs.entry("lower").or_default().push(dump[0].clone());
    outputs.entry("explain").or_default().push(dump[1].clone());
    outputs.entry("simulate").or_default().push(vec!["simulate"]);
    outputs.entry("config").or_default().push(vec!["config"]);
    outputs.entry("error").or_default().push(vec!["check", "no-such-file"]);
    outputs.entry("error").or_default().push(vec!["check", "--no-such-flag"]);
    let region = vec!["view", PICTURE, "--region", "500,500,10,10"];
    outputs.entry("error").or_default().push(region);
    let schema = schema();
    for (name, commands) in outputs {
        let definition = &schema["$defs"][name];
        assert!(definition.is_object(), "{name}");
        for command in commands {
            let output = data(&run(&[&command[..], &["--json"]].concat()));
            let found = problems(definition, &output, "");
            assert!(found.is_empty(), "{command:?}: {found:#?}");
            let found = unusual_words(&schema["$defs"]["vocabulary"], &output, "");
            assert!(found.is_empty(), "{command:?}: {found:#?}");
        }
    }
}

#[test]
fn the_check_finds_what_does_not_fit() {
    let schema = schema();
    let check = &schema["$defs"]["check"];
    let mut output = data(&run(&["check", "examples/request.json", "--json"]));
    assert!(problems(check, &output, "").is_empty());
    output["findings"][0]["index"] = "first".into();
    output["surprise"] = 1.into();
    output.as_object_mut().unwrap().remove("profile");
    assert_eq!(problems(check, &output, "").len(), 3, "{:?}", problems(check, &output, ""));
    let words = serde_json::json!({"images": 1, "list": [{"number": 1, "tokens": "many"}]});
    assert_eq!(unusual_words(&schema["$defs"]["vocabulary"], &words, "").len(), 2);
}
