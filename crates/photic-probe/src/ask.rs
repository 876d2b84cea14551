//! Sends one request to a model and reads the reply.
//!
//! The result never contains a key, and only a few words of the provider.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use http_body_util::{BodyExt as _, Limited};
use photic::Wire;
use photic::rejection::{Class, classify};
use photic::reply::{Stop, Usage};
use photic_net::{Client, Outgoing};
use serde::de::IgnoredAny;
use serde_json::Value;

/// Largest size of a reply in bytes.
const MAX_REPLY_BYTES: usize = 8 << 20;
/// Longest time for a complete reply.
const REPLY_TIMEOUT: Duration = Duration::from_mins(5);
/// Largest number of characters kept of a provider's message.
const MAX_MESSAGE_CHARS: usize = 160;
/// Longest word kept of a provider's message.
const MAX_WORD_BYTES: usize = 60;

/// The endpoint of a model.
#[derive(Clone)]
pub struct Endpoint {
    /// The wire.
    pub wire: Wire,
    /// The base URL, as SDKs take it: `https://api.openai.com/v1`, but `https://api.anthropic.com`.
    pub base_url: String,
    /// The model, which is part of the URL on some wires.
    pub model: String,
    /// The key, if one is needed.
    pub key: Option<String>,
    /// The HTTP client.
    pub client: Client,
}

impl std::fmt::Debug for Endpoint {
    /// Omits the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<{} at {}>", self.wire, self.base_url)
    }
}

/// The result of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum AskOutcome {
    /// An answer.
    Answer {
        /// Its text; empty if the model called a tool instead.
        text: String,
        /// The billed usage, if it was stated.
        usage: Option<Usage>,
        /// The time that it took.
        took: Duration,
    },
    /// The request was rejected because of its content.
    Rejected {
        /// The HTTP status.
        status: u16,
        /// The subject of the rejection, as far as it is understood.
        class: Class,
        /// A few words of the provider.
        text: String,
    },
    /// There is no answer, for reasons that have nothing to do with pictures.
    Failed {
        /// The reason.
        why: String,
        /// `true` if a retry cannot help: wrong URL, no key, no such model.
        for_good: bool,
    },
}

impl Endpoint {
    /// The host, with its port if one is given.
    pub fn host(&self) -> &str {
        let rest = self.base_url.split_once("://").map_or(self.base_url.as_str(), |(_, rest)| rest);
        rest.split(['/', '?']).next().unwrap_or_default()
    }

    /// Sends a body and reads the reply.
    pub async fn ask(&self, body: Vec<u8>) -> AskOutcome {
        let Some(request) = self.request(body) else {
            return failed("the address or the key cannot be sent", true);
        };
        let began = Instant::now();
        let exchange = async {
            let reply = self.client.send(request).await.map_err(|error| {
                failed(&error.to_string(), matches!(error, photic_net::Error::Connect { .. }))
            })?;
            let status = reply.status().as_u16();
            let body = Limited::new(reply.into_body(), MAX_REPLY_BYTES).collect().await;
            let body = body.map_err(|_| failed("the reply broke off", false))?;
            Ok((status, body.to_bytes()))
        };
        match tokio::time::timeout(REPLY_TIMEOUT, exchange).await {
            Err(_) => failed("no reply in time", false),
            Ok(Err(failed)) => failed,
            Ok(Ok((status, body))) => self.heard(status, &body, began.elapsed()),
        }
    }

    /// Builds the HTTP request.
    fn request(&self, body: Vec<u8>) -> Option<http::Request<Outgoing>> {
        let address = self.wire.address(&self.base_url, &self.model);
        let mut request = http::Request::post(address)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json");
        for (name, value) in self.wire.http().required_headers {
            request = request.header(*name, *value);
        }
        if let Some(key) = &self.key {
            let (name, before) = self.wire.key_header();
            let mut value = HeaderValue::from_str(&format!("{before}{key}")).ok()?;
            value.set_sensitive(true);
            request = request.header(name, value);
        }
        request.body(Outgoing::pieces(vec![Bytes::from(body)])).ok()
    }

    /// Interprets a reply.
    fn heard(&self, status: u16, body: &[u8], took: Duration) -> AskOutcome {
        if !(200..300).contains(&status) {
            let rejection = classify(Some(status), &String::from_utf8_lossy(body));
            let text = self.cleaned(&rejection.text);
            let about_media = rejection.class != Class::Unrelated;
            // A client error that is not about keys, names, quota or rate.
            let refused = matches!(status, 400 | 413 | 415 | 422);
            if about_media || refused {
                return AskOutcome::Rejected { status, class: rejection.class, text };
            }
            let for_good = matches!(status, 401..=404);
            return failed(
                format!("status {status}: {text}").trim_end_matches([':', ' ']),
                for_good,
            );
        }
        if serde_json::from_slice::<IgnoredAny>(body).is_err() {
            return failed("the reply is not JSON", false);
        }
        let reply = photic::lift_reply(self.wire, body);
        if let Some(failure) = &reply.error {
            let said = self.cleaned(&failure.message.decode());
            return failed(if said.is_empty() { "the reply is none" } else { &said }, false);
        }
        // The reply is translated to the wire whose replies are always a list of blocks.
        let blocks = photic::lower_reply(&reply, Wire::Anthropic).to_vec();
        let blocks: Value = serde_json::from_slice(&blocks).unwrap_or_default();
        let blocks = blocks["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        let texts = blocks.iter().filter(|block| block["type"] == "text");
        let texts: Vec<&str> = texts.filter_map(|block| block["text"].as_str()).collect();
        let text = texts.join("\n");
        // A model that calls the tool again has not seen its result. An empty answer may have run
        // out of tokens while thinking.
        let calls = blocks.iter().any(|block| block["type"] == "tool_use");
        if reply.stop == Stop::Length || (text.trim().is_empty() && !calls) {
            return failed("the answer was cut short", false);
        }
        AskOutcome::Answer { text, usage: reply.usage, took }
    }

    /// A provider's message without the key or the picture, which some repeat.
    fn cleaned(&self, said: &str) -> String {
        let said = match self.key.as_deref().filter(|key| !key.is_empty()) {
            Some(key) => said.replace(key, "[key]"),
            None => said.to_owned(),
        };
        let short = |word| if str::len(word) > MAX_WORD_BYTES { "[…]" } else { word };
        let words: Vec<&str> = said.split_whitespace().map(short).collect();
        words.join(" ").chars().filter(|c| !c.is_control()).take(MAX_MESSAGE_CHARS).collect()
    }
}

/// A failure.
fn failed(why: &str, for_good: bool) -> AskOutcome {
    AskOutcome::Failed { why: why.to_owned(), for_good }
}
