//! The scalars of a body: each one that may be any text or number gets a value of its own.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// A scalar of a body and how its way is followed.
#[derive(Clone, Debug)]
pub(super) struct Scalar {
    /// Where it stands.
    pub(super) pointer: String,
    pub(super) track: Track,
}

/// How the way of a scalar is followed.
#[derive(Clone, Debug)]
pub(super) enum Track {
    /// It holds this text, which stands nowhere else in the body.
    Sentinel(String),
    /// It is one of a few words, or a flag: leaving it out or turning it must make a difference.
    Word,
}

/// Names of members that hold one word of a few.
const WORDS: [&str; 41] = [
    "type",
    "role",
    "mode",
    "detail",
    "effort",
    "reasoning_effort",
    "service_tier",
    "truncation",
    "verbosity",
    "summary",
    "phase",
    "status",
    "button",
    "ttl",
    "format",
    "thinkingLevel",
    "mediaResolution",
    "level",
    "responseModalities",
    "responseMimeType",
    "mimeType",
    "media_type",
    "tool_choice",
    "function_call",
    "think",
    "prompt_cache_retention",
    "include",
    "modalities",
    "category",
    "threshold",
    "behavior",
    "scheduling",
    "latency",
    "trace",
    "language",
    "outcome",
    "require_approval",
    "search_context_size",
    "qualifiers",
    "inference_geo",
    "syntax",
];

/// Names of members whose values refer to one another.
const REFERENCES: [&str; 11] = [
    "id",
    "call_id",
    "tool_call_id",
    "tool_use_id",
    "toolUseId",
    "name",
    "namespace",
    "tool_name",
    "allowedFunctionNames",
    "allowed_function_names",
    "required",
];

/// Labels of media, which are always those of the bytes that are sent.
const LABELS: [&str; 4] = ["mimeType", "mime_type", "media_type", "format"];

#[derive(Default)]
pub(super) struct Marker {
    scalars: Vec<Scalar>,
    references: BTreeMap<String, String>,
}

impl Marker {
    /// Gives the scalars of a body values of their own.
    pub(super) fn mark(body: &mut Value) -> Vec<Scalar> {
        let mut marker = Self::default();
        marker.value(body, "", "");
        marker.scalars
    }

    fn next(&self) -> usize {
        70_000 + self.scalars.len()
    }

    fn value(&mut self, value: &mut Value, pointer: &str, key: &str) {
        match value {
            Value::Null => {}
            Value::Bool(_) => self.push(pointer, Track::Word),
            Value::Number(number) => {
                let unique = if number.is_f64() {
                    let small = format!("0.{}7", self.next());
                    *value = serde_json::from_str(&small).unwrap();
                    small
                } else {
                    *value = Value::from(self.next());
                    self.next().to_string()
                };
                self.push(pointer, Track::Sentinel(unique));
            }
            Value::String(text) => self.string(text, pointer, key),
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.value(item, &format!("{pointer}/{index}"), key);
                }
            }
            Value::Object(members) => self.object(members, pointer),
        }
    }

    fn object(&mut self, members: &mut Map<String, Value>, pointer: &str) {
        // Properties of a schema are named by their keys.
        for (key, member) in members {
            let at = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
            self.value(member, &at, key);
        }
    }

    fn string(&mut self, text: &mut String, pointer: &str, key: &str) {
        // Which model it is decides about nothing here, and stands in the path of some wires.
        let is_name_of_property = pointer.contains("/required/");
        if text.is_empty() || matches!(key, "model" | "modelId") || is_name_of_property {
            return;
        }
        // The shape of a part says what it is; in a schema the type is a value like others.
        if matches!(key, "type" | "role") && !pointer.contains("/properties/") {
            return;
        }
        if LABELS.contains(&key) && !pointer.ends_with("/text/format") && is_label(text) {
            return;
        }
        if WORDS.contains(&key) {
            return self.push(pointer, Track::Word);
        }
        if let Some((_, payload)) = text.split_once(";base64,") {
            let letters = |letter: char| letter.is_ascii_alphanumeric() || "+/=_-".contains(letter);
            let run = payload.chars().take_while(|letter| letters(*letter)).collect();
            return self.push(pointer, Track::Sentinel(run));
        }
        let is_bytes = matches!(key, "data" | "bytes" | "images" | "result") && text.len() > 40;
        if is_bytes {
            return self.push(pointer, Track::Sentinel(text.clone()));
        }
        let unique = if REFERENCES.contains(&key) {
            let next = self.next();
            let known = self.references.entry(text.clone());
            known.or_insert_with(|| format!("r{next}e")).clone()
        } else {
            format!("s{}e", self.next())
        };
        *text = match text.split_once("://") {
            Some((scheme, rest)) => {
                let kind = rest.rsplit_once('.').filter(|(_, kind)| kind.len() == 3);
                let kind = kind.map_or(String::new(), |(_, kind)| format!(".{kind}"));
                format!("{scheme}://example.org/{unique}{kind}")
            }
            // Arguments that are written as text.
            None if text.starts_with('{') => format!("{{\"key\":\"{unique}\"}}"),
            None => unique.clone(),
        };
        self.push(pointer, Track::Sentinel(unique));
    }

    fn push(&mut self, pointer: &str, track: Track) {
        self.scalars.push(Scalar { pointer: pointer.to_owned(), track });
    }
}

fn is_label(text: &str) -> bool {
    text.contains('/') || ["png", "jpeg", "pdf", "txt", "wav", "mp3", "mp4"].contains(&text)
}

/// The body with a flag turned, without a word, or with other words in its place.
pub(super) fn others(body: &Value, pointer: &str) -> Vec<Value> {
    let mut changed = body.clone();
    if let Some(Value::Bool(flag)) = changed.pointer_mut(pointer) {
        *flag = !*flag;
        return vec![changed];
    }
    let mut all: Vec<Value> = ["required", "auto", "low", "error"]
        .iter()
        .map(|word| {
            let mut other = body.clone();
            if let Some(value) = other.pointer_mut(pointer) {
                *value = Value::from(*word);
            }
            other
        })
        .collect();
    let (parent, last) = pointer.rsplit_once('/').unwrap();
    match changed.pointer_mut(parent) {
        Some(Value::Object(members)) => {
            members.remove(&last.replace("~1", "/").replace("~0", "~"));
        }
        Some(Value::Array(items)) => {
            items.remove(last.parse().unwrap());
        }
        _ => panic!("{pointer} has no parent"),
    }
    all.push(changed);
    all
}
