//! The journal of requests: counts, sizes and verdicts, for tests.
//!
//! It is bounded, in memory, and holds no media: nothing that was sent can be read from it.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Largest number of requests that are kept.
const MAX_ENTRIES: usize = 5000;
/// Largest number of messages of one request whose digests are kept.
const MAX_UNITS: usize = 1000;

/// One request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The number of the request, from 1.
    pub number: u64,
    /// The path.
    pub path: String,
    /// The model that it named.
    pub model: String,
    /// `true` if it asked for a stream.
    pub stream: bool,
    /// Size of its body in bytes.
    pub bytes: usize,
    /// A digest of the bytes of each message or item: these must not change from turn to turn.
    pub units: Vec<String>,
    /// The status of the reply; 0 if there was none.
    pub status: u16,
    /// The images that reached the model.
    pub images: Vec<SeenImage>,
    /// The number of images that were sent, seen or not.
    pub images_sent: usize,
    /// The number of tool results.
    pub results: usize,
    /// The rules that it broke, as codes of the oracle.
    pub violations: Vec<String>,
    /// The misbehaviors of the provider.
    pub misbehaved: Vec<&'static str>,
    /// Input tokens.
    pub input_tokens: u64,
    /// Input tokens that came from the cache.
    pub cached_tokens: u64,
    /// The answer: a description of charts, or the names of called tools.
    pub said: String,
}

/// One image that reached the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SeenImage {
    /// `user` or `tool_result`.
    pub slot: &'static str,
    /// Size of the file in bytes.
    pub bytes: usize,
    /// Width and height.
    pub pixels: Option<(u32, u32)>,
    /// A description of its content.
    pub words: String,
}

/// The requests so far.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    total: u64,
    entries: VecDeque<Entry>,
}

/// The answer of `GET /__mock/requests`.
#[derive(Serialize)]
pub(crate) struct JournalPage<'a> {
    total: u64,
    requests: &'a VecDeque<Entry>,
}

impl Journal {
    /// Adds a request.
    pub(crate) fn record(&mut self, entry: Entry) {
        self.total += 1;
        self.entries.push_back(entry);
        if self.entries.len() > MAX_ENTRIES {
            self.entries.pop_front();
        }
    }

    /// Removes all requests.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// All requests.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.entries.iter().cloned().collect()
    }

    /// The requests as a document.
    pub(crate) fn pages(&self) -> JournalPage<'_> {
        JournalPage { total: self.total, requests: &self.entries }
    }
}

/// The digests of the messages of a body, computed from their bytes.
pub(crate) fn units(body: &[u8]) -> Vec<String> {
    #[derive(Deserialize)]
    struct Lists<'a> {
        #[serde(borrow)]
        messages: Option<&'a RawValue>,
        #[serde(borrow)]
        input: Option<&'a RawValue>,
    }
    let lists: Option<Lists<'_>> = serde_json::from_slice(body).ok();
    let list = lists.and_then(|lists| lists.messages.or(lists.input));
    let units: Vec<&RawValue> =
        list.and_then(|list| serde_json::from_str(list.get()).ok()).unwrap_or_default();
    let digest = |unit: &&RawValue| blake3::hash(unit.get().as_bytes()).to_hex()[..16].to_owned();
    units.iter().take(MAX_UNITS).map(digest).collect()
}
