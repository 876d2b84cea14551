//! What a request costs: text by its length, images by the profile's rule, and what was cached.
//!
//! Owns the count and the store of prefixes. A prefix is known by its digest only; nothing that was
//! said is kept.

use std::collections::{BTreeSet, VecDeque};

use blake3::Hasher;
use photic::tokens::Detail;
use photic::{Profile, Wire};
use photic_testkit::oracle::{Image, Seen};
use serde_json::Value;

use crate::reply::Usage;
use crate::script::unit;
use crate::service::service;

/// Most prefixes that are remembered.
const MOST: usize = 20_000;
/// A document is not read here; this is what the pages of a small one cost.
const DOCUMENT: u64 = 1500;
/// Marks are not part of what is compared.
const MARKS: [&str; 2] = ["cache_control", "prompt_cache_breakpoint"];

/// How images are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Billing {
    /// By the rule of the profile.
    AsPixels,
    /// As the letters of their base64.
    AsText,
}

/// Everything the count depends on.
pub(crate) struct Request<'a> {
    pub(crate) wire: Wire,
    pub(crate) profile: &'a Profile,
    pub(crate) key: &'a str,
    pub(crate) body: &'a Value,
    pub(crate) seen: &'a Seen,
    /// The images that reach the model.
    pub(crate) visible: &'a [&'a Image],
    pub(crate) billing: Billing,
}

/// The request up to and including one message.
struct Prefix {
    digest: [u8; 32],
    tokens: u64,
    marked: bool,
}

/// The prefixes of earlier requests.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    known: BTreeSet<[u8; 32]>,
    order: VecDeque<[u8; 32]>,
}

impl Cache {
    /// Counts a request, and remembers its prefixes.
    pub(crate) fn charge(&mut self, request: &Request<'_>) -> Usage {
        let prefixes = prefixes(request);
        let usage = count(request);
        let least = request.profile.cache.min_tokens;
        // One wire caches what is marked, up to the last mark; the other two whatever comes.
        let marks = service(request.wire).facts().cache_marks.is_some();
        let end =
            if marks { prefixes.iter().rposition(|p| p.marked) } else { Some(prefixes.len() - 1) };
        let Some(reach) = end.map(|end| &prefixes[..=end]) else { return usage };
        let hit = reach.iter().rfind(|prefix| self.known.contains(&prefix.digest));
        let cached = hit.map_or(0, |prefix| prefix.tokens).min(usage.input);
        let cached = if cached >= least { cached } else { 0 };
        let whole = reach.last().map_or(0, |prefix| prefix.tokens);
        let written = if marks && whole >= least { whole - cached } else { 0 };
        for prefix in reach.iter().filter(|prefix| !marks || prefix.marked) {
            self.remember(prefix.digest);
        }
        Usage { cached, written, ..usage }
    }

    fn remember(&mut self, digest: [u8; 32]) {
        if self.known.insert(digest) {
            self.order.push_back(digest);
        }
        while self.order.len() > MOST {
            if let Some(oldest) = self.order.pop_front() {
                self.known.remove(&oldest);
            }
        }
    }
}

/// Counts a request, and remembers nothing.
pub(crate) fn count(request: &Request<'_>) -> Usage {
    let input = tokens(request).iter().sum();
    let pixels = request.billing == Billing::AsPixels;
    let images = request.visible.iter().map(|image| image_tokens(request, image)).sum();
    Usage { input, images: if pixels { images } else { 0 }, ..Usage::default() }
}

/// The messages or items of a request.
fn units<'a>(request: &Request<'a>) -> &'a [Value] {
    let list = service(request.wire).facts().list;
    match &request.body[list] {
        Value::Array(units) => units,
        Value::Null => &[],
        other => std::slice::from_ref(other),
    }
}

/// Tokens of what stands before all messages, then of each message.
fn tokens(request: &Request<'_>) -> Vec<u64> {
    let seen = request.seen;
    let places = units(request).len() + 1;
    let (mut letters, mut more) = (vec![0; places], vec![0; places]);
    let mut add = |pointer: &str, count: usize, tokens: u64| {
        let at = unit(pointer).map_or(0, |at| at + 1);
        if at < places {
            letters[at] += count;
            more[at] += tokens;
        }
    };
    seen.texts.iter().for_each(|text| add(&text.pointer, text.text.len(), 0));
    seen.calls.iter().for_each(|call| {
        add(&call.pointer, call.name.len() + call.arguments.len(), 0);
    });
    request.visible.iter().for_each(|image| add(&image.pointer, 0, image_tokens(request, image)));
    seen.documents.iter().for_each(|document| add(&document.pointer, 0, DOCUMENT));
    if !request.body["tools"].is_null() {
        letters[0] += request.body["tools"].to_string().len();
    }
    letters.iter().zip(more).map(|(letters, more)| letters.div_ceil(4) as u64 + more).collect()
}

fn image_tokens(request: &Request<'_>, image: &Image) -> u64 {
    match (request.billing, image.pixels, image.bytes()) {
        (Billing::AsText, _, Some(bytes)) => (bytes.len().div_ceil(3) * 4).div_ceil(4) as u64,
        (_, Some((width, height)), _) => {
            let detail = image.detail.as_deref().and_then(Detail::from_name);
            request.profile.image_tokens(width, height, detail)
        }
        (_, None, _) => 0,
    }
}

fn prefixes(request: &Request<'_>) -> Vec<Prefix> {
    let mut hasher = Hasher::new();
    hasher.update(request.key.as_bytes());
    let head = ["model", "tools", "system", "instructions"].map(|key| &request.body[key]);
    for value in head {
        feed(&mut hasher, value);
    }
    let automatic = request.body["cache_control"].is_object();
    let weights = tokens(request);
    let mut total = weights[0];
    let mut prefixes = vec![Prefix {
        digest: *hasher.finalize().as_bytes(),
        tokens: total,
        marked: head.into_iter().any(marked),
    }];
    let units = units(request);
    for (index, value) in units.iter().enumerate() {
        feed(&mut hasher, value);
        total += weights[index + 1];
        let marked = marked(value) || (automatic && index + 1 == units.len());
        prefixes.push(Prefix { digest: *hasher.finalize().as_bytes(), tokens: total, marked });
    }
    prefixes
}

fn marked(value: &Value) -> bool {
    match value {
        Value::Array(list) => list.iter().any(marked),
        Value::Object(object) => {
            object.get("cache_control").is_some_and(Value::is_object) || object.values().any(marked)
        }
        _ => false,
    }
}

/// Each value with its kind before it, so that no two spellings meet.
fn feed(hasher: &mut Hasher, value: &Value) {
    match value {
        Value::Array(list) => {
            hasher.update(b"[");
            for value in list {
                feed(hasher, value);
            }
            hasher.update(b"]");
        }
        Value::Object(object) => {
            hasher.update(b"{");
            for (key, value) in object.iter().filter(|(key, _)| !MARKS.contains(&key.as_str())) {
                hasher.update(key.as_bytes()).update(b":");
                feed(hasher, value);
            }
            hasher.update(b"}");
        }
        Value::String(text) => {
            hasher.update(b"\"").update(&text.len().to_le_bytes()).update(text.as_bytes());
        }
        other => {
            hasher.update(b"=").update(other.to_string().as_bytes());
        }
    }
}
