//! The arguments of a call, as each wire spells them.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::json::{Doc, Out, Str};
use crate::transcript::Arguments;

impl<'a> Arguments<'a> {
    /// Writes them as a string that holds JSON.
    pub(crate) fn as_string(&self, out: &mut Out<'a>) {
        match self {
            Self::Text(text) => out.string(text),
            Self::Json(raw) => out.json("\"").escaped(raw).json("\""),
            Self::Free(_) | Self::Wrapped(..) => {
                let mut inner = Out::new();
                self.as_object(&mut inner);
                out.json("\"").escaped(&inner.finish().to_vec()).json("\"")
            }
        };
    }

    /// Returns the free text that they hold: the argument `input`, or all of them if there is no
    /// such argument.
    pub(crate) fn free_text(&self) -> Str<'a> {
        let raw: Cow<'_, [u8]> = match self {
            Self::Free(text) => return text.clone(),
            Self::Text(text) => Cow::Owned(text.decode().into_owned().into_bytes()),
            Self::Json(raw) | Self::Wrapped(_, raw) => Cow::Borrowed(raw),
        };
        let doc = Doc::parse(&raw).ok();
        let root = doc.as_ref().and_then(Doc::root);
        let input = root.and_then(|root| root.get("input")?.str());
        let text = input.map(|input| input.decode().into_owned());
        Str::plain(text.unwrap_or_else(|| String::from_utf8_lossy(&raw).into_owned()))
    }

    /// Writes them as a JSON object.
    pub(crate) fn as_object(&self, out: &mut Out<'a>) {
        match self {
            Self::Json(raw) => {
                out.raw(raw);
            }
            Self::Text(text) => {
                let text = text.decode();
                match text.trim() {
                    "" => out.json("{}"),
                    text => match object(text) {
                        Some(object) => out.json(&object),
                        None => out.json("{\"input\":").quoted(text).json("}"),
                    },
                };
            }
            Self::Wrapped(name, raw) => {
                out.json("{").key(name).raw(raw).json("}");
            }
            Self::Free(text) => {
                out.json("{\"input\":").string(text).json("}");
            }
        }
    }
}

/// Returns the text as a JSON object, if it is one. Models write raw line breaks into strings,
/// which other JSON parsers reject.
fn object(text: &str) -> Option<Cow<'_, str>> {
    let is_object = |text: &str| {
        text.starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
    };
    if is_object(text) {
        return Some(Cow::Borrowed(text));
    }
    Some(controls_escaped(text)).filter(|text| is_object(text)).map(Cow::Owned)
}

/// Escapes control characters within strings, as JSON requires.
fn controls_escaped(text: &str) -> String {
    let (mut out, mut in_string, mut escaped) = (String::with_capacity(text.len()), false, false);
    for character in text.chars() {
        if in_string && character < ' ' {
            // Writing to a `String` cannot fail.
            let _ = write!(out, "\\u{:04x}", u32::from(character));
            escaped = false;
            continue;
        }
        match character {
            '"' if !escaped => in_string = !in_string,
            _ => {}
        }
        escaped = character == '\\' && !escaped;
        out.push(character);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_models_become_objects() {
        for (text, expected) in [
            (r#"{"a":1}"#, Some(r#"{"a":1}"#)),
            ("{\n\"a\":\"b\nc\"}", Some("{\n\"a\":\"b\\u000ac\"}")),
            ("{\"a\\\"\t\":1}", Some("{\"a\\\"\\u0009\":1}")),
            (r#"{"a":1"#, None),
            ("[1]", None),
            ("words", None),
        ] {
            assert_eq!(object(text).as_deref(), expected, "{text}");
        }
    }
}
