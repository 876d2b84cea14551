//! Counts the tokens of a request: text by its length, images by the profile's rule, and the cached
//! part.
//!
//! Prefixes are stored as digests only; no text is kept.

use std::collections::{BTreeSet, VecDeque};

use blake3::Hasher;
use photic::tokens::Detail;
use photic::{Profile, Wire};
use photic_testkit::oracle::{Image, Seen};
use serde_json::Value;

use crate::reply::Usage;
use crate::script::unit;
use crate::service::service;

/// Largest number of prefixes that are kept.
const MAX_PREFIXES: usize = 20_000;
/// Tokens of a document, which is not read here: about the price of a small one.
const DOCUMENT_TOKENS: u64 = 1500;
/// Members with cache breakpoints, which are not part of the comparison.
const CACHE_MEMBERS: [&str; 2] = ["cache_control", "prompt_cache_breakpoint"];

/// The way in which images are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Billing {
    /// By the rule of the profile.
    AsPixels,
    /// As text, by the characters of their base64.
    AsText,
}

/// Everything that the count depends on.
pub(crate) struct CountedRequest<'a> {
    pub(crate) wire: Wire,
    pub(crate) profile: &'a Profile,
    pub(crate) key: &'a str,
    pub(crate) body: &'a Value,
    pub(crate) seen: &'a Seen,
    /// The images that reach the model.
    pub(crate) visible: &'a [&'a Image],
    pub(crate) billing: Billing,
}

/// A request up to and including one message.
struct Prefix {
    digest: [u8; 32],
    tokens: u64,
    marked: bool,
}

/// The prefixes of earlier requests.
#[derive(Debug, Default)]
pub(crate) struct PrefixCache {
    known: BTreeSet<[u8; 32]>,
    order: VecDeque<[u8; 32]>,
}

impl PrefixCache {
    /// Counts a request, and stores its prefixes.
    pub(crate) fn charge(&mut self, request: &CountedRequest<'_>) -> Usage {
        let prefixes = prefixes(request);
        let usage = count(request);
        let least = request.profile.cache.min_tokens;
        // One wire caches up to the last breakpoint; the others cache everything.
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

    /// Stores a prefix, and drops the oldest.
    fn remember(&mut self, digest: [u8; 32]) {
        if self.known.insert(digest) {
            self.order.push_back(digest);
        }
        while self.order.len() > MAX_PREFIXES {
            if let Some(oldest) = self.order.pop_front() {
                self.known.remove(&oldest);
            }
        }
    }
}

/// Counts a request without storing it.
pub(crate) fn count(request: &CountedRequest<'_>) -> Usage {
    let input = tokens(request).iter().sum();
    let pixels = request.billing == Billing::AsPixels;
    let images = request.visible.iter().map(|image| image_tokens(request, image)).sum();
    Usage { input, images: if pixels { images } else { 0 }, ..Usage::default() }
}

/// The messages or items of a request.
fn units<'a>(request: &CountedRequest<'a>) -> &'a [Value] {
    let list = service(request.wire).facts().list;
    match &request.body[list] {
        Value::Array(units) => units,
        Value::Null => &[],
        other => std::slice::from_ref(other),
    }
}

/// The tokens before all messages, then of each message.
fn tokens(request: &CountedRequest<'_>) -> Vec<u64> {
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
    seen.documents.iter().for_each(|document| add(&document.pointer, 0, DOCUMENT_TOKENS));
    if !request.body["tools"].is_null() {
        letters[0] += request.body["tools"].to_string().len();
    }
    letters.iter().zip(more).map(|(letters, more)| letters.div_ceil(4) as u64 + more).collect()
}

/// The tokens of an image.
fn image_tokens(request: &CountedRequest<'_>, image: &Image) -> u64 {
    match (request.billing, image.pixels, image.bytes()) {
        (Billing::AsText, _, Some(bytes)) => (bytes.len().div_ceil(3) * 4).div_ceil(4) as u64,
        (_, Some((width, height)), _) => {
            let detail = image.detail.as_deref().and_then(Detail::from_name);
            request.profile.image_tokens(width, height, detail)
        }
        (_, None, _) => 0,
    }
}

/// The prefixes of a request.
fn prefixes(request: &CountedRequest<'_>) -> Vec<Prefix> {
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

/// Returns `true` if the value contains a cache breakpoint.
fn marked(value: &Value) -> bool {
    match value {
        Value::Array(list) => list.iter().any(marked),
        Value::Object(object) => {
            object.get("cache_control").is_some_and(Value::is_object) || object.values().any(marked)
        }
        _ => false,
    }
}

/// Hashes a value with its kind, so that different values never collide.
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
            for (key, value) in
                object.iter().filter(|(key, _)| !CACHE_MEMBERS.contains(&key.as_str()))
            {
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
