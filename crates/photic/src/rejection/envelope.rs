//! Envelopes: the JSON, prefixes and quotations a provider's words arrive in.
//!
//! Owns finding the innermost message and keeping the outer words and codes beside it, because
//! routers wrap the error of the upstream in their own, sometimes more than once. Must stay bounded
//! in depth and size, and must take anything that is not an envelope for the message itself.

use serde_json::Value;

/// Wrappers within wrappers, at most.
const MAX_DEPTH: usize = 16;
/// Bytes of a text that are looked at; an error that echoes the request can be megabytes long.
const MAX_TEXT: usize = 8 * 1024;
/// Outer texts and codes that are kept.
const MAX_KEPT: usize = 16;
/// Entries of a validator's list that are read.
const MAX_ENTRIES: usize = 16;

/// Keys that hold the words of an error, in the order they are trusted.
const MESSAGE_KEYS: [&str; 9] = [
    "message",
    "msg",
    "detail",
    "details",
    "error_message",
    "Message",
    "errorMessage",
    "reason",
    "description",
];
/// Keys that hold its name or place.
const CODE_KEYS: [&str; 5] = ["code", "type", "param", "status", "error_code"];

/// An answer, taken apart.
#[derive(Debug, Default)]
pub(super) struct Layers {
    /// What the provider said.
    pub(super) innermost: String,
    /// What those who passed it on said, outermost last.
    pub(super) outer: Vec<String>,
    /// Codes, types and parameters met on the way, as `key: value`.
    pub(super) codes: Vec<String>,
}

impl Layers {
    /// Every text, the innermost first.
    pub(super) fn all(&self) -> impl Iterator<Item = &str> {
        let rest = self.codes.iter().chain(&self.outer);
        std::iter::once(self.innermost.as_str()).chain(rest.map(String::as_str))
    }

    fn say(&mut self, text: &str) {
        let text = clip(text.trim());
        if text.is_empty() {
            return;
        }
        let former = std::mem::replace(&mut self.innermost, text.to_owned());
        if !former.is_empty() {
            self.outer.insert(0, former);
            self.outer.truncate(MAX_KEPT);
        }
    }
}

/// Takes a body apart.
pub(super) fn peel(body: &str) -> Layers {
    let mut layers = Layers::default();
    text(body, &mut layers, 0);
    layers
}

/// A text is said as it stands, and then what it quotes.
fn text(words: &str, layers: &mut Layers, depth: usize) {
    let words = words.trim();
    if depth > MAX_DEPTH {
        layers.say(words);
        return;
    }
    let Some((before, inner)) = embedded(words) else {
        layers.say(words);
        if let Some(quoted) = python_message(clip(words)) {
            layers.say(quoted);
        }
        return;
    };
    layers.say(before);
    let said = layers.innermost.clone();
    value(&inner, layers, depth + 1);
    // JSON without any words in it is itself all there is to say.
    if layers.innermost == said && (said.is_empty() || before.is_empty()) {
        layers.say(words);
    }
}

/// The first JSON object or list in a text, and what stands before it.
fn embedded(words: &str) -> Option<(&str, Value)> {
    // A few places to try are enough: prose before JSON seldom has braces of its own.
    for (at, _) in words.match_indices(['{', '[']).take(4) {
        // A bracket inside a path (`messages[5]`) is no list.
        let opens =
            words[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != '.');
        if !opens {
            continue;
        }
        let mut stream = serde_json::Deserializer::from_str(&words[at..]).into_iter::<Value>();
        if let Some(Ok(inner @ (Value::Object(_) | Value::Array(_)))) = stream.next()
            && has_words(&inner)
        {
            return Some((&words[..at], inner));
        }
    }
    None
}

/// Whether a value can be an envelope; a list of type names in a message is none.
fn has_words(inner: &Value) -> bool {
    match inner {
        Value::Object(object) => !object.is_empty(),
        Value::Array(items) => items.iter().any(Value::is_object),
        _ => false,
    }
}

fn value(inner: &Value, layers: &mut Layers, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    match inner {
        Value::String(words) => text(words, layers, depth),
        Value::Array(items) => entries(items, layers, depth),
        Value::Object(object) => {
            for key in CODE_KEYS {
                let code = match object.get(key) {
                    Some(Value::String(code)) => code.clone(),
                    Some(Value::Number(code)) => code.to_string(),
                    _ => continue,
                };
                layers.codes.insert(0, format!("{key}: {}", clip(&code)));
                layers.codes.truncate(MAX_KEPT);
            }
            let message = MESSAGE_KEYS.into_iter().find_map(|key| {
                object.get(key).filter(|found| !found.is_null() && found.as_str() != Some(""))
            });
            // The outer words first, so that what lies deeper is said last and ends innermost.
            if let Some(found) = message {
                value(found, layers, depth + 1);
            }
            for key in ["error", "errors", "response", "body"] {
                if let Some(found) = object.get(key) {
                    value(found, layers, depth + 1);
                }
            }
            if let Some(raw) = object.get("metadata").and_then(|metadata| metadata.get("raw")) {
                value(raw, layers, depth + 1);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A list is either wrapped errors or a validator's findings, each with a place and a message.
fn entries(items: &[Value], layers: &mut Layers, depth: usize) {
    let findings: Vec<String> = items.iter().take(MAX_ENTRIES).filter_map(finding).collect();
    if findings.is_empty() {
        for item in items.iter().take(MAX_ENTRIES).rev() {
            value(item, layers, depth + 1);
        }
    } else {
        layers.say(&findings.join("; "));
    }
}

/// `body.messages.1.content.str: Input should be a valid string (string_type)`
fn finding(item: &Value) -> Option<String> {
    let place = item.get("loc")?.as_array()?;
    let steps: Vec<String> = place
        .iter()
        .map(|step| step.as_str().map_or_else(|| step.to_string(), str::to_owned))
        .collect();
    let message = item.get("msg").and_then(Value::as_str).unwrap_or_default();
    let kind = item.get("type").and_then(Value::as_str).unwrap_or_default();
    Some(format!("{}: {message} ({kind})", steps.join(".")))
}

/// The message in the printed form of a Python dictionary, which some proxies pass on.
fn python_message(words: &str) -> Option<&str> {
    let start = words.rfind("'message': ")? + "'message': ".len();
    let rest = &words[start..];
    let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let rest = &rest[1..];
    let end =
        rest.match_indices(quote).map(|(at, _)| at).find(|&at| !rest[..at].ends_with('\\'))?;
    Some(&rest[..end])
}

/// The beginning of a text, cut between characters.
fn clip(words: &str) -> &str {
    &words[..words.floor_char_boundary(MAX_TEXT)]
}
