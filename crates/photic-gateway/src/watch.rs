//! What became of a request that carried media: what it was healed of, what it cost, and whether
//! its images were billed as text.
//!
//! Replies are not gathered: their first and last bytes are kept as they pass, and what they cost
//! stands in those.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use photic::rejection::Class;
use photic::reply::{Usage, find_usage};
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
pub(crate) struct SentMedia {
    /// The model they are for, as the caller names it.
    pub(crate) model: String,
    /// What the images take in the body, in bytes of base64.
    pub(crate) base64: u64,
    /// Whether an image stands in a tool result.
    pub(crate) in_results: bool,
}

impl SentMedia {
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
pub(crate) struct UsageTap {
    pub(crate) proxy: Arc<Proxy>,
    pub(crate) outcome: Arc<Outcome>,
    pub(crate) wire: Wire,
    pub(crate) host: String,
    /// Whose request it is.
    pub(crate) teacher: Identity,
    pub(crate) carried: Box<SentMedia>,
    /// What the request should cost.
    pub(crate) estimate: u64,
    /// The turn that it is, where turns are kept.
    pub(crate) bill: Option<Bill>,
    pub(crate) head: Vec<u8>,
    pub(crate) tail: Vec<u8>,
}

impl UsageTap {
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

impl UsageTap {
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
impl Drop for UsageTap {
    fn drop(&mut self) {
        let Some(usage) = find_usage(self.wire, &self.head, &self.tail) else { return };
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

#[cfg(test)]
mod tests {
    use super::*;

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
