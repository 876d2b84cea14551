//! Reads the usage of a reply, and detects images that were billed as text.
//!
//! Replies are not buffered. Only their first and last bytes are kept, which contain the usage.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use photic::Wire;
use photic::reply::find_usage;

use super::kept_reply::KeptReply;
use super::sent_media::SentMedia;
use crate::http::ReplyTap;
use crate::learned::{Entry, Evidence, Learned, Lesson};
use crate::observe::Outcome;
use crate::tenant::Identity;

/// Bytes of the beginning of a reply that are kept. On Messages they contain the input tokens.
const HEAD: usize = 2 << 10;
/// Bytes of the end of a reply that are kept.
const TAIL: usize = 4 << 10;
/// Minimum bytes of images. With fewer, a hidden prompt of the provider would cost as much.
const MIN_IMAGE_BYTES: u64 = 40_000;

/// Reads the usage of a reply while it is passed on.
#[derive(Debug)]
pub(super) struct UsageTap {
    pub(super) learned: Arc<Learned>,
    pub(super) outcome: Arc<Outcome>,
    pub(super) wire: Wire,
    pub(super) host: String,
    /// The caller of the request.
    pub(super) teacher: Identity,
    /// The media of the request, if it shows any.
    pub(super) media: Option<Box<SentMedia>>,
    /// The estimated price of reading the request, in tokens.
    pub(super) estimate: u64,
    /// The reply, if replies are recorded.
    pub(super) reply: Option<KeptReply>,
    pub(super) head: Vec<u8>,
    pub(super) tail: Vec<u8>,
}

impl ReplyTap for UsageTap {
    fn see(&mut self, piece: &[u8]) {
        if let Some(reply) = &mut self.reply {
            reply.add(piece);
        }
        let room = HEAD.saturating_sub(self.head.len()).min(piece.len());
        self.head.extend_from_slice(&piece[..room]);
        self.tail.extend_from_slice(&piece[piece.len().saturating_sub(TAIL)..]);
        // Trimmed now and then, not for every piece of a stream.
        if self.tail.len() > 2 * TAIL {
            self.tail.drain(..self.tail.len() - TAIL);
        }
    }
}

/// A reply can end in several ways. Dropping covers all of them.
impl Drop for UsageTap {
    fn drop(&mut self) {
        if let Some(reply) = self.reply.take().and_then(KeptReply::finish) {
            let _ = self.outcome.reply.set(Box::new(reply));
        }
        let Some(usage) = find_usage(self.wire, &self.head, &self.tail) else { return };
        let _ = self.outcome.usage.set(usage);
        let Some(media) = self.media.take() else { return };
        if !is_billed_as_text(usage.input, self.estimate, media.base64) {
            return;
        }
        self.outcome.billed_as_text.store(true, Ordering::Relaxed);
        let (read, estimate) = (usage.input, self.estimate);
        let said = format!("{read} tokens were billed where {estimate} were expected");
        let in_results = media.in_results;
        let entry = Entry {
            host: std::mem::take(&mut self.host),
            model: media.model,
            wire: None,
            lesson: Lesson::BilledAsText { in_results },
            teacher: self.teacher.clone(),
            evidence: Evidence::now(200, &said),
        };
        let learned = Arc::clone(&self.learned);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            // If the gateway stops before this is written, the next such reply teaches it again.
            runtime.spawn_blocking(move || learned.remember(&[entry]));
        }
    }
}

/// Returns `true` if images were billed as text.
///
/// Base64 has a token for two to four characters. The rest of the request is estimated, and a
/// provider adds a prompt of its own, so the excess must be large and explained by the images.
fn is_billed_as_text(input: u64, estimate: u64, base64: u64) -> bool {
    let excess = input.saturating_sub(estimate);
    base64 >= MIN_IMAGE_BYTES && input / 3 >= estimate && excess >= base64 / 5
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
