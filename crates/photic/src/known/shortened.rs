//! A request without some of its turns, and its way back to the whole.

use std::borrow::Cow;
use std::ops::Range;

use super::ReadRequest;
use super::local::whole_tokens;
use super::turns::{Cut, element, list_pointer};
use crate::finding::{Finding, Position};
use crate::json::Segments;
use crate::lower::Lowered;

/// The turns of a request that need not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// In order. There is always one, and no two are neighbors.
    pub(super) gaps: Vec<Gap>,
}

/// Neighboring turns that are left out, by their places in the whole request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftOutTurns {
    /// Their bytes.
    pub bytes: Range<usize>,
    /// Their messages in the transcript.
    pub messages: Range<usize>,
    /// Their elements in the list of messages.
    pub elements: Range<usize>,
}

/// Neighboring turns that are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Gap {
    /// Their bytes in the whole request.
    pub(super) span: Range<usize>,
    /// The offset in the shortened request that they are missing from.
    pub(super) at: usize,
    /// The number of elements before it in the list of the shortened request.
    elements_before: usize,
    /// The number of bytes that are left out up to here.
    pub(super) bytes: usize,
    /// The number of elements of the list that are left out up to here.
    elements: usize,
    /// The number of JSON values that are left out up to here.
    pub(super) values: usize,
    /// The number of messages before it in the transcript of the whole request.
    messages_before: usize,
    /// The number of messages that are left out up to here.
    messages: usize,
}

/// A request without some of its turns.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ShortenedBody {
    /// The request without them.
    pub body: Vec<u8>,
    pub(super) left_out: LeftOut,
}

impl Gap {
    /// Leaves out everything between two cuts of the whole request. `before` is the gap before it.
    pub(super) fn between(before: Option<&Self>, from: Cut, to: Cut) -> Self {
        let none = Self::default();
        let before = before.unwrap_or(&none);
        Self {
            span: from.end..to.end,
            at: from.end - before.bytes,
            elements_before: from.elements - before.elements,
            bytes: before.bytes + to.end - from.end,
            elements: before.elements + to.elements - from.elements,
            values: before.values + to.values - from.values,
            messages_before: from.messages,
            messages: before.messages + to.messages - from.messages,
        }
    }

    /// Returns a cut behind this gap in the whole request, given the one in the shortened request.
    pub(super) const fn behind(&self, cut: Cut) -> Cut {
        let Cut { end, values, elements, messages } = cut;
        Cut {
            end: end + self.bytes,
            values: values + self.values,
            elements: elements + self.elements,
            messages: messages + self.messages,
        }
    }
}

impl LeftOut {
    /// Returns the turns that are left out, neighbors together, in order.
    pub fn turns(&self) -> impl Iterator<Item = LeftOutTurns> + '_ {
        let before = std::iter::once(None).chain(self.gaps.iter().map(Some));
        self.gaps.iter().zip(before).map(|(gap, before)| {
            let (elements, messages) =
                before.map_or((0, 0), |before| (before.elements, before.messages));
            let first = gap.elements_before + elements;
            LeftOutTurns {
                bytes: gap.span.clone(),
                messages: gap.messages_before..gap.messages_before + gap.messages - messages,
                elements: first..first + gap.elements - elements,
            }
        })
    }

    /// Returns the number of bytes that are left out: the more, the less is to be read.
    pub fn bytes(&self) -> usize {
        self.gaps.last().map_or(0, |gap| gap.bytes)
    }

    /// Returns a request without these turns. `body` is the request that they were found in.
    pub fn cut_out_of(self, body: &[u8]) -> ShortenedBody {
        let mut short = Vec::with_capacity(body.len().saturating_sub(self.bytes()));
        let mut start = 0;
        for gap in &self.gaps {
            short.extend_from_slice(body.get(start..gap.span.start).unwrap_or_default());
            start = gap.span.end;
        }
        short.extend_from_slice(body.get(start..).unwrap_or_default());
        ShortenedBody { body: short, left_out: self }
    }

    /// Returns `true` if turns were cut out of the middle of a span of the shortened request.
    pub(super) fn divides(&self, span: &Range<usize>) -> bool {
        self.gaps.iter().any(|gap| span.start < gap.at && gap.at < span.end)
    }

    /// Returns the last gap. There is always one.
    pub(super) fn last(&self) -> &Gap {
        const NONE: &Gap = &Gap {
            span: 0..0,
            at: 0,
            elements_before: 0,
            bytes: 0,
            elements: 0,
            values: 0,
            messages_before: 0,
            messages: 0,
        };
        self.gaps.last().unwrap_or(NONE)
    }

    /// Returns an offset of the shortened request in the whole one. Where turns were cut out, it is
    /// the offset behind them if something begins there, and the one before them if something ends.
    fn whole(&self, at: usize, begins: bool) -> usize {
        let before = self.gaps.partition_point(|gap| gap.at < at + usize::from(begins));
        at + before.checked_sub(1).map_or(0, |last| self.gaps[last].bytes)
    }

    /// Returns a span of the shortened request in the whole one. If turns were cut out in the middle,
    /// it spans them.
    fn whole_span(&self, span: &Range<usize>) -> Range<usize> {
        let end = self.whole(span.end, false);
        if span.is_empty() { end..end } else { self.whole(span.start, true)..end }
    }

    /// Moves a position from the shortened request to the whole one.
    fn move_position(&self, list: &str, at: &mut Position) {
        let Some(index) = element(list, at) else { return };
        let before = self.gaps.partition_point(|gap| gap.elements_before <= index);
        let Some(last) = before.checked_sub(1) else { return };
        let rest = at.pointer[list.len() + 1..].find('/').map(|end| list.len() + 1 + end);
        let rest = rest.map_or("", |from| &at.pointer[from..]);
        at.pointer = format!("{list}/{}{rest}", index + self.gaps[last].elements);
    }
}

impl ShortenedBody {
    /// Returns the turns that were left out.
    pub const fn left_out(&self) -> &LeftOut {
        &self.left_out
    }

    /// Returns the estimated tokens of the whole request. `read` is the shortened one.
    pub fn tokens(&self, read: &ReadRequest<'_>) -> u64 {
        whole_tokens(read, self.left_out.bytes())
    }

    /// Returns the whole request as it is sent, and the problems that were found in it. `read` is
    /// the shortened request, and `body` the whole one.
    ///
    /// Valid only if [`KnownPrefix::extend`](super::KnownPrefix::extend) returned `true`.
    pub fn put_back<'b>(
        &self,
        read: &ReadRequest<'_>,
        body: &'b [u8],
    ) -> (Lowered<'b>, Vec<Finding>) {
        let ReadRequest { transcript, findings, lowered, .. } = *read;
        let mut decisions = lowered.decisions.clone();
        let mut findings = findings.to_vec();
        if !(decisions.is_empty() && findings.is_empty()) {
            let list = list_pointer(transcript);
            let decided = decisions.iter_mut().filter_map(|decision| decision.at.as_mut());
            let found = findings.iter_mut().map(|finding| &mut finding.at);
            decided.chain(found).for_each(|at| self.left_out.move_position(&list, at));
        }
        let body = if lowered.replaced.is_empty() {
            Segments::whole(body)
        } else {
            self.whole_segments(lowered, body)
        };
        let lowered = Lowered { body, decisions, retired: Vec::new(), replaced: Vec::new() };
        (lowered, findings)
    }

    /// Replaces in the whole request what was replaced in the shortened one.
    fn whole_segments<'b>(&self, lowered: &Lowered<'_>, body: &'b [u8]) -> Segments<'b> {
        let mut written = Written { segments: lowered.body.iter().collect(), offset: 0 };
        let mut list: Vec<Cow<'b, [u8]>> = Vec::new();
        let (mut short, mut whole) = (0, 0);
        for replaced in &lowered.replaced {
            let span = self.left_out.whole_span(&replaced.span);
            list.push(Cow::Borrowed(body.get(whole..span.start).unwrap_or_default()));
            written.take(replaced.span.start - short, |_| {});
            written.take(replaced.length, |piece| list.push(self.found_in(piece, body)));
            (short, whole) = (replaced.span.end, span.end);
        }
        list.push(Cow::Borrowed(body.get(whole..).unwrap_or_default()));
        list.retain(|piece| !piece.is_empty());
        Segments::of(list)
    }

    /// Returns a piece of the shortened request as a piece of the whole one. Copies one that is in
    /// neither.
    fn found_in<'b>(&self, piece: &[u8], body: &'b [u8]) -> Cow<'b, [u8]> {
        let offset = piece.as_ptr().addr().checked_sub(self.body.as_ptr().addr());
        let end = offset.map(|offset| offset + piece.len());
        let span = offset.zip(end).filter(|(_, end)| *end <= self.body.len());
        let span = span.map(|(offset, end)| self.left_out.whole_span(&(offset..end)));
        // Turns may have been cut out of its middle.
        let slice = span.and_then(|span| body.get(span)).filter(|slice| slice.len() == piece.len());
        slice.map_or_else(|| Cow::Owned(piece.to_vec()), Cow::Borrowed)
    }
}

/// The segments of a written body, read from the front.
struct Written<'w> {
    segments: std::collections::VecDeque<&'w [u8]>,
    /// The number of bytes of the first segment that were read.
    offset: usize,
}

impl<'w> Written<'w> {
    /// Reads so many bytes, piece by piece.
    fn take(&mut self, mut length: usize, mut each: impl FnMut(&'w [u8])) {
        while length > 0
            && let Some(&first) = self.segments.front()
        {
            let rest = &first[self.offset..];
            let piece = &rest[..length.min(rest.len())];
            each(piece);
            length -= piece.len();
            self.offset += piece.len();
            if self.offset == first.len() {
                self.segments.pop_front();
                self.offset = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_begin_behind_what_was_left_out_and_end_before_it() {
        let cut = |end| Cut { end, ..Cut::default() };
        let left_out = LeftOut { gaps: vec![Gap::between(None, cut(10), cut(30))] };
        for (span, whole, is_divided) in [
            (4..10, 4..10, false),
            (10..10, 10..10, false),
            (10..12, 30..32, false),
            (12..14, 32..34, false),
            (9..11, 9..31, true),
        ] {
            assert_eq!(left_out.whole_span(&span), whole, "{span:?}");
            assert_eq!(left_out.divides(&span), is_divided, "{span:?}");
        }
    }
}
