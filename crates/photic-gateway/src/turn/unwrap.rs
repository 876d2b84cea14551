//! Takes the envelope off a body, for an upstream of the wire inside.

use http::header::{HeaderMap, HeaderName, HeaderValue};
use photic::json::{Doc, Value};
use photic::wire::{Envelope, PathParams};

/// Returns a body as the wire's own path takes it: with the model and the streaming flag that the path
/// of the envelope named, and without members that are headers there. Those are added to `headers`,
/// unless the wire has a value of its own. Returns `None` if the body is no JSON object.
pub(super) fn unwrap(
    body: &[u8],
    envelope: &Envelope,
    params: &PathParams,
    headers: &mut HeaderMap,
) -> Option<Vec<u8>> {
    let doc = Doc::read(body)?;
    let root = doc.root()?;
    let mut out = Vec::with_capacity(body.len() + 256);
    let mut add = |name: &str, value: &[u8]| {
        out.push(if out.is_empty() { b'{' } else { b',' });
        serde_json::to_writer(&mut out, name).ok()?;
        out.push(b':');
        out.extend_from_slice(value);
        Some(())
    };
    if let Some(model) = params.model.as_ref().filter(|_| root.get("model").is_none()) {
        add("model", &serde_json::to_vec(model).ok()?)?;
    }
    if params.stream && root.get("stream").is_none() {
        add("stream", b"true")?;
    }
    for (name, value) in root.entries() {
        let name = name.decode();
        if envelope.body_headers.iter().any(|header| *header == *name) {
            move_to_header(&name, value, headers);
        } else {
            add(&name, value.raw())?;
        }
    }
    if out.is_empty() {
        out.push(b'{');
    }
    out.push(b'}');
    Some(out)
}

/// Adds a member as a header: a text as it is, a list with commas.
fn move_to_header(name: &str, value: Value<'_, '_>, headers: &mut HeaderMap) {
    let texts: Vec<String> = match value.str() {
        Some(text) => vec![text.decode().into_owned()],
        None => value.items().filter_map(|item| Some(item.str()?.decode().into_owned())).collect(),
    };
    let name = HeaderName::try_from(name.replace('_', "-"));
    if let (Ok(name), Ok(value)) = (name, HeaderValue::try_from(texts.join(",")))
        && !texts.is_empty()
    {
        headers.entry(name).or_insert(value);
    }
}
