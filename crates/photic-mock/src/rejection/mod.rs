//! Rejections of each wire: status, envelope and message.
//!
//! Messages about keys, models and load are data, in `data/refusals.toml`. All messages are those
//! of the providers: neither a client nor the classifier of `photic` can tell them apart.

pub(crate) mod anthropic;
pub(crate) mod openai;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use photic::Wire;
use photic::wire::ErrorWords;
use photic_testkit::oracle::Violation;
use serde::Deserialize;
use serde_json::Value;

/// A rejection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) status: u16,
    /// The provider's `type`.
    kind: Cow<'static, str>,
    /// The provider's `code`, on wires that have one.
    code: Option<Cow<'static, str>>,
    /// The parameter, on wires that name it.
    param: Option<String>,
    message: String,
    /// The provider's `error_code`, if it has one.
    detail: Option<&'static str>,
}

/// An entry of `data/refusals.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RefusalText {
    status: u16,
    kind: String,
    code: Option<String>,
    message: String,
}

/// The contents of `data/refusals.toml`, by wire and name.
static REFUSALS: LazyLock<BTreeMap<String, BTreeMap<String, RefusalText>>> =
    LazyLock::new(|| toml::from_str(include_str!("../../data/refusals.toml")).unwrap_or_default());

impl Rejection {
    /// Creates a rejection.
    pub(crate) fn new(status: u16, kind: &'static str, message: impl Into<String>) -> Self {
        let (kind, message) = (kind.into(), message.into());
        Self { status, kind, code: None, param: None, message, detail: None }
    }

    fn code(self, code: &'static str) -> Self {
        Self { code: Some(code.into()), ..self }
    }

    fn invalid(message: impl Into<String>) -> Self {
        Self::new(400, "invalid_request_error", message)
    }

    /// The message of a service for a named refusal, with values filled in.
    fn worded(wire: Wire, name: &str, fill: &[(&str, &str)]) -> Self {
        let sections = [wire.name(), "default"];
        let found = sections.iter().find_map(|section| REFUSALS.get(*section)?.get(name));
        let Some(words) = found else { return Self::new(500, "server_error", name) };
        let replaced = |text: String, (name, value): &(&str, &str)| text.replace(name, value);
        Self {
            status: words.status,
            kind: words.kind.clone().into(),
            code: words.code.clone().map(Cow::Owned),
            message: fill.iter().fold(words.message.clone(), replaced),
            param: None,
            detail: None,
        }
    }

    /// The key is missing.
    pub(crate) fn no_key(wire: Wire) -> Self {
        Self::worded(wire, "no_key", &[])
    }

    /// A required header is missing.
    pub(crate) fn no_header(wire: Wire, name: &str) -> Self {
        Self::worded(wire, "header_missing", &[("{name}", name)])
    }

    /// No model is named.
    pub(crate) fn model_missing(wire: Wire) -> Self {
        Self::worded(wire, "model_missing", &[])
    }

    /// The provider does not serve the model.
    pub(crate) fn no_model(wire: Wire, model: &str) -> Self {
        Self::worded(wire, "no_model", &[("{model}", model)])
    }

    /// The request has more tokens than the model's context.
    pub(crate) fn too_long(wire: Wire, tokens: u64, most: u64) -> Self {
        let (tokens, most) = (tokens.to_string(), most.to_string());
        Self::worded(wire, "too_long", &[("{tokens}", &tokens), ("{most}", &most)])
    }

    /// The body is too large to be read.
    pub(crate) fn too_large(wire: Wire) -> Self {
        Self::worded(wire, "too_large", &[])
    }

    /// Too many requests.
    pub(crate) fn rate_limit(wire: Wire, model: &str) -> Self {
        Self::worded(wire, "rate_limit", &[("{model}", model)])
    }

    /// An error of the provider.
    pub(crate) fn server_error(wire: Wire) -> Self {
        Self::worded(wire, "server_error", &[])
    }

    /// There is nothing at this path.
    pub(crate) fn no_path(method: &str, path: &str) -> Self {
        Self::new(404, "invalid_request_error", format!("Invalid URL ({method} {path})"))
    }

    /// The provider does not keep this reply or item.
    pub(crate) fn not_stored(what: &str, id: &str) -> Self {
        let (code, text) = match what {
            "response" => (
                "previous_response_not_found",
                format!("Previous response with id '{id}' not found."),
            ),
            _ => ("item_not_found", format!("Item with id '{id}' not found.")),
        };
        Self::invalid(text).code(code)
    }

    /// The provider does not keep this thread.
    pub(crate) fn no_thread() -> Self {
        let text = "No usable Thread state was found for `previous_message_id`. Replay the full \
                    conversation with `thread: {\"type\": \"create\"}` to start a new Thread.";
        Self { detail: Some("thread_not_found"), ..Self::new(404, "not_found_error", text) }
    }

    /// The error in the envelope of the wire.
    pub(crate) fn body(&self, wire: Wire, number: u64) -> Value {
        let id = format!("req_mock{number:08}");
        wire.error_body(&ErrorWords {
            code: self.code.as_deref(),
            param: self.param.as_deref(),
            detail: self.detail,
            request_id: Some(&id),
            ..ErrorWords::new(self.status, &self.kind, &self.message)
        })
    }
}

/// The whole numbers in a sentence, in order.
fn numbers(text: &str) -> Vec<u64> {
    let words = text.split(|c: char| !c.is_ascii_digit());
    words.filter_map(|word| word.parse().ok()).collect()
}

/// `image exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes`, from the oracle's two numbers.
fn too_many_bytes(text: &str) -> String {
    match numbers(text)[..] {
        [bytes, most, ..] => {
            let megabytes = most as f64 / f64::from(1 << 20);
            format!("image exceeds {megabytes:.0} MB maximum: {bytes} bytes > {most} bytes")
        }
        _ => text.to_owned(),
    }
}

/// The rejection of a service with generic messages.
pub(crate) fn generic(wire: Wire, violation: &Violation) -> Rejection {
    invalid(wire, violation, "invalid_request_error", &violation.text)
}

/// A rejection of a kind, or the one for bodies that are too large.
pub(crate) fn invalid(
    wire: Wire,
    violation: &Violation,
    kind: &'static str,
    message: &str,
) -> Rejection {
    match violation.code {
        "body_too_large" => Rejection::too_large(wire),
        _ => Rejection::new(400, kind, message),
    }
}
