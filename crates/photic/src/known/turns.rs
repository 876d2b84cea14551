//! Divides a request into turns that do not depend on each other.

use std::ops::Range;

use super::ReadRequest;
use crate::finding::Position;
use crate::json::Kind;
use crate::structure::{self, Reader};
use crate::transcript::{Home, Transcript};

/// A place between two turns of a request: behind a message, where no call waits for a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cut {
    /// The offset in the body.
    pub(super) end: usize,
    /// The number of JSON values before it.
    pub(super) values: usize,
    /// The number of elements before it in the list of messages.
    pub(super) elements: usize,
    /// The number of messages before it in the transcript.
    pub(super) messages: usize,
}

/// One turn of the assistant, or several that depend on each other, and everything that follows up
/// to the next one.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    pub(super) end: Cut,
    /// The end of the turn before it.
    start: usize,
    pub(super) messages: Range<usize>,
    /// `true` if it is sent as it came, holds no media, and nothing was found in it.
    pub(super) is_plain: bool,
}

/// The turns of a request.
#[derive(Debug)]
pub(super) struct Turns {
    /// The end of the messages before the first turn.
    pub(super) opening: Cut,
    /// The number of these messages.
    pub(super) opening_messages: usize,
    /// The others, in order.
    pub(super) all: Vec<Turn>,
    /// The offset of the last message of the request.
    last_message: usize,
}

impl Turn {
    /// Returns its length in the body.
    pub(super) const fn bytes(&self) -> usize {
        self.end.end - self.start
    }
}

impl Turns {
    /// Divides a request. Returns `None` if it cannot be divided.
    pub(super) fn of(read: &ReadRequest<'_>) -> Option<Self> {
        let transcript = read.transcript;
        let list = transcript.doc.value(transcript.list?);
        if list.kind() != Kind::Array {
            return None;
        }
        let elements: Vec<Range<usize>> = list.items().map(|item| item.span()).collect();
        // The end of a message, if it is in the list.
        let cut = |index: usize| {
            let message = transcript.messages.get(index)?;
            let value = transcript.doc.value(message.node.filter(|_| message.home == Home::List)?);
            let end = value.span().end;
            let before = elements.partition_point(|element| element.end <= end);
            let values = value.next_id() as usize;
            Some(Cut { end, values, elements: before, messages: index + 1 })
        };
        let segments = structure::segments(transcript, Reader::OwnWire);
        let (first, others) = segments.split_first()?;
        let opening_messages = first.tail.end;
        let opening = cut(opening_messages.checked_sub(1)?)?;
        let mut changed = changed(read, &elements);
        changed.sort_unstable();
        let mut changed = changed.into_iter().peekable();
        while changed.next_if(|at| *at < opening.end).is_some() {}
        let mut turns = Vec::with_capacity(others.len());
        let (mut start, mut message, mut last_result) = (opening.end, opening_messages, 0);
        for segment in others {
            let results = segment.results.iter().map(|((unit, _), _)| *unit);
            last_result = results.fold(last_result, usize::max);
            let end = segment.tail.end;
            let is_closed = !segment.tail.is_empty() && last_result < end;
            let Some(cut) = end.checked_sub(1).filter(|_| is_closed).and_then(cut) else {
                continue;
            };
            let mut is_plain = true;
            while changed.next_if(|at| *at < cut.end).is_some() {
                is_plain = false;
            }
            turns.push(Turn { end: cut, start, messages: message..end, is_plain });
            (start, message) = (cut.end, end);
        }
        let last_message = elements.last()?.start;
        Some(Self { opening, opening_messages, all: turns, last_message })
    }

    /// Returns `true` if a message follows behind an offset.
    pub(super) const fn begins_behind(&self, at: usize) -> bool {
        self.last_message > at
    }
}

/// Returns offsets in everything that has to be read again in the next request.
fn changed(read: &ReadRequest<'_>, elements: &[Range<usize>]) -> Vec<usize> {
    let ReadRequest { transcript, findings, plan, lowered, .. } = *read;
    let messages = plan.survey.sightings.iter().map(|sighting| sighting.message);
    let holders = messages.filter_map(|message| {
        let message = transcript.messages.get(message)?;
        Some(transcript.doc.value(message.node?).span().start)
    });
    // What is added behind a message belongs to it.
    let replaced = lowered.replaced.iter().flat_map(|replaced| {
        let span = &replaced.span;
        let last = span.end.saturating_sub(1);
        if span.is_empty() { [last; 2] } else { [span.start, last] }
    });
    let mut changed: Vec<usize> = holders.chain(replaced).collect();
    let found = findings.iter().map(|finding| &finding.at);
    let decided = lowered.decisions.iter().filter_map(|decision| decision.at.as_ref());
    let mut positions = found.chain(decided).peekable();
    if positions.peek().is_some() {
        let list = list_pointer(transcript);
        let elements = positions.filter_map(|at| elements.get(element(&list, at)?));
        changed.extend(elements.map(|element| element.start));
    }
    changed
}

/// Returns the position of the list of messages.
pub(super) fn list_pointer(transcript: &Transcript<'_>) -> String {
    transcript.list.map(|list| transcript.doc.pointer(list)).unwrap_or_default()
}

/// Returns the number of the element of the list that a position is in.
pub(super) fn element(list: &str, at: &Position) -> Option<usize> {
    let inside = at.pointer.strip_prefix(list)?.strip_prefix('/')?;
    inside.split('/').next()?.parse().ok()
}

/// Returns the offset of the next element of a list, given the bytes behind an element.
pub(super) fn next_message(behind: &[u8]) -> Option<usize> {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
    let comma = behind.iter().position(|byte| !is_space(byte)).filter(|&at| behind[at] == b',')?;
    let start = comma + 1 + behind[comma + 1..].iter().position(|byte| !is_space(byte))?;
    (behind[start] == b'{').then_some(start)
}
