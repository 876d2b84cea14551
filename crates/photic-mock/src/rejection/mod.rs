//! How a provider says no: status, envelope and words of each wire.
//!
//! The words for what is no violation of the body (keys, models, load) are data, `data/refusals.toml`.
//! Nothing here may be of our own making: a client, and the classifier of `photic`, must not be able
//! to tell it from the original.

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

use crate::service::service;

/// A no.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) status: u16,
    /// The provider's `type`.
    kind: Cow<'static, str>,
    /// The provider's `code`, on the wires that have one.
    code: Option<Cow<'static, str>>,
    /// The parameter, on the wires that name it.
    param: Option<String>,
    message: String,
    /// The provider's `error_code`, for the few that have details.
    detail: Option<&'static str>,
}

/// An entry of `data/refusals.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    status: u16,
    kind: String,
    code: Option<String>,
    message: String,
}

static REFUSALS: LazyLock<BTreeMap<String, BTreeMap<String, Words>>> =
    LazyLock::new(|| toml::from_str(include_str!("../../data/refusals.toml")).unwrap_or_default());

impl Rejection {
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

    /// The words of a service for a refusal of that name, with what is to be filled in.
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

    /// Rejects a body that breaks a rule.
    pub(crate) fn of(wire: Wire, violation: &Violation) -> Self {
        service(wire).violation(wire, violation)
    }

    /// An image whose container is whole, and whose pixels cannot be read.
    pub(crate) fn undecodable(wire: Wire, pointer: &str) -> Self {
        let text = "it cannot be decoded".to_owned();
        Self::of(wire, &Violation { code: "image_invalid", pointer: pointer.to_owned(), text })
    }

    /// No key.
    pub(crate) fn no_key(wire: Wire) -> Self {
        Self::worded(wire, "no_key", &[])
    }

    /// A header is missing that the wire requires.
    pub(crate) fn no_header(wire: Wire, name: &str) -> Self {
        Self::worded(wire, "header_missing", &[("{name}", name)])
    }

    /// No model is named.
    pub(crate) fn model_missing(wire: Wire) -> Self {
        Self::worded(wire, "model_missing", &[])
    }

    /// A model that this provider does not have.
    pub(crate) fn no_model(wire: Wire, model: &str) -> Self {
        Self::worded(wire, "no_model", &[("{model}", model)])
    }

    /// More tokens than the model holds.
    pub(crate) fn too_long(wire: Wire, tokens: u64, most: u64) -> Self {
        let (tokens, most) = (tokens.to_string(), most.to_string());
        Self::worded(wire, "too_long", &[("{tokens}", &tokens), ("{most}", &most)])
    }

    /// A body that is not even read.
    pub(crate) fn too_large(wire: Wire) -> Self {
        Self::worded(wire, "too_large", &[])
    }

    /// Too many requests.
    pub(crate) fn rate_limit(wire: Wire, model: &str) -> Self {
        Self::worded(wire, "rate_limit", &[("{model}", model)])
    }

    /// The provider's own fault.
    pub(crate) fn server_error(wire: Wire) -> Self {
        Self::worded(wire, "server_error", &[])
    }

    /// A path behind which there is nothing.
    pub(crate) fn no_path(method: &str, path: &str) -> Self {
        Self::new(404, "invalid_request_error", format!("Invalid URL ({method} {path})"))
    }

    /// A reply or an item that this provider does not keep.
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

    /// A thread that this provider does not keep.
    pub(crate) fn no_thread() -> Self {
        let text = "No usable Thread state was found for `previous_message_id`. Replay the full \
                    conversation with `thread: {\"type\": \"create\"}` to start a new Thread.";
        Self { detail: Some("thread_not_found"), ..Self::new(404, "not_found_error", text) }
    }

    /// The envelope of the wire.
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
