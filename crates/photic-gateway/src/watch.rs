//! What became of a request that carried media: what it was healed of, what it cost, and whether
//! its images were billed as text.
//!
//! Replies are not gathered: their first and last bytes are kept as they pass, and what they cost
//! stands in those.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use photic::rejection::Class;
use photic::reply::Usage;
use photic::transcript::MediaId;
use photic::{Fate, Plan, Prepared, Slot, Wire};

use crate::identity::Identity;
use crate::learned::{Entry, Evidence, Lesson};
use crate::proxy::Proxy;
use crate::record::Bill;

/// Bytes of the beginning of a reply that are kept: one wire says there what was read.
const HEAD: usize = 2 << 10;
/// Bytes of its end.
const TAIL: usize = 4 << 10;
/// Images of fewer bytes prove nothing: a hidden prompt would cost as much.
const ENOUGH: u64 = 40_000;

/// What became of a request; the ends of it are known when its reply has passed.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// The rejections that it was healed of, in order.
    pub(crate) healed: Vec<Class>,
    /// What the provider says it cost.
    pub(crate) usage: OnceLock<Usage>,
    /// Whether its images were counted as letters.
    pub(crate) billed_as_text: AtomicBool,
}

/// The media that a request carries.
#[derive(Debug)]
pub(crate) struct Carried {
    /// The model they are for, as the caller names it.
    pub(crate) model: String,
    /// What the images take in the body, in bytes of base64.
    pub(crate) base64: u64,
    /// Whether an image stands in a tool result.
    pub(crate) in_results: bool,
}

impl Carried {
    /// What a plan shows; `None` if that is nothing.
    pub(crate) fn of(
        plan: &Plan<'_>,
        prepared: &Prepared,
        model: Option<&str>,
    ) -> Option<Box<Self>> {
        let shown = |id: MediaId| plan.fates.get(id).is_some_and(|fate| fate.is_shown());
        let mut shown = plan.survey.sightings.iter().filter(|one| shown(one.media)).peekable();
        shown.peek()?;
        let model = model.unwrap_or_default().to_owned();
        let mut carried = Self { model, base64: 0, in_results: false };
        for one in shown {
            let made = prepared.get(&one.media).map(|made| made.base64.len());
            carried.base64 += made.unwrap_or(one.wire_bytes) as u64;
            carried.in_results |= matches!(one.slot, Slot::Result { .. })
                && matches!(plan.fates[one.media], Fate::Keep(_));
        }
        Some(Box::new(carried))
    }
}

/// Looks at a reply as it passes.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) proxy: Arc<Proxy>,
    pub(crate) outcome: Arc<Outcome>,
    pub(crate) wire: Wire,
    pub(crate) host: String,
    /// Whose request it is.
    pub(crate) teacher: Identity,
    pub(crate) carried: Box<Carried>,
    /// What the request should cost.
    pub(crate) estimate: u64,
    /// The turn that it is, where turns are kept.
    pub(crate) bill: Option<Bill>,
    pub(crate) head: Vec<u8>,
    pub(crate) tail: Vec<u8>,
}

impl Watch {
    /// Takes note of a piece.
    pub(crate) fn see(&mut self, piece: &[u8]) {
        let room = HEAD.saturating_sub(self.head.len()).min(piece.len());
        self.head.extend_from_slice(&piece[..room]);
        self.tail.extend_from_slice(&piece[piece.len().saturating_sub(TAIL)..]);
        // Moved once in a while, and not for every piece of a stream.
        if self.tail.len() > 2 * TAIL {
            self.tail.drain(..self.tail.len() - TAIL);
        }
    }
}

impl Watch {
    /// Has the price of the turn noted.
    fn settle(&mut self, usage: Usage) {
        let Some(bill) = self.bill.take() else { return };
        let proxy = Arc::clone(&self.proxy);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                if let Some(recorder) = &proxy.workshop.recorder {
                    bill.settle(recorder, usage).await;
                }
            });
        }
    }
}

/// A reply ends in more ways than one; this is called in all of them.
impl Drop for Watch {
    fn drop(&mut self) {
        let Some(usage) = usage(self.wire, &self.head, &self.tail) else { return };
        let _ = self.outcome.usage.set(usage);
        self.settle(usage);
        if !is_billed_as_text(usage.input, self.estimate, self.carried.base64) {
            return;
        }
        self.outcome.billed_as_text.store(true, Ordering::Relaxed);
        let (read, estimate) = (usage.input, self.estimate);
        let said = format!("{read} tokens were billed where {estimate} were expected");
        let in_results = self.carried.in_results;
        let entry = Entry {
            host: std::mem::take(&mut self.host),
            model: std::mem::take(&mut self.carried.model),
            wire: None,
            lesson: Lesson::BilledAsText { in_results },
            teacher: self.teacher.clone(),
            evidence: Evidence::now(200, &said),
        };
        let proxy = Arc::clone(&self.proxy);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            // Should the gateway end before it is written, it will be seen again.
            runtime.spawn_blocking(move || proxy.workshop.learned.remember(&[entry]));
        }
    }
}

/// Letters of base64 make a token in two to four. The rest of the request is estimated, and a
/// provider adds words of its own: the excess must be large, and explained by the images.
fn is_billed_as_text(input: u64, estimate: u64, base64: u64) -> bool {
    let excess = input.saturating_sub(estimate);
    base64 >= ENOUGH && input / 3 >= estimate && excess >= base64 / 5
}

/// What a reply says that it cost, from its first and last bytes.
fn usage(wire: Wire, head: &[u8], tail: &[u8]) -> Option<Usage> {
    let name = match wire {
        Wire::OpenAiChat | Wire::OpenAiResponses | Wire::Anthropic | Wire::Converse => USAGE,
        Wire::Gemini => METADATA,
        Wire::Ollama => return counts(wire, tail),
    };
    let mut found: Option<Usage> = None;
    for part in [head, tail] {
        for (at, _) in part.windows(name.len()).enumerate().filter(|(_, here)| *here == name) {
            let Some(object) = object(&part[at + name.len()..]) else { continue };
            let reply = [b"{", name, b":", object, b"}"].concat();
            let Some(usage) = photic::lift_reply(wire, &reply).usage else { continue };
            // One wire tells what was read at the beginning and what was written at the end.
            let former = found.unwrap_or_default();
            found = Some(if former.input > usage.input {
                Usage { output: former.output.max(usage.output), ..former }
            } else {
                usage
            });
        }
    }
    found
}

const USAGE: &[u8] = b"\"usage\"";
const METADATA: &[u8] = b"\"usageMetadata\"";

/// One wire tells what a reply cost among everything else, at its end.
fn counts(wire: Wire, tail: &[u8]) -> Option<Usage> {
    let last = tail.trim_ascii_end();
    let from = last.windows(DONE.len()).rposition(|here| here == DONE)?;
    let reply = [b"{", &last[from..]].concat();
    photic::lift_reply(wire, &reply).usage
}

const DONE: &[u8] = b"\"done\"";

/// The object behind a name. There are no strings with braces in what something cost.
fn object(rest: &[u8]) -> Option<&[u8]> {
    let start =
        rest.iter().position(|byte| !matches!(byte, b' ' | b':' | b'\n' | b'\r' | b'\t'))?;
    if rest[start] != b'{' {
        return None;
    }
    let mut depth = 0_usize;
    for (at, byte) in rest.iter().enumerate().skip(start) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&rest[start..=at]);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_found_at_either_end_of_a_reply() {
        let chat = br#"data: {"choices":[],"usage":{"prompt_tokens":120,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":100}}}"#;
        let found = usage(Wire::OpenAiChat, b"data: {\"usage\":null}", chat).unwrap();
        assert_eq!((found.input, found.output, found.cache_read), (120, 7, 100));
        let responses = br#"put":[]},"usage": {"input_tokens":50,"output_tokens":2},"user":null}}"#;
        assert_eq!(usage(Wire::OpenAiResponses, b"", responses).unwrap().input, 50);
        let start = br#"{"type":"message_start","message":{"usage":{"input_tokens":10,"cache_read_input_tokens":90,"output_tokens":1}}}"#;
        let end = br#"{"type":"message_delta","delta":{},"usage":{"output_tokens":33}}"#;
        let found = usage(Wire::Anthropic, start, end).unwrap();
        assert_eq!((found.input, found.output, found.cache_read), (100, 33, 90));
        let gemini = br#"data: {"candidates":[],"usageMetadata": {"promptTokenCount":70,"candidatesTokenCount":5,"promptTokensDetails":[{"modality":"IMAGE","tokenCount":60}]}}"#;
        assert_eq!(usage(Wire::Gemini, b"", gemini).unwrap().input, 70);
        let converse =
            b"\0\0:event-type{\"metrics\":{},\"usage\":{\"inputTokens\":9,\"outputTokens\":3}}\x01";
        assert_eq!(usage(Wire::Converse, b"", converse).unwrap().input, 9);
        let ollama =
            b"e\"}}\n{\"model\":\"m\",\"done\":true,\"prompt_eval_count\":31,\"eval_count\":4}\n";
        let found = usage(Wire::Ollama, b"", ollama).unwrap();
        assert_eq!((found.input, found.output), (31, 4));
        assert_eq!(usage(Wire::Ollama, b"", b"{\"done\":fal"), None);
        for nothing in [b"".as_slice(), b"\"usage\"", b"\"usage\":{\"prompt_tokens\":1", b"usage"] {
            assert_eq!(usage(Wire::OpenAiChat, nothing, nothing), None);
        }
    }

    #[test]
    fn what_counts_as_text() {
        // A screenshot of 200 kB: about 1,500 tokens as pixels, 66,000 and more as letters.
        assert!(is_billed_as_text(67_000, 1_600, 266_000));
        assert!(!is_billed_as_text(1_700, 1_600, 266_000));
        // A long conversation around it.
        assert!(!is_billed_as_text(166_000, 100_000, 266_000));
        // A hidden prompt, and a small picture.
        assert!(!is_billed_as_text(12_000, 1_600, 20_000));
        assert!(!is_billed_as_text(12_000, 1_600, 266_000));
    }
}
