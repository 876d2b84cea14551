//! The JSON Schema of all outputs, generated from their types.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::{CheckReport, ExplainReport, FailureReport, LowerReport, SimulateReport, Vocabulary};
use crate::config::ConfigReport;

/// The schema of what `--json` prints, by JSON Schema 2020-12. Each command has a definition in
/// `$defs`.
pub(crate) fn schema() -> Value {
    let mut definitions = Map::new();
    for (name, schema) in [
        ("check", of::<CheckReport>()),
        ("lower", of::<LowerReport>()),
        ("explain", of::<ExplainReport>()),
        ("simulate", of::<SimulateReport>()),
        ("config", of::<ConfigReport>()),
        ("error", of::<FailureReport>()),
        ("vocabulary", vocabulary()),
    ] {
        definitions.insert(name.to_owned(), schema);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "photic --json",
        "description": "What the commands of photic print with `--json`. `check`, `lower`, \
            `explain`, `simulate` and `config` print what their definition says, and every command \
            prints an `error` on failure, and if a tool refused. Wherever a name of the vocabulary \
            occurs, in any command, it has the meaning and type that is stated there.",
        "$defs": definitions,
    })
}

/// The schema of one type, without references.
fn of<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12().for_serialize();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(object) = schema.as_object_mut() {
        object.remove("title");
    }
    without_null(&mut schema);
    schema
}

/// The names with their meaning. None is required.
fn vocabulary() -> Value {
    let mut schema = of::<Vocabulary>();
    if let Some(object) = schema.as_object_mut() {
        object.remove("required");
    }
    schema
}

/// Removes `null` from types: what is not known is left out.
fn without_null(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".to_owned(), only);
                }
            }
            let any = object.get_mut("anyOf").and_then(Value::as_array_mut);
            let rest = any.and_then(|any| {
                any.retain(|one| one["type"] != "null");
                if let [only] = any.as_slice() { Some(only.clone()) } else { None }
            });
            if let Some(Value::Object(rest)) = rest {
                object.remove("anyOf");
                for (key, value) in rest {
                    object.entry(key).or_insert(value);
                }
            }
            object.values_mut().for_each(without_null);
        }
        Value::Array(values) => values.iter_mut().for_each(without_null),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
