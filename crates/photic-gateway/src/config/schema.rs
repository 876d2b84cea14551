//! Generates the JSON Schema of the settings from their types, and an example file from the schema.

use std::fmt::Write as _;

use photic::Wire;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

/// Returns the schema of the whole file, by JSON Schema 2020-12.
pub(super) fn schema<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut schema = schema.to_value();
    schema["title"] = "photic.toml".into();
    tidy(&mut schema);
    schema
}

/// Returns the schema of a wire's name.
pub(super) fn wires(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "enum": Wire::ALL.map(Wire::name)})
}

/// Returns a file with every setting and its default. Settings without a default are comments.
pub(super) fn example(schema: &Value) -> String {
    let mut out = String::from(
        "#:schema photic.schema.json\n# Every setting of `photic serve`, and its default.\n",
    );
    let (tables, plain): (Vec<_>, Vec<_>) =
        properties(schema).partition(|(_, it)| table(it).is_some());
    for (name, property) in plain {
        setting(&mut out, "", name, property);
    }
    for (name, property) in tables {
        let Some((inner, many)) = table(property) else { continue };
        out.push('\n');
        comment(&mut out, "", property);
        let (mark, before) = if many { ("# ", "# [[") } else { ("", "[") };
        let _ = writeln!(out, "{before}{name}{}", if many { "]]" } else { "]" });
        for (name, property) in properties(inner) {
            setting(&mut out, mark, name, property);
        }
    }
    out
}

/// Returns the settings that a table may hold.
pub(super) fn properties(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().map(|(name, property)| (name.as_str(), property))
}

/// Returns the schema inside a table, and `true` if it is an array of tables.
pub(super) fn table(schema: &Value) -> Option<(&Value, bool)> {
    let items = schema.get("items").filter(|items| items.get("properties").is_some());
    let table = schema.get("properties").map(|_| (schema, false));
    table.or_else(|| items.map(|items| (items, true)))
}

/// Removes `null` from types and defaults, because TOML has no null.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.retain(|key, value| !(key == "default" && value.is_null()));
            if let Some(Value::Object(default)) = object.get_mut("default") {
                default.retain(|_, value| !value.is_null());
            }
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".to_owned(), only);
                }
            }
            alone(object);
            object.values_mut().for_each(tidy);
        }
        Value::Array(values) => values.iter_mut().for_each(tidy),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Replaces `anyOf` with a single remaining alternative by that alternative.
fn alone(object: &mut Map<String, Value>) {
    if let Some(Value::Array(any)) = object.get_mut("anyOf") {
        any.retain(|one| one.get("type").is_none_or(|name| name != "null"));
        if let [Value::Object(only)] = any.as_mut_slice() {
            let only = std::mem::take(only);
            object.remove("anyOf");
            for (key, value) in only {
                object.entry(key).or_insert(value);
            }
        }
    }
}

/// Writes one setting. `mark` comes before each of its lines.
fn setting(out: &mut String, mark: &str, name: &str, schema: &Value) {
    out.push_str(mark.trim_end());
    out.push('\n');
    comment(out, mark, schema);
    let shown = schema.get("examples").and_then(|examples| examples.get(0));
    let by_type = || match schema.get("type").and_then(Value::as_str) {
        Some("integer" | "number") => Value::from(0),
        Some("boolean") => Value::from(false),
        Some("array") => Value::Array(Vec::new()),
        _ => schema.get("enum").and_then(|names| names.get(0)).cloned().unwrap_or("".into()),
    };
    let (mark, value) = match (schema.get("default"), shown) {
        (Some(default), None) => (mark, default.clone()),
        // A setting without a useful default is shown by an example, as a comment.
        (_, shown) => ("# ", shown.cloned().unwrap_or_else(by_type)),
    };
    // Strings, numbers, and lists of them are spelled alike in JSON and TOML.
    let _ = writeln!(out, "{mark}{name} = {value}");
}

fn comment(out: &mut String, mark: &str, schema: &Value) {
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    for line in description.lines() {
        let _ = writeln!(out, "{mark}# {line}");
    }
    // The values of an enumeration, each with its meaning.
    for one in schema.get("oneOf").and_then(Value::as_array).into_iter().flatten() {
        let says = one.get("description").and_then(Value::as_str).unwrap_or_default();
        if let Some(name) = one.get("const") {
            let _ =
                writeln!(out, "{mark}# {name}: {}", says.replace('\n', &format!("\n{mark}#   ")));
        }
    }
}
