//! Envelopes: the JSON, prefixes and quotations around a provider's message.
//!
//! Routers wrap the error of the upstream in their own, sometimes more than once. This module
//! finds the innermost message and keeps the outer texts and codes beside it. Depth and size must
//! stay bounded, and anything that is not an envelope must be taken as the message itself.

use serde_json::Value;

/// Maximum depth of wrappers within wrappers.
const MAX_DEPTH: usize = 16;
/// Maximum bytes of a text that are read. An error that echoes the request can be megabytes long.
const MAX_TEXT: usize = 8 * 1024;
/// Maximum number of outer texts, and of codes, that are kept.
const MAX_KEPT: usize = 16;
/// Maximum number of entries of a validator's list that are read.
const MAX_ENTRIES: usize = 16;

/// Keys that hold the message of an error, most trusted first.
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
/// Keys that hold the name or place of an error.
const CODE_KEYS: [&str; 5] = ["code", "type", "param", "status", "error_code"];

/// An answer, unwrapped.
#[derive(Debug, Default)]
pub(super) struct Layers {
    /// The provider's message.
    pub(super) innermost: String,
    /// The messages of the routers in between, outermost last.
    pub(super) outer: Vec<String>,
    /// Codes, types and parameters found while unwrapping, as `key: value`.
    pub(super) codes: Vec<String>,
}

impl Layers {
    /// Returns every text, the innermost first.
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

/// Unwraps a body.
pub(super) fn peel(body: &str) -> Layers {
    let mut layers = Layers::default();
    text(body, &mut layers, 0);
    layers
}

/// Reads a text: first the text itself, then the JSON it quotes.
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
    // JSON without a message in it is itself the message.
    if layers.innermost == said && (said.is_empty() || before.is_empty()) {
        layers.say(words);
    }
}

/// Finds the first JSON object or list in a text. Returns it with the text before it.
fn embedded(words: &str) -> Option<(&str, Value)> {
    // A few attempts are enough: prose before JSON seldom has braces of its own.
    for (at, _) in words.match_indices(['{', '[']).take(4) {
        // A bracket inside a path (`messages[5]`) does not begin a list.
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

/// Returns `true` if a value can be an envelope. A list of type names in a message cannot.
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
            // The outer message first, so that the deeper one is added last and becomes the
            // innermost.
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

/// Reads a list: either wrapped errors, or a validator's findings with a place and a message each.
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

/// Formats a validator's finding, as in
/// `body.messages.1.content.str: Input should be a valid string (string_type)`.
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

/// Returns the message in the printed form of a Python dictionary, which some proxies pass on.
fn python_message(words: &str) -> Option<&str> {
    let start = words.rfind("'message': ")? + "'message': ".len();
    let rest = &words[start..];
    let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let rest = &rest[1..];
    let end =
        rest.match_indices(quote).map(|(at, _)| at).find(|&at| !rest[..at].ends_with('\\'))?;
    Some(&rest[..end])
}

/// Returns the beginning of a text, cut between characters.
fn clip(words: &str) -> &str {
    &words[..words.floor_char_boundary(MAX_TEXT)]
}
