//! Clearing of old tool results, as a request asks its provider to do it.
//!
//! On the provider's own API the provider clears. On other APIs nothing does, so the results are
//! cleared here: the oldest ones become a text, once the request is large enough. The choice
//! follows from the request alone, so that the same request always gives the same bytes.

use std::collections::BTreeMap;

use super::rules::Defaults;
use super::{Effect, found};
use crate::json::Value;
use crate::tokens::text_tokens;
use crate::transcript::{MediaId, Part, Transcript};

/// The text of an old result that the request asks to clear.
pub(crate) const CLEARED: &str =
    "[this old tool result was cleared, as the client asked; you cannot see it]";

/// An edit that clears old tool results.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClearToolResults {
    /// The tokens of the request from which on results are cleared.
    pub trigger_tokens: Option<u64>,
    /// The number of results from which on they are cleared.
    pub trigger_results: Option<u64>,
    /// The number of newest results that stay.
    pub keep: usize,
    /// Minimum tokens that must be saved.
    pub at_least: u64,
    /// The tools whose results stay.
    pub exclude: Vec<String>,
}

/// An edit, and the results that it is about.
#[derive(Clone, Debug)]
pub struct Clearing {
    /// The edit.
    pub(crate) edit: ClearToolResults,
    /// The results that it may clear, in order.
    pub(crate) results: Vec<Clearable>,
}

/// A tool result that may be cleared.
#[derive(Clone, Debug)]
pub(crate) struct Clearable {
    /// Its message, and its part of the message.
    pub(crate) place: (usize, usize),
    /// Bytes of its text.
    pub(crate) words: usize,
    /// The media in it.
    pub(crate) media: Vec<MediaId>,
}

impl ClearToolResults {
    fn read(edit: Value<'_, '_>, defaults: Defaults) -> Self {
        let number = |name: &str, of: &str| {
            let member = edit.get(name)?;
            let is_of = member.get("type").is_none_or(|kind| kind.is(of));
            member.get("value").filter(|_| is_of)?.u64()
        };
        let trigger_results = number("trigger", "tool_uses")
            .filter(|_| edit.get("trigger").is_some_and(|trigger| trigger.get("type").is_some()));
        let trigger_tokens = match trigger_results {
            Some(_) => None,
            None => Some(number("trigger", "input_tokens").unwrap_or(defaults.trigger_tokens)),
        };
        let keep = number("keep", "tool_uses").and_then(|keep| usize::try_from(keep).ok());
        let excluded = edit.get("exclude_tools").into_iter().flat_map(Value::items);
        Self {
            trigger_tokens,
            trigger_results,
            keep: keep.unwrap_or(defaults.keep),
            at_least: number("clear_at_least", "input_tokens").unwrap_or(0),
            exclude: excluded
                .filter_map(|name| name.str())
                .map(|name| name.decode().into_owned())
                .collect(),
        }
    }

    /// Returns `true` if results of a tool may be cleared.
    pub(crate) fn concerns(&self, tool: Option<&str>) -> bool {
        !tool.is_some_and(|tool| self.exclude.iter().any(|name| name == tool))
    }
}

impl Clearing {
    /// Reads the edit of a request that clears tool results, if it has one.
    /// `bytes_of` returns the size of a medium in the body.
    pub(crate) fn of(
        transcript: &Transcript<'_>,
        bytes_of: impl Fn(MediaId) -> usize,
    ) -> Option<Self> {
        let edits = found(transcript, |rule| rule.effect == Effect::ClearsResults);
        let (rule, value) = edits.into_iter().next()?;
        let edit = ClearToolResults::read(value, rule.clears?);
        let mut results = Vec::new();
        let mut tools = BTreeMap::new();
        for (unit, message) in transcript.messages.iter().enumerate() {
            let calls =
                message.calls().map(|call| (call.id.decode().into_owned(), call.name.plain_word()));
            tools.extend(calls);
            for (index, part) in message.parts.iter().enumerate() {
                let Part::Result(result) = part else { continue };
                let tool = tools.get(&*result.call_id.decode()).and_then(Option::as_deref);
                if !edit.concerns(tool) {
                    continue;
                }
                let mut media = Vec::new();
                part.each_media(&mut |id| media.push(id));
                let pixels: usize = media.iter().map(|&id| bytes_of(id)).sum();
                let bytes = result.slot.map_or(0, |slot| transcript.raw(slot).len());
                let words = bytes.saturating_sub(pixels);
                results.push(Clearable { place: (unit, index), words, media });
            }
        }
        Some(Self { edit, results })
    }
}

/// Chooses the results that are cleared from a request of so many messages and tokens. `cost`
/// returns the tokens of a medium in it.
pub(crate) fn cleared(
    clearing: Option<&Clearing>,
    end: usize,
    tokens: u64,
    cost: impl Fn(MediaId) -> u64,
) -> Vec<Clearable> {
    let Some(Clearing { edit, results }) = clearing else { return Vec::new() };
    let results = &results[..results.partition_point(|result| result.place.0 < end)];
    let is_reached = edit.trigger_tokens.is_some_and(|most| tokens > most)
        || edit.trigger_results.is_some_and(|most| results.len() as u64 > most);
    if !is_reached {
        return Vec::new();
    }
    let old = &results[..results.len().saturating_sub(edit.keep)];
    let notice = text_tokens(CLEARED.len() as u64);
    let saved: u64 = old
        .iter()
        .map(|result| {
            let media: u64 = result.media.iter().map(|&id| cost(id)).sum();
            (text_tokens(result.words as u64) + media).saturating_sub(notice)
        })
        .sum();
    if saved < edit.at_least { Vec::new() } else { old.to_vec() }
}
