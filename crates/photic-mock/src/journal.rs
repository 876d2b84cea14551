//! What was asked: counts, sizes and verdicts, for tests.
//!
//! Bounded, in memory, and without media: nothing that was sent can be read back from it.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Most requests that are remembered.
const MOST: usize = 5000;
/// Most messages of one request whose digests are kept.
const MOST_UNITS: usize = 1000;

/// One request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Which one it was, from 1.
    pub number: u64,
    /// The path.
    pub path: String,
    /// The model it named.
    pub model: String,
    /// It asked for a stream.
    pub stream: bool,
    /// Bytes of its body.
    pub bytes: usize,
    /// A digest of each message or item, as its bytes came: what must not change from turn to turn.
    pub units: Vec<String>,
    /// The status of the reply; 0 where there was none.
    pub status: u16,
    /// The images that reached the model.
    pub images: Vec<SeenImage>,
    /// Images that were sent, seen or not.
    pub images_sent: usize,
    /// Tool results it held.
    pub results: usize,
    /// What it broke, as codes of the oracle.
    pub violations: Vec<String>,
    /// How the provider misbehaved.
    pub misbehaved: Vec<&'static str>,
    /// Tokens of the request.
    pub input_tokens: u64,
    /// How many of them came from the cache.
    pub cached_tokens: u64,
    /// What was answered: words about charts, or the calls by name.
    pub said: String,
}

/// One image that reached the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SeenImage {
    /// `user` or `tool_result`.
    pub slot: &'static str,
    /// Bytes of the file.
    pub bytes: usize,
    /// Width and height.
    pub pixels: Option<(u32, u32)>,
    /// What is in it.
    pub words: String,
}

/// The requests so far.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    total: u64,
    entries: VecDeque<Entry>,
}

/// What `GET /__mock/requests` answers.
#[derive(Serialize)]
pub(crate) struct Pages<'a> {
    total: u64,
    requests: &'a VecDeque<Entry>,
}

impl Journal {
    pub(crate) fn record(&mut self, entry: Entry) {
        self.total += 1;
        self.entries.push_back(entry);
        if self.entries.len() > MOST {
            self.entries.pop_front();
        }
    }

    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.entries.iter().cloned().collect()
    }

    pub(crate) fn pages(&self) -> Pages<'_> {
        Pages { total: self.total, requests: &self.entries }
    }
}

/// The digests of the messages of a body, by the bytes that came.
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
    units.iter().take(MOST_UNITS).map(digest).collect()
}
