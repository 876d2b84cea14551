//! One request to a model, and what came back.
//!
//! Must never put a key, or more than a few words of a provider, into what it returns.

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

/// Most bytes of a reply.
const MOST: usize = 8 << 20;
/// For the reply to be complete.
const PATIENCE: Duration = Duration::from_mins(5);
/// Letters of a provider's words that are kept, and of one of them.
const KEPT: usize = 160;
const LONGEST_WORD: usize = 60;

/// Where a model is served.
#[derive(Clone)]
pub struct Endpoint {
    /// The wire.
    pub wire: Wire,
    /// Where the wire begins, as its SDKs take it: `https://api.openai.com/v1`, but
    /// `https://api.anthropic.com`.
    pub base_url: String,
    /// The model: on some wires the address names it.
    pub model: String,
    /// The key, if one is asked for.
    pub key: Option<String>,
    /// Connections.
    pub client: Client,
}

impl std::fmt::Debug for Endpoint {
    /// Never the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<{} at {}>", self.wire, self.base_url)
    }
}

/// What came back.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// An answer.
    Answer {
        /// The words of it; none if the model called a tool instead.
        text: String,
        /// What it cost, if that was said.
        usage: Option<Usage>,
        /// How long it took.
        took: Duration,
    },
    /// The request was turned down for what it holds.
    Rejected {
        /// The status.
        status: u16,
        /// What it is about, as far as that is understood.
        class: Class,
        /// A few words of the provider.
        text: String,
    },
    /// No answer, for reasons that have nothing to do with pictures.
    Failed {
        /// Which.
        why: String,
        /// Whether nothing will be different next time: wrong address, no key, no such model.
        for_good: bool,
    },
}

impl Endpoint {
    /// Its host, with its port if one is named.
    pub fn host(&self) -> &str {
        let rest = self.base_url.split_once("://").map_or(self.base_url.as_str(), |(_, rest)| rest);
        rest.split(['/', '?']).next().unwrap_or_default()
    }

    /// Sends a body, and reads the reply.
    pub async fn ask(&self, body: Vec<u8>) -> Heard {
        let Some(request) = self.request(body) else {
            return failed("the address or the key cannot be sent", true);
        };
        let began = Instant::now();
        let exchange = async {
            let reply = self.client.send(request).await.map_err(|error| {
                failed(&error.to_string(), matches!(error, photic_net::Error::Connect(_)))
            })?;
            let status = reply.status().as_u16();
            let body = Limited::new(reply.into_body(), MOST).collect().await;
            let body = body.map_err(|_| failed("the reply broke off", false))?;
            Ok((status, body.to_bytes()))
        };
        match tokio::time::timeout(PATIENCE, exchange).await {
            Err(_) => failed("no reply in time", false),
            Ok(Err(failed)) => failed,
            Ok(Ok((status, body))) => self.heard(status, &body, began.elapsed()),
        }
    }

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

    fn heard(&self, status: u16, body: &[u8], took: Duration) -> Heard {
        if !(200..300).contains(&status) {
            let rejection = classify(Some(status), &String::from_utf8_lossy(body));
            let text = self.cleaned(&rejection.text);
            let about_media = rejection.class != Class::Unrelated;
            // A client's mistake that is neither about keys, names, money nor haste.
            let refused = matches!(status, 400 | 413 | 415 | 422);
            if about_media || refused {
                return Heard::Rejected { status, class: rejection.class, text };
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
        // The wire whose replies are always a list of blocks.
        let blocks = photic::lower_reply(&reply, Wire::Anthropic).to_vec();
        let blocks: Value = serde_json::from_slice(&blocks).unwrap_or_default();
        let blocks = blocks["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        let texts = blocks.iter().filter(|block| block["type"] == "text");
        let texts: Vec<&str> = texts.filter_map(|block| block["text"].as_str()).collect();
        let text = texts.join("\n");
        // Whoever calls the tool again has not seen what it returned; whoever says nothing at all
        // may have run out of room to think.
        let calls = blocks.iter().any(|block| block["type"] == "tool_use");
        if reply.stop == Stop::Length || (text.trim().is_empty() && !calls) {
            return failed("the answer was cut short", false);
        }
        Heard::Answer { text, usage: reply.usage, took }
    }

    /// What a provider says, without what some repeat: the key, the picture.
    fn cleaned(&self, said: &str) -> String {
        let said = match self.key.as_deref().filter(|key| !key.is_empty()) {
            Some(key) => said.replace(key, "[key]"),
            None => said.to_owned(),
        };
        let short = |word| if str::len(word) > LONGEST_WORD { "[…]" } else { word };
        let words: Vec<&str> = said.split_whitespace().map(short).collect();
        words.join(" ").chars().filter(|c| !c.is_control()).take(KEPT).collect()
    }
}

fn failed(why: &str, for_good: bool) -> Heard {
    Heard::Failed { why: why.to_owned(), for_good }
}
