//! Schemas. This wire also has a dialect of its own, with the names of types in capitals.

use std::borrow::Cow;

use crate::json::{Kind, Value};

const TYPES: [&str; 7] = ["STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"];

/// Returns the schema in the form that every other wire takes.
pub(super) fn as_json_schema<'a>(schema: Value<'_, 'a>) -> Cow<'a, [u8]> {
    let raw = schema.raw();
    let mut edits = Vec::new();
    // Iterative, because the depth of the JSON is untrusted.
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        match value.kind() {
            Kind::Array => open.extend(value.items()),
            Kind::Object => {
                for (key, member) in value.entries() {
                    if key.is("type") && TYPES.iter().any(|name| member.is(name)) {
                        edits.push(member.span());
                    }
                    open.push(member);
                }
            }
            Kind::Null | Kind::Bool | Kind::Number | Kind::String => {}
        }
    }
    if edits.is_empty() {
        return Cow::Borrowed(raw);
    }
    let start = schema.span().start;
    let mut written = raw.to_vec();
    for span in edits {
        written[span.start - start..span.end - start].make_ascii_lowercase();
    }
    Cow::Owned(written)
}
