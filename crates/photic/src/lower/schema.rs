//! Schemas of tools as endpoints require them: an object at the root, without alternatives there.

use std::borrow::Cow;

use crate::json::{Doc, Kind, Out, Value};

/// A repaired schema, and the changes made to it.
pub(super) struct Mended {
    pub(super) schema: Vec<u8>,
    /// `true` if the type was added.
    pub(super) typed: bool,
    /// The members at the root that were left out.
    pub(super) left_out: Vec<&'static str>,
}

const ALTERNATIVES: [&str; 3] = ["oneOf", "anyOf", "allOf"];

/// The schema of a tool without arguments.
pub(crate) const NO_ARGUMENTS: &[u8] = b"{\"type\":\"object\",\"properties\":{}}";
/// The schema of any arguments, for wires that require a schema when the tool came without one.
pub(crate) const ANY_OBJECT: &[u8] = b"{\"type\":\"object\"}";

/// Returns the schema with an object at its root, or `None` if it needs no repair.
pub(super) fn mended(raw: &[u8], takes_alternatives: bool) -> Option<Mended> {
    let nothing = || Mended { schema: NO_ARGUMENTS.to_vec(), typed: true, left_out: Vec::new() };
    let Ok(doc) = Doc::parse(raw) else { return Some(nothing()) };
    let Some(root) = doc.root().filter(|root| root.kind() == Kind::Object) else {
        return Some(nothing());
    };
    let typed = !root.get("type").is_some_and(|name| name.is("object"));
    let left_out: Vec<&'static str> = ALTERNATIVES
        .into_iter()
        .filter(|name| !takes_alternatives && root.get(name).is_some())
        .collect();
    if !typed && left_out.is_empty() {
        return None;
    }
    let mut out = Out::new();
    out.json("{");
    if typed {
        out.comma().key("type").json("\"object\"");
    }
    for (key, value) in root.entries() {
        let is_left_out = left_out.iter().any(|name| key.is(name));
        if !(is_left_out || typed && key.is("type")) {
            out.comma().string(&key).json(":").bytes(Cow::Owned(value.raw().to_vec()));
        }
    }
    out.json("}");
    Some(Mended { schema: out.finish().to_vec(), typed, left_out })
}

/// Returns `true` if a schema is closed, as endpoints require of strict tools: every object is
/// closed and requires all of its properties, and the root has no alternatives.
pub(super) fn is_strict(raw: &[u8]) -> bool {
    let Ok(doc) = Doc::parse(raw) else { return false };
    let Some(root) = doc.root() else { return false };
    if ALTERNATIVES.iter().any(|name| root.get(name).is_some()) {
        return false;
    }
    // Iterative, because the depth of the JSON is untrusted.
    let mut open = vec![root];
    while let Some(value) = open.pop() {
        let is_object = value.get("type").is_some_and(|name| name.is("object"));
        if is_object || value.get("properties").is_some_and(|all| all.kind() == Kind::Object) {
            let closed = value.get("additionalProperties").and_then(|flag| flag.bool());
            let required = value.get("required").map(crate::settings::strings).unwrap_or_default();
            let mut names = value.get("properties").into_iter().flat_map(Value::entries);
            if closed != Some(false) || !names.all(|(name, _)| required.contains(&name)) {
                return false;
            }
        }
        open.extend(value.items());
        open.extend(value.entries().map(|(_, member)| member));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(raw: &str, takes_alternatives: bool) -> Option<String> {
        let mended = mended(raw.as_bytes(), takes_alternatives)?;
        Some(String::from_utf8(mended.schema).unwrap())
    }

    #[test]
    fn a_schema_keeps_all_but_what_is_refused() {
        assert_eq!(text(r#"{"type":"object","x":1}"#, false), None);
        assert_eq!(
            text(r#"{"properties":{"x":{"enum":["a"]}},"required":["x"]}"#, false).unwrap(),
            r#"{"type":"object","properties":{"x":{"enum":["a"]}},"required":["x"]}"#
        );
        assert_eq!(
            text(r#"{"type":"object","anyOf":[{"type":"object"}],"title":"t"}"#, false).unwrap(),
            r#"{"type":"object","title":"t"}"#
        );
        assert_eq!(text(r#"{"type":"object","anyOf":[]}"#, true), None);
        assert_eq!(text(r#"{"type":["object","null"]}"#, true).unwrap(), r#"{"type":"object"}"#);
        assert_eq!(text("true", true).unwrap(), r#"{"type":"object","properties":{}}"#);
    }
}
