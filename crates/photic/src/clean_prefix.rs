//! The beginning of a conversation that is sent as it came, kept from one request to the next.
//!
//! A long session of words repeats itself: each request holds all messages of the one before. A
//! [`CleanPrefix`] holds the beginning of a request that was read whole, holds no media, and went
//! out unchanged. A later request that begins with the same bytes is then read without the messages
//! in between: only its settings, its opening and its new messages are. If those need nothing
//! either, the request as a whole needs nothing, and goes out as it came.
//!
//! That conclusion holds because the two parts meet between two turns of the assistant, where
//! nothing depends on the other side:
//!
//! - No call before the cut waits for a result, and no result behind it answers a call before it.
//!   Such a result would be reported as an orphan.
//! - The opening stays, so that the first messages are the same.
//! - The message before the cut is not the assistant's, and the first one behind it is, as in the
//!   request without the messages in between. So no new neighbors meet.
//! - Ids of calls that have to be unique are compared with those before the cut.
//! - The number of JSON values counts as a whole.
//!
//! In every other case the request is read whole, as if nothing were known.

use std::collections::BTreeMap;

use crate::finding::Finding;
use crate::json::most_values;
use crate::lower::Lowered;
use crate::plan::Plan;
use crate::structure::{self, Reader, Segment};
use crate::transcript::{Home, Message, Transcript};

/// Minimum number of bytes between the opening and the cut for which a request is shortened.
const WORTH_CUTTING: usize = 2048;

/// The beginning of a conversation that is sent as it came. It is valid only for requests of the
/// same wire, profile and policy.
///
/// ```
/// use photic::{CleanPrefix, Policy, Profile, Wire};
///
/// let question = r#"{"role":"user","content":"And then?"}"#;
/// let answer = format!(r#"{{"role":"assistant","content":"{}"}}"#, "More words. ".repeat(300));
/// let first = format!(r#"{{"messages":[{question},{answer},{question}]}}"#);
/// let second = format!(r#"{{"messages":[{question},{answer},{question},{answer},{question}]}}"#);
///
/// let profile = Profile::generic(Wire::OpenAiChat);
/// let (transcript, findings) = photic::lift(Wire::OpenAiChat, first.as_bytes());
/// let plan = photic::plan(photic::survey(&transcript), &profile, &Policy::default());
/// let lowered = photic::lower(&transcript, &plan);
/// let mut prefix = CleanPrefix::of(&transcript, &findings, &plan, &lowered).unwrap();
///
/// let shortened = prefix.shorten(second.as_bytes()).unwrap();
/// assert!(shortened.body.len() < second.len());
/// let (transcript, findings) = photic::lift(Wire::OpenAiChat, &shortened.body);
/// let plan = photic::plan(photic::survey(&transcript), &profile, &Policy::default());
/// let lowered = photic::lower(&transcript, &plan);
/// assert!(prefix.extend(second.as_bytes(), &shortened, &transcript, &findings, &plan, &lowered));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanPrefix {
    /// The bytes of the request up to the last cut.
    bytes: Vec<u8>,
    /// The places where a request may be cut, the end of the opening first.
    cuts: Vec<Cut>,
    /// The number of messages before the first turn of the assistant.
    opening: usize,
    /// The ids of all calls, if they have to be unique: the cut behind each, by the hash of the id.
    ids: BTreeMap<u64, usize>,
}

/// The end of a message that comes before a turn of the assistant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    /// The offset in the body.
    end: usize,
    /// The number of JSON values before it.
    values: usize,
}

/// A request without the messages that are known to need nothing.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ShortenedBody {
    /// The request without them.
    pub body: Vec<u8>,
    /// The end of the messages that were left out.
    end: usize,
    /// The offset of the first message behind them in the whole request.
    rest: usize,
}

/// The messages of a request that are known to need nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownMessages {
    /// The offset of the first of them, at the end of the opening.
    start: usize,
    /// The end of the last one.
    end: usize,
    /// The offset of the first message behind them.
    rest: usize,
}

impl KnownMessages {
    /// Returns the offset of the first message behind them: the more of two, the less is left to
    /// read.
    pub const fn rest(self) -> usize {
        self.rest
    }

    /// Returns a request without these messages. `body` is the request that they were found in.
    pub fn cut_out_of(self, body: &[u8]) -> ShortenedBody {
        let Self { start, end, rest } = self;
        let before = body.get(..start).unwrap_or_default();
        let behind = body.get(rest..).unwrap_or_default();
        ShortenedBody { body: [before, b",", behind].concat(), end, rest }
    }
}

impl CleanPrefix {
    /// Returns the beginning of a request that was sent as it came. Returns `None` if a part of the
    /// request needed anything, if it has media, or if its wire does not allow the conclusion.
    pub fn of(
        transcript: &Transcript<'_>,
        findings: &[Finding],
        plan: &Plan<'_>,
        lowered: &Lowered<'_>,
    ) -> Option<Self> {
        if !is_clean(transcript, findings, plan, lowered) {
            return None;
        }
        let segments = structure::segments(transcript, Reader::OwnWire);
        let cuts: Vec<Cut> = cuts(transcript, &segments).map(|(_, cut)| cut).collect();
        let (opening, last) = (segments.first()?.tail.end, cuts.last()?.end);
        // The opening has to end with a message of the list.
        if cuts.first()?.end != end_of(transcript, opening.checked_sub(1)?)?.end {
            return None;
        }
        // Of a shorter one, no request would ever be shortened.
        if last + 16 < cuts.first()?.end + WORTH_CUTTING {
            return None;
        }
        let bytes = transcript.body().get(..last)?.to_vec();
        let mut prefix = Self { bytes, cuts, opening, ids: BTreeMap::new() };
        prefix.add_ids(transcript, 0, &|end| end);
        Some(prefix)
    }

    /// Finds the messages of a request that are known. Returns `None` if it does not begin with
    /// enough of them. Nothing is copied.
    pub fn known_in(&self, body: &[u8]) -> Option<KnownMessages> {
        let common = common_length(&self.bytes, body);
        let start = self.cuts.first()?.end;
        let upto = self.cuts.partition_point(|cut| cut.end <= common);
        let (end, rest) = self.cuts[1..upto.max(1)].iter().rev().find_map(|cut| {
            let rest = cut.end + next_message(body.get(cut.end..)?)?;
            Some((cut.end, rest))
        })?;
        (rest >= start + WORTH_CUTTING).then_some(KnownMessages { start, end, rest })
    }

    /// Returns a request without the messages that are known, or `None` if it does not begin with
    /// enough of them.
    pub fn shorten(&self, body: &[u8]) -> Option<ShortenedBody> {
        self.known_in(body).map(|known| known.cut_out_of(body))
    }

    /// Adds the new messages of a request, if they need nothing. Then the request as a whole needs
    /// nothing. `transcript`, `findings`, `plan` and `lowered` are those of the shortened request.
    ///
    /// Returns `false` if that is not certain. The request has to be read whole then, and the prefix
    /// is as before.
    pub fn extend(
        &mut self,
        body: &[u8],
        shortened: &ShortenedBody,
        transcript: &Transcript<'_>,
        findings: &[Finding],
        plan: &Plan<'_>,
        lowered: &Lowered<'_>,
    ) -> bool {
        let ShortenedBody { body: short, end, rest } = shortened;
        let known = self.cuts.partition_point(|cut| cut.end < *end);
        let (Some(opening), Some(cut)) = (self.cuts.first(), self.cuts.get(known)) else {
            return false;
        };
        let (opening, cut) = (*opening, *cut);
        // The prefix may have been extended by another request since the body was shortened.
        let is_same = cut.end == *end
            && short.len() + rest == opening.end + 1 + body.len()
            && std::ptr::eq(transcript.body(), short.as_slice())
            && body.get(..cut.end) == self.bytes.get(..cut.end);
        if !is_same || !is_clean(transcript, findings, plan, lowered) {
            return false;
        }
        let segments = structure::segments(transcript, Reader::OwnWire);
        // The first new message opens a turn of the assistant right behind the opening.
        let begins = segments.get(1).and_then(|segment| {
            let first = transcript.messages.get(segment.head.start)?;
            let start = transcript.doc.value(first.node?).span().start;
            (segment.head.start == self.opening && start == opening.end + 1).then_some(())
        });
        let left_out = cut.values - opening.values;
        if begins.is_none() || transcript.doc.len() + left_out > most_values(body.len()) {
            return false;
        }
        if transcript.wire.rules().unique_call_ids && self.repeats_id(transcript, known) {
            return false;
        }
        // From here on offsets in the shortened body become those of the whole one.
        let whole = |end: usize| end + rest - (opening.end + 1);
        let new: Vec<Cut> = cuts(transcript, &segments)
            .filter(|(segment, _)| *segment > 0)
            .map(|(_, cut)| Cut { end: whole(cut.end), values: cut.values + left_out })
            .collect();
        self.cuts.truncate(known + 1);
        self.cuts.extend(new);
        self.ids.retain(|_, behind| *behind <= known);
        self.bytes.truncate(cut.end);
        let last = self.cuts.last().map_or(cut.end, |last| last.end);
        let new = body.get(cut.end..last).unwrap_or_default();
        if self.bytes.capacity() < last {
            // An eighth of room for more, not twice the memory.
            self.bytes.reserve_exact(new.len() + last / 8);
        }
        self.bytes.extend_from_slice(new);
        self.add_ids(transcript, self.opening, &whole);
        true
    }

    /// Returns the number of turns behind the messages that were left out of a request. The request
    /// goes on without these turns: it is another branch of the conversation.
    pub fn abandoned_turns(&self, shortened: &ShortenedBody) -> usize {
        self.cuts.len() - self.cuts.partition_point(|cut| cut.end <= shortened.end)
    }

    /// Returns `true` if a request that begins with this prefix also begins with the other one.
    pub fn begins_with(&self, other: &Self) -> bool {
        self.bytes.starts_with(&other.bytes)
    }

    /// Returns the number of bytes that it holds.
    pub fn bytes(&self) -> usize {
        self.bytes.capacity()
            + self.cuts.capacity() * size_of::<Cut>()
            + self.ids.len() * 2 * size_of::<(u64, usize)>()
    }

    /// Returns the bytes up to the end of the opening. Requests of one conversation have them in
    /// common.
    pub fn opening(&self) -> &[u8] {
        self.cuts.first().and_then(|cut| self.bytes.get(..cut.end)).unwrap_or_default()
    }

    /// Returns `true` if a new call has the id of a call before a cut.
    fn repeats_id(&self, transcript: &Transcript<'_>, known: usize) -> bool {
        let new = transcript.messages.get(self.opening..).unwrap_or_default();
        let mut calls = new.iter().flat_map(Message::calls);
        calls.any(|call| self.ids.get(&hash(&call.id.decode())).is_some_and(|cut| *cut <= known))
    }

    /// Adds the ids of calls from a message on. `whole` returns the offset in the whole body.
    fn add_ids(
        &mut self,
        transcript: &Transcript<'_>,
        from: usize,
        whole: &dyn Fn(usize) -> usize,
    ) {
        if !transcript.wire.rules().unique_call_ids {
            return;
        }
        for index in from..transcript.messages.len() {
            let Some(end) = end_of(transcript, index).map(|cut| whole(cut.end)) else { continue };
            let behind = self.cuts.partition_point(|cut| cut.end < end);
            if behind == self.cuts.len() {
                break;
            }
            for call in transcript.messages[index].calls() {
                self.ids.entry(hash(&call.id.decode())).or_insert(behind);
            }
        }
    }
}

/// Returns `true` if a request has no media and goes out as it came, on a wire whose bodies state
/// the ids of calls.
fn is_clean(
    transcript: &Transcript<'_>,
    findings: &[Finding],
    plan: &Plan<'_>,
    lowered: &Lowered<'_>,
) -> bool {
    transcript.is_readable()
        && transcript.own_wire() == Some(plan.profile.wire)
        // Wires that name the tool of a result give some calls an id by counting them.
        && !transcript.wire.rules().names_results
        && !transcript.settings.continues_elsewhere
        && transcript.media.is_empty()
        && findings.is_empty()
        // What the provider changes by itself changes nothing here, unless it keeps a part.
        && plan.survey.notes.iter().all(|note| !note.effect.is_unplanned())
        && plan.marks.is_none()
        && lowered.decisions.is_empty()
        && lowered.body.is(transcript.body())
}

/// Returns the places where a conversation may be cut, each with the index of its segment: behind
/// the messages that follow a turn of the assistant, where no call waits for a result.
fn cuts<'t>(
    transcript: &'t Transcript<'_>,
    segments: &'t [Segment],
) -> impl Iterator<Item = (usize, Cut)> + 't {
    let mut last_result = 0;
    segments.iter().enumerate().filter_map(move |(index, segment)| {
        let results = segment.results.iter().map(|((unit, _), _)| *unit);
        last_result = results.fold(last_result, usize::max);
        let is_closed = !segment.tail.is_empty() && last_result < segment.tail.end;
        is_closed.then(|| Some((index, end_of(transcript, segment.tail.end - 1)?)))?
    })
}

/// Returns the end of a message, if it is one of the list.
fn end_of(transcript: &Transcript<'_>, index: usize) -> Option<Cut> {
    let message = transcript.messages.get(index).filter(|message| message.home == Home::List)?;
    let value = transcript.doc.value(message.node?);
    Some(Cut { end: value.span().end, values: value.next_id() as usize })
}

/// Returns the offset of the next element of a list, given the bytes behind an element.
fn next_message(behind: &[u8]) -> Option<usize> {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
    let comma = behind.iter().position(|byte| !is_space(byte)).filter(|&at| behind[at] == b',')?;
    let start = comma + 1 + behind[comma + 1..].iter().position(|byte| !is_space(byte))?;
    (behind[start] == b'{').then_some(start)
}

/// Returns the number of bytes that two texts have in common at their beginning.
fn common_length(one: &[u8], other: &[u8]) -> usize {
    const BLOCK: usize = 4096;
    let least = one.len().min(other.len());
    let (one, other) = (&one[..least], &other[..least]);
    let same = one.chunks(BLOCK).zip(other.chunks(BLOCK)).take_while(|(one, other)| one == other);
    let from = (same.count() * BLOCK).min(least);
    let rest = one[from..].iter().zip(&other[from..]).take_while(|(one, other)| one == other);
    from + rest.count()
}

/// Returns a hash of an id. Two ids of one hash count as one, which only means that a request is
/// read whole.
fn hash(id: &str) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&blake3::hash(id.as_bytes()).as_bytes()[..8]);
    u64::from_le_bytes(first)
}
