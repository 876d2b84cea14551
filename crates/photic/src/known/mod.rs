//! The beginning of a conversation, kept from one request to the next.
//!
//! A long session repeats itself: each request holds all messages of the one before. A
//! [`KnownPrefix`] holds the turns at the beginning of a request that was read whole. A later
//! request that begins with the same bytes is then read without those turns that need nothing. Its
//! settings, its opening, its turns with media and its new messages are read again.
//!
//! That gives what reading the whole request gives, because turns meet where nothing depends on the
//! other side:
//!
//! - No call before a cut waits for a result, and no result behind it answers a call before it.
//!   Such a result would be reported as an orphan.
//! - The opening stays, so that the first messages are the same.
//! - The message before a cut is not the assistant's, and the first one behind it is, as in the
//!   request without the turns in between. So no new neighbors meet.
//! - A turn is left out only if it went out as it came, holds no media, and nothing was found in it.
//! - Ids of calls that have to be unique are compared with those that were left out.
//! - JSON values, bytes and tokens count as a whole.
//!
//! In every other case the request is read whole, as if nothing were known.

mod local;
mod shortened;
mod surveyed;
mod turns;

pub use shortened::{LeftOut, LeftOutTurns, ShortenedBody};
pub use surveyed::SurveyedMessages;

use std::collections::BTreeMap;
use std::ops::Range;

use crate::finding::Finding;
use crate::json::most_values;
use crate::lower::Lowered;
use crate::plan::{Plan, Policy};
use crate::transcript::{Message, Transcript};
use shortened::Gap;
use turns::{Cut, Turn, Turns, next_message};

/// Minimum number of bytes for which turns are left out.
const WORTH_CUTTING: usize = 2048;
/// Maximum number of bytes that are read again for each byte that is left out. They are copied, and
/// reading words takes about ten times as long.
const MAX_READ_AGAIN: usize = 8;

/// A request that was read, planned and lowered.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers create it")]
pub struct ReadRequest<'r> {
    /// The request.
    pub transcript: &'r Transcript<'r>,
    /// The problems that were found in it.
    pub findings: &'r [Finding],
    /// The policy that it was planned with.
    pub policy: &'r Policy,
    /// Its plan.
    pub plan: &'r Plan<'r>,
    /// The request as it is sent.
    pub lowered: &'r Lowered<'r>,
}

/// The beginning of a conversation. It is valid only for requests of the same wire, profile and
/// policy.
///
/// ```
/// use photic::{KnownPrefix, Policy, Profile, ReadRequest, Wire};
///
/// let question = r#"{"role":"user","content":"And then?"}"#;
/// let answer = format!(r#"{{"role":"assistant","content":"{}"}}"#, "More words. ".repeat(300));
/// let first = format!(r#"{{"messages":[{question},{answer},{question}]}}"#);
/// let second = format!(r#"{{"messages":[{question},{answer},{question},{answer},{question}]}}"#);
///
/// let (profile, policy) = (Profile::generic(Wire::OpenAiChat), Policy::default());
/// let (transcript, findings) = photic::lift(Wire::OpenAiChat, first.as_bytes());
/// let plan = photic::plan(photic::survey(&transcript), &profile, &policy);
/// let lowered = photic::lower(&transcript, &plan);
/// let read = ReadRequest {
///     transcript: &transcript, findings: &findings, policy: &policy, plan: &plan,
///     lowered: &lowered,
/// };
/// let mut prefix = KnownPrefix::of(&read).unwrap();
///
/// let shortened = prefix.shorten(second.as_bytes()).unwrap();
/// assert!(shortened.body.len() < second.len());
/// let (transcript, findings) = photic::lift(Wire::OpenAiChat, &shortened.body);
/// let plan = photic::plan(photic::survey(&transcript), &profile, &policy);
/// let lowered = photic::lower(&transcript, &plan);
/// let read = ReadRequest {
///     transcript: &transcript, findings: &findings, policy: &policy, plan: &plan,
///     lowered: &lowered,
/// };
/// assert!(prefix.extend(second.as_bytes(), &shortened, &read));
/// let (whole, _) = shortened.put_back(&read, second.as_bytes());
/// assert!(whole.body.is(second.as_bytes()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownPrefix {
    /// The bytes of the opening, and of the turns that are left out.
    bytes: Vec<u8>,
    /// The end of the opening: of the messages before the first turn of the assistant.
    opening: Cut,
    turns: Vec<KnownTurn>,
    /// The turns that are left out, as runs of neighbors: a session of words has one.
    runs: Vec<Range<usize>>,
    /// The ids of the calls in turns that are left out, if they have to be unique: the number of
    /// the turn, by the hash of the id.
    ids: BTreeMap<u64, usize>,
}

/// A turn of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct KnownTurn {
    end: Cut,
    /// The end of its bytes in those that are kept. A turn that is read again has none there.
    kept: usize,
}

impl KnownPrefix {
    /// Returns the beginning of a request that was read whole. Returns `None` if it is of no use for
    /// a later request.
    pub fn of(read: &ReadRequest<'_>) -> Option<Self> {
        let body = read.transcript.body();
        if !local::is_local(read, body, 0) {
            return None;
        }
        let Turns { opening, all: turns, .. } = Turns::of(read)?;
        let left_out = turns.iter().filter(|turn| turn.is_plain).map(Turn::bytes).sum();
        if !is_worth_cutting(left_out, body.len()) {
            return None;
        }
        let bytes = body.get(..opening.end)?.to_vec();
        let (runs, ids) = (Vec::new(), BTreeMap::new());
        let mut prefix = Self { bytes, opening, turns: Vec::new(), runs, ids };
        prefix.add(read.transcript, body, &turns, &Gap::default());
        Some(prefix)
    }

    /// Finds the turns of a request that need not be read. Returns `None` if there are not enough
    /// of them. Nothing is copied.
    pub fn left_out_of(&self, body: &[u8]) -> Option<LeftOut> {
        if !body.starts_with(self.opening()) {
            return None;
        }
        let mut gaps: Vec<Gap> = Vec::new();
        for run in &self.runs {
            let same = self.same_turns(run, body);
            // Something has to follow. If not, the last turn is read again.
            let follows =
                |end: &usize| body.get(self.cut(*end).end..).and_then(next_message).is_some();
            if let Some(end) = (run.start + 1..=same).rev().find(follows) {
                gaps.push(Gap::between(gaps.last(), self.cut(run.start), self.cut(end)));
            }
            if same < run.end {
                break;
            }
        }
        let left_out = LeftOut { gaps };
        is_worth_cutting(left_out.bytes(), body.len()).then_some(left_out)
    }

    /// Returns a request without the turns that need not be read. Returns `None` if there are not
    /// enough of them.
    pub fn shorten(&self, body: &[u8]) -> Option<ShortenedBody> {
        self.left_out_of(body).map(|left_out| left_out.cut_out_of(body))
    }

    /// Adds the new turns of a request. `read` is the shortened request.
    ///
    /// Returns `false` if it is not certain that the shortened request gives what the whole one
    /// gives. The request has to be read whole then, and the prefix is as before.
    pub fn extend(
        &mut self,
        body: &[u8],
        shortened: &ShortenedBody,
        read: &ReadRequest<'_>,
    ) -> bool {
        let ReadRequest { transcript, .. } = *read;
        let left_out = &shortened.left_out;
        let last = left_out.last();
        // The prefix may have been extended by another request since the body was shortened.
        let is_same = std::ptr::eq(transcript.body(), shortened.body.as_slice())
            && self.left_out_of(body).as_ref() == Some(left_out);
        if !is_same || !local::is_local(read, body, last.bytes) {
            return false;
        }
        let Some(short) = Turns::of(read) else { return false };
        // Every turn that was left out lay between two turns that are there.
        let is_between = |gap: &Gap| {
            let before = short.all.partition_point(|turn| turn.end.end < gap.at);
            let is_end = short.all.get(before).is_some_and(|turn| turn.end.end == gap.at);
            (gap.at == short.opening.end || is_end) && short.begins_behind(gap.at)
        };
        if short.opening != self.opening || !left_out.gaps.iter().all(is_between) {
            return false;
        }
        // Nothing is replaced that turns were left out of, because they would be lost.
        if read.lowered.replaced.iter().any(|replaced| left_out.divides(&replaced.span)) {
            return false;
        }
        if transcript.doc.len() + last.values > most_values(body.len()) {
            return false;
        }
        let known = self.turns.partition_point(|turn| turn.end.end <= last.span.end);
        if self.repeats_id(transcript, short.opening_messages, known) {
            return false;
        }
        if known < self.turns.len() {
            self.turns.truncate(known);
            self.ids.retain(|_, turn| *turn < known);
            self.runs.retain_mut(|run| {
                run.end = run.end.min(known);
                run.start < run.end
            });
        }
        self.bytes.truncate(self.turns.last().map_or(self.opening.end, |turn| turn.kept));
        let new = short.all.partition_point(|turn| turn.end.end <= last.at);
        self.add(transcript, body, &short.all[new..], last);
        true
    }

    /// Returns the number of turns behind those that are left out of a request. The request goes on
    /// without these turns: it is another branch of the conversation.
    pub fn abandoned_turns(&self, shortened: &ShortenedBody) -> usize {
        let end = shortened.left_out.last().span.end;
        self.turns.len() - self.turns.partition_point(|turn| turn.end.end <= end)
    }

    /// Returns `true` if a request that begins with this prefix also begins with the other one.
    pub fn begins_with(&self, other: &Self) -> bool {
        self.bytes.starts_with(&other.bytes) && self.turns.starts_with(&other.turns)
    }

    /// Returns the number of bytes that it holds.
    pub fn bytes(&self) -> usize {
        self.bytes.capacity()
            + self.turns.capacity() * size_of::<KnownTurn>()
            + self.runs.capacity() * size_of::<Range<usize>>()
            + self.ids.len() * 2 * size_of::<(u64, usize)>()
    }

    /// Returns the end of the last turn that it knows, as an offset in a request.
    pub fn end(&self) -> usize {
        self.cut(self.turns.len()).end
    }

    /// Returns the bytes up to the end of the opening. Requests of one conversation have them in
    /// common.
    pub fn opening(&self) -> &[u8] {
        self.bytes.get(..self.opening.end).unwrap_or_default()
    }

    /// Returns the place before a turn.
    fn cut(&self, turn: usize) -> Cut {
        turn.checked_sub(1).map_or(self.opening, |before| self.turns[before].end)
    }

    /// Returns the end of the bytes that are kept before a turn.
    fn kept(&self, turn: usize) -> usize {
        turn.checked_sub(1).map_or(self.opening.end, |before| self.turns[before].kept)
    }

    /// Returns the end of those turns of a run whose bytes are the same in a request.
    fn same_turns(&self, run: &Range<usize>, body: &[u8]) -> usize {
        let start = self.cut(run.start).end;
        let kept = &self.bytes[self.kept(run.start)..self.kept(run.end)];
        let there = body.get(start..).unwrap_or_default();
        if there.starts_with(kept) {
            return run.end;
        }
        let same = start + common_length(kept, there);
        run.start + self.turns[run.clone()].partition_point(|turn| turn.end.end <= same)
    }

    /// Adds turns of a request that was read without the turns up to a gap.
    fn add(&mut self, transcript: &Transcript<'_>, body: &[u8], turns: &[Turn], last: &Gap) {
        let mut start = self.turns.last().map_or(self.opening.end, |turn| turn.end.end);
        let words: usize = turns.iter().filter(|turn| turn.is_plain).map(Turn::bytes).sum();
        if self.bytes.capacity() < self.bytes.len() + words {
            // An eighth of room for more, not twice the memory.
            self.bytes.reserve_exact(words + (self.bytes.len() + words) / 8);
        }
        for turn in turns {
            let end = last.behind(turn.end);
            if turn.is_plain {
                self.bytes.extend_from_slice(body.get(start..end.end).unwrap_or_default());
                self.add_ids(transcript, turn);
                let number = self.turns.len();
                match self.runs.last_mut().filter(|run| run.end == number) {
                    Some(run) => run.end += 1,
                    None => self.runs.push(number..number + 1),
                }
            }
            self.turns.push(KnownTurn { end, kept: self.bytes.len() });
            start = end.end;
        }
    }

    /// Adds the ids of the calls in the next turn.
    fn add_ids(&mut self, transcript: &Transcript<'_>, turn: &Turn) {
        if transcript.wire.rules().unique_call_ids {
            let number = self.turns.len();
            for call in transcript.messages[turn.messages.clone()].iter().flat_map(Message::calls) {
                self.ids.entry(hash(&call.id.decode())).or_insert(number);
            }
        }
    }

    /// Returns `true` if a call of a shortened request has the id of a call that was left out.
    fn repeats_id(&self, transcript: &Transcript<'_>, opening: usize, known: usize) -> bool {
        let is_unique = transcript.wire.rules().unique_call_ids;
        let read = transcript.messages.get(opening..).unwrap_or_default();
        let mut calls = read.iter().flat_map(Message::calls).filter(|_| is_unique);
        calls.any(|call| self.ids.get(&hash(&call.id.decode())).is_some_and(|turn| *turn < known))
    }
}

/// Returns `true` if it costs less to cut so many bytes out of a body than to read them.
const fn is_worth_cutting(bytes: usize, body: usize) -> bool {
    bytes >= WORTH_CUTTING && body - bytes <= bytes * MAX_READ_AGAIN
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
