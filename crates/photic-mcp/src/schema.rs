//! JSON schemas in a dialect that every host understands.
//!
//! Some hosts translate schemas for their provider and fail on `$ref`, `null` in a list of types,
//! `oneOf` of constants, or integer formats. None of these is used.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// Returns the simplified schema of a type.
pub(crate) fn plain<T: JsonSchema>() -> JsonObject {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    simplify(&mut schema);
    match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}

/// Adds a property to the schema of an object.
pub(crate) fn with_property(mut schema: JsonObject, name: &str, property: Value) -> JsonObject {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert(name.to_owned(), property);
    }
    schema
}

/// Appends words to the description of a property.
pub(crate) fn described(mut schema: JsonObject, name: &str, words: &str) -> JsonObject {
    let property = schema.get_mut("properties").and_then(|properties| properties.get_mut(name));
    if let Some(Value::String(description)) = property.and_then(|one| one.get_mut("description")) {
        description.push_str(words);
    }
    schema
}

fn simplify(schema: &mut Value) {
    let Value::Object(words) = schema else { return };
    for unwanted in ["$schema", "title", "format", "default"] {
        // A property may have such a name; a keyword is not an object.
        if !words.get(unwanted).is_some_and(Value::is_object) {
            words.remove(unwanted);
        }
    }
    unwrap_nullable(words);
    unwrap_constants(words);
    if let Some(Value::Object(properties)) = words.get_mut("properties") {
        properties.values_mut().for_each(simplify);
    }
    if let Some(items) = words.get_mut("items") {
        simplify(items);
    }
    // A tuple is written as a list; descriptions explain the positions.
    if let Some(Value::Array(items)) = words.remove("prefixItems")
        && let Some(mut first) = items.into_iter().next()
    {
        simplify(&mut first);
        words.insert("items".to_owned(), first);
    }
    if let Some(Value::String(description)) = words.get_mut("description") {
        *description = description.replace('\n', " ");
    }
}

/// Removes `null`: optional values are omitted.
fn unwrap_nullable(words: &mut JsonObject) {
    if let Some(Value::Array(types)) = words.get("type") {
        let kind = types.iter().find(|kind| *kind != "null").cloned();
        words.insert("type".to_owned(), kind.unwrap_or_default());
    }
    let is_null = |branch: &Value| branch["type"] == "null";
    let branches = match words.get("anyOf") {
        Some(Value::Array(branches)) if branches.iter().any(is_null) => branches.clone(),
        _ => return,
    };
    words.remove("anyOf");
    if let Some(Value::Object(branch)) = branches.into_iter().find(|branch| !is_null(branch)) {
        let described = words.remove("description");
        words.extend(branch);
        if let Some(description) = described {
            words.insert("description".to_owned(), description);
        }
    }
}

/// Turns constants with descriptions into an enumeration with one description.
fn unwrap_constants(words: &mut JsonObject) {
    let Some(Value::Array(branches)) = words.get("oneOf") else { return };
    let constants: Option<Vec<Value>> = branches.iter().map(|b| b.get("const").cloned()).collect();
    let Some(constants) = constants else { return };
    let told = branches.iter().filter_map(|branch| {
        Some(format!("`{}`: {}", branch["const"].as_str()?, branch["description"].as_str()?))
    });
    let told = told.collect::<Vec<_>>().join("; ");
    words.remove("oneOf");
    words.insert("type".to_owned(), "string".into());
    words.insert("enum".to_owned(), Value::Array(constants));
    let before = words.get("description").and_then(Value::as_str).unwrap_or_default();
    let description = match (before.is_empty(), told.is_empty()) {
        (_, true) => before.to_owned(),
        (true, false) => told,
        (false, false) => format!("{before}. {told}"),
    };
    words.insert("description".to_owned(), description.into());
}
