//! Finds long runs of base64 while a body arrives.
//!
//! Each piece is read right after it was written, while it is still in the processor's cache. A
//! scan of the whole body then skips the runs.

use super::base64_run::{base64_run, is_base64};
use super::scan::{LONG_RUN, Runs};

/// The long runs of base64 in a body, as far as it has arrived.
///
/// ```
/// # use photic::{Base64Runs, Wire};
/// let (mut body, mut stretches) = (Vec::new(), Base64Runs::default());
/// for piece in [br#"{"model":"gpt-4o","#.as_slice(), br#""messages":[]}"#] {
///     stretches.feed(piece);
///     body.extend_from_slice(piece);
/// }
/// let (transcript, _) = photic::lift_with_hints(Wire::OpenAiChat, &body, &stretches);
/// assert!(transcript.is_readable());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Base64Runs {
    list: Vec<(u32, u32)>,
    /// Number of bytes fed so far.
    seen: usize,
    /// Length of the base64 run that reaches up to the last byte fed.
    open: usize,
}

impl Base64Runs {
    /// Reads the next piece of the body.
    pub fn feed(&mut self, piece: &[u8]) {
        let mut here = 0;
        loop {
            let run = base64_run(&piece[here..]);
            self.open += run;
            here += run;
            if here == piece.len() {
                break;
            }
            self.close(self.seen + here);
            here = next(piece, here + 1);
        }
        self.seen += piece.len();
    }

    /// Returns the runs of `body`. The list is empty unless every byte of `body` was fed.
    pub(crate) fn of(&self, body: &[u8]) -> Runs<'_> {
        let list = if self.seen == body.len() { self.list.as_slice() } else { &[] };
        Runs { list, base: 0 }
    }

    fn close(&mut self, end: usize) {
        let open = std::mem::take(&mut self.open);
        // Longer bodies are not scanned at all.
        if open >= LONG_RUN
            && let (Ok(start), Ok(end)) = (u32::try_from(end - open), u32::try_from(end))
        {
            self.list.push((start, end));
        }
    }
}

/// Returns the start of the next run that is long, or that may become long with the next piece. A
/// long run covers at least one of the positions checked here.
fn next(piece: &[u8], mut from: usize) -> usize {
    loop {
        let place = (from + LONG_RUN - 1).min(piece.len());
        let before = &piece[from.min(place)..place];
        let run = before.iter().rev().take_while(|&&byte| is_base64(byte)).count();
        if place == piece.len() || run > 0 {
            return place - run;
        }
        from = place;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text() -> Vec<u8> {
        let mut text = Vec::new();
        for (run, between) in [(10, 3), (4095, 1), (4096, 5), (9000, 4097), (4100, 1), (70_000, 2)]
        {
            text.extend(std::iter::repeat_n(b'A', run));
            text.extend(std::iter::repeat_n(b'"', between));
        }
        text.extend(b"prose with spaces, and words. ".repeat(500));
        text
    }

    /// Finds the expected runs by a slow and simple search.
    fn expected(text: &[u8]) -> Vec<(u32, u32)> {
        let mut list = Vec::new();
        let mut start = 0;
        for (at, &byte) in text.iter().enumerate() {
            if !is_base64(byte) {
                if at - start >= LONG_RUN {
                    list.push((start as u32, at as u32));
                }
                start = at + 1;
            }
        }
        list
    }

    #[test]
    fn every_long_one_is_found_however_the_body_is_cut() {
        let text = text();
        assert_eq!(expected(&text).len(), 4);
        for size in [1, 7, 100, 4095, 4096, 4097, 8192, 20_000, text.len()] {
            let mut stretches = Base64Runs::default();
            text.chunks(size).for_each(|piece| stretches.feed(piece));
            assert_eq!(stretches.of(&text).list, expected(&text), "in pieces of {size}");
        }
    }

    #[test]
    fn those_of_another_body_are_not_believed() {
        let mut stretches = Base64Runs::default();
        stretches.feed(&text());
        assert_eq!(stretches.of(b"{}").list, []);
    }
}
