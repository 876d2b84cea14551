//! The messages of a turn as they were sent: a hash of each, without cache marks.
//!
//! Two turns are compared by them without making their bodies again. Of each turn only the hashes that
//! differ from an earlier turn of the session are stored, and only what is new is hashed: a message
//! that is sent as it came has the hash of the message that came.

use std::borrow::Cow;
use std::collections::BTreeMap;

use memchr::memmem;
use photic::{Lowered, SplitBody, Transcript, Wire};

use super::Store;
use super::keys::short;
use crate::blobs::Blobs;
use crate::error::Error;
use crate::record::{Chain, NewSegment, Record, SentMessages, SessionId};

/// The hashes of a body that is sent, as far as they do not follow from the body that came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentHashes {
    /// Hash of everything beside the messages.
    frame: Chain,
    /// Hash of each message that was changed. `None` for those that are sent as they came.
    messages: Vec<Option<Chain>>,
    /// Set if the messages are those of the body that came in. If not, every message has its hash.
    is_own_wire: bool,
}

/// The hashes of a turn that was written, on which later ones can be based.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WrittenHashes {
    /// The number of the turn.
    pub(super) turn: u64,
    /// Number of turns that have to be read to know them, besides this one.
    pub(super) depth: u8,
    pub(super) sent: SentMessages,
}

/// Maximum number of turns that have to be read to know the hashes of another.
const MAX_DEPTH: u8 = 31;
/// Maximum number of messages that are stored without a base.
const FEW: usize = 8;
/// Length of the head of stored hashes: depth, base, number of messages of the base, and frame.
const HEAD: usize = 1 + 8 + 4 + 16;

impl SentHashes {
    /// Computes the hashes of a body that is sent in this wire.
    pub fn of(transcript: &Transcript<'_>, lowered: &Lowered<'_>, wire: Wire) -> Self {
        if let Some(parts) = lowered.sent_parts(transcript, wire) {
            let messages = parts.messages.into_iter();
            let messages = messages.map(|range| Some(hash(&lowered.range(range?))));
            let frame = frame(&lowered.range(parts.before), &lowered.range(parts.after));
            return Self { frame, messages: messages.collect(), is_own_wire: true };
        }
        let body = lowered.body.to_vec();
        let (sent, _) = photic::lift(wire, &body);
        let SplitBody { before, messages, after, .. } = photic::split_media(&sent);
        let messages = messages.iter().map(|message| Some(hash(message.raw)));
        let frame = frame(before.raw, after.raw);
        Self { frame, messages: messages.collect(), is_own_wire: false }
    }

    /// Returns the number of bytes that they take.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.messages.capacity() * size_of::<Option<Chain>>()
    }

    /// Returns the hash of a message, given the number of its element in the body that came in, and
    /// that element.
    pub(super) fn message(&self, number: usize, came: &NewSegment<'_>) -> Option<Chain> {
        let changed = self.messages.get(number).filter(|_| self.is_own_wire)?;
        Some(changed.unwrap_or_else(|| unchanged(came)))
    }

    /// Returns the hashes of a whole turn: those of the messages as they came, if there are any.
    pub(super) fn complete(&self, messages: Option<Vec<Chain>>) -> Option<SentMessages> {
        let messages =
            if self.is_own_wire { messages } else { self.messages.iter().copied().collect() };
        Some(SentMessages { frame: self.frame, messages: messages? })
    }
}

/// Returns the hash of a message that is sent as it came. Its media are identified by their blobs.
fn unchanged(came: &NewSegment<'_>) -> Chain {
    let mut hasher = blake3::Hasher::new_derive_key("photic-store 2026 a message as it came");
    let mut end = 0;
    let mut rest = Vec::new();
    for (range, piece) in &came.cuts {
        rest.extend_from_slice(&came.raw[end..range.start]);
        rest.extend_from_slice(piece.blob.as_bytes());
        end = range.end;
    }
    let text = if end == 0 {
        Cow::Borrowed(came.raw)
    } else {
        rest.extend_from_slice(&came.raw[end..]);
        Cow::Owned(rest)
    };
    hasher.update(&without_marks(between(&text)));
    short(&hasher)
}

/// Returns the hash of a message as it was sent.
fn hash(message: &[u8]) -> Chain {
    let mut hasher = blake3::Hasher::new_derive_key("photic-store 2026 a message as it was sent");
    hasher.update(&without_marks(between(message)));
    short(&hasher)
}

fn frame(before: &[u8], after: &[u8]) -> Chain {
    let mut hasher = blake3::Hasher::new_derive_key("photic-store 2026 a body beside its messages");
    for part in [before, after] {
        let part = without_marks(part);
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(&part);
    }
    short(&hasher)
}

/// Removes the comma and the white space around a message. The first one has no comma.
fn between(message: &[u8]) -> &[u8] {
    let message = message.trim_ascii();
    message.strip_prefix(b",").unwrap_or(message).trim_ascii_start()
}

/// Names of the members that mark the end of a cached prefix.
const MARKS: [&[u8]; 2] = [b"\"cache_control\"", b"\"cachePoint\""];
/// Maximum length of the value of a mark. They are far shorter.
const MAX_MARK: usize = 1 << 10;
/// The beginning of each of them.
const BEGINNING: &[u8] = b"\"cache";

/// Removes cache marks from JSON: the members `cache_control` of objects, and blocks of a
/// `cachePoint` alone.
fn without_marks(json: &[u8]) -> Cow<'_, [u8]> {
    let mut kept: Option<Vec<u8>> = None;
    let (mut end, mut at) = (0, 0);
    while let Some(found) = memmem::find(&json[at..], BEGINNING).map(|here| at + here) {
        at = found + 1;
        let Some(mark) = MARKS.iter().find(|mark| json[found..].starts_with(mark)) else {
            continue;
        };
        // In a text, its quotation mark follows a backslash.
        if found > 0 && json[found - 1] == b'\\' {
            continue;
        }
        let Some(value_end) = object_end(json, found + mark.len()) else { continue };
        let (start, stop) = member(json, found, value_end);
        // The comma between two marks goes once.
        let start = start.max(end);
        kept.get_or_insert_default().extend_from_slice(&json[end..start]);
        (end, at) = (stop, stop);
    }
    match kept {
        None => Cow::Borrowed(json),
        Some(mut kept) => {
            kept.extend_from_slice(&json[end..]);
            Cow::Owned(kept)
        }
    }
}

/// Returns the end of the object that is the value of a member. Values of marks hold no braces in
/// strings. Returns `None` if it is no object, or a long one.
fn object_end(json: &[u8], after_name: usize) -> Option<usize> {
    let rest = json.get(after_name..)?;
    let colon = rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
    let value = rest[colon..].strip_prefix(b":")?;
    let blank = value.iter().position(|byte| !byte.is_ascii_whitespace())?;
    let start = after_name + colon + 1 + blank;
    let mut depth = 0_usize;
    for (at, byte) in json.iter().enumerate().skip(start).take(MAX_MARK) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.checked_sub(1)?,
            _ if depth == 0 => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// Returns the range to remove with a member: the comma before it, or the one after it. If it is the
/// only member of an object in a list, the object goes with it.
fn member(json: &[u8], start: usize, end: usize) -> (usize, usize) {
    let (mut start, mut end) = (start, end);
    let before = |at: usize| json[..at].trim_ascii_end();
    let after = |at: usize| json.len() - json[at..].trim_ascii_start().len();
    if before(start).ends_with(b"{") && json[after(end)..].starts_with(b"}") {
        let (outer, behind) = (before(start).len() - 1, after(end) + 1);
        let is_block = before(outer).ends_with(b",") || before(outer).ends_with(b"[");
        if is_block {
            (start, end) = (outer, behind);
        }
    }
    if before(start).ends_with(b",") {
        (before(start).len() - 1, end)
    } else if json[after(end)..].starts_with(b",") {
        (start, after(end) + 1)
    } else {
        (start, end)
    }
}

impl SentMessages {
    /// Serializes the hashes: those that differ from the turn that they are based on, and the number
    /// of turns to read for them.
    pub(super) fn encode(&self, base: Option<&WrittenHashes>) -> (Vec<u8>, u8) {
        let base = base.filter(|base| base.depth < MAX_DEPTH);
        let same = base.map_or(0, |base| same(&base.sent.messages, &self.messages));
        let (depth, turn) = base.map_or((0, 0), |base| (base.depth + 1, base.turn));
        let mut bytes = Vec::with_capacity(HEAD + (self.messages.len() - same) * 16);
        bytes.push(depth);
        bytes.extend_from_slice(&turn.to_le_bytes());
        bytes.extend_from_slice(&(same as u32).to_le_bytes());
        bytes.extend_from_slice(&self.frame);
        bytes.extend(self.messages[same..].iter().flatten());
        (bytes, depth)
    }
}

/// Returns the number of hashes at the beginning that are the same.
fn same(one: &[Chain], other: &[Chain]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

/// The stored hashes of a turn.
#[derive(Clone, Debug)]
pub(super) struct StoredHashes {
    depth: u8,
    /// The number of the turn that they are based on.
    pub(super) base: u64,
    /// The number of its messages that are the same.
    pub(super) same: usize,
    pub(super) frame: Chain,
    rest: Vec<Chain>,
}

impl StoredHashes {
    /// Parses the result of [`SentMessages::encode`].
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Error> {
        let damaged = || Error::Damaged("hashes of sent messages");
        let (head, rest) = bytes.split_at_checked(HEAD).ok_or_else(damaged)?;
        let number = |range: std::ops::Range<usize>| {
            head[range].iter().rev().fold(0_u64, |number, &byte| number << 8 | u64::from(byte))
        };
        let (rest, end) = rest.as_chunks::<16>();
        let frame: Chain = head[13..].try_into().map_err(|_| damaged())?;
        if !end.is_empty() {
            return Err(damaged());
        }
        let (base, same) = (number(1..9), number(9..13) as usize);
        Ok(Self { depth: head[0], base, same, frame, rest: rest.to_vec() })
    }

    /// Returns the number of messages.
    pub(super) fn messages(&self) -> usize {
        self.same + self.rest.len()
    }
}

/// Returns the hashes of a turn from its stored ones and those of the turns before. Returns `None` if
/// one of them is missing.
pub(super) fn resolve(turn: u64, stored: &BTreeMap<u64, StoredHashes>) -> Option<SentMessages> {
    let last = stored.get(&turn)?;
    let mut parts: Vec<&[Chain]> = vec![&last.rest];
    let (mut base, mut wanted) = (last.base, last.same);
    while wanted > 0 {
        let earlier = stored.get(&base)?;
        // A turn is based on an earlier one.
        if earlier.messages() < wanted || (earlier.same > 0 && earlier.base >= base) {
            return None;
        }
        parts.push(&earlier.rest[..wanted.saturating_sub(earlier.same)]);
        wanted = wanted.min(earlier.same);
        base = earlier.base;
    }
    let messages = parts.iter().rev().flat_map(|part| part.iter().copied()).collect();
    Some(SentMessages { frame: last.frame, messages })
}

impl<R: Record, B: Blobs> Store<R, B> {
    /// Returns the hashes of the last turn of a session, to base new ones on. `messages` is the number
    /// of messages of the new turn: with only a few it needs no base.
    pub(super) async fn last_sent(
        &self,
        id: &SessionId,
        messages: usize,
    ) -> Result<Option<WrittenHashes>, Error> {
        if messages <= FEW {
            return Ok(None);
        }
        let stored = self.stored_hashes(id, u64::MAX >> 1, usize::from(MAX_DEPTH) + 1).await?;
        let Some((&turn, last)) = stored.last_key_value() else { return Ok(None) };
        let depth = last.depth;
        // Without the turn that it is based on, which is far back in a session with branches, a new
        // one is stored whole.
        Ok(resolve(turn, &stored).map(|sent| WrittenHashes { turn, depth, sent }))
    }

    /// Reads the stored hashes of up to `limit` turns up to number `until`.
    pub(super) async fn stored_hashes(
        &self,
        id: &SessionId,
        until: u64,
        limit: usize,
    ) -> Result<BTreeMap<u64, StoredHashes>, Error> {
        let stored = self.record.sent(id, until, limit).await?;
        let read = |(turn, bytes): (u64, Vec<u8>)| Ok((turn, StoredHashes::read(&bytes)?));
        stored.into_iter().map(read).collect()
    }

    /// Returns the hashes of the messages of a turn as they were sent. `None` if they were not
    /// stored.
    pub async fn sent_messages(
        &self,
        id: &SessionId,
        number: u64,
    ) -> Result<Option<SentMessages>, Error> {
        let session = self.session(id).await?.id;
        let mut limit = usize::from(MAX_DEPTH) + 1;
        loop {
            let stored = self.stored_hashes(&session, number, limit).await?;
            let sent = resolve(number, &stored);
            // Turns of branches may be based on ones that are further back.
            if sent.is_some() || stored.len() < limit || !stored.contains_key(&number) {
                return Ok(sent);
            }
            limit *= 8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(json: &str) -> String {
        String::from_utf8(without_marks(json.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn marks_are_removed_and_nothing_else() {
        let mark = r#""cache_control":{"type":"ephemeral","ttl":"1h"}"#;
        let spaced = r#""cache_control" : { "type" : "ephemeral" }"#;
        for (json, without) in [
            (format!(r#"{{"text":"a",{mark}}}"#), r#"{"text":"a"}"#),
            (format!(r#"{{{mark},"text":"a"}}"#), r#"{"text":"a"}"#),
            (
                format!(r#"{{"type":"text", {spaced} , "text":"a"}}"#),
                r#"{"type":"text" , "text":"a"}"#,
            ),
            (format!("{{{mark},{mark}}}"), "{}"),
            (format!(r#"[{{"a":1,{mark}}},{{"b":2,{mark}}}]"#), r#"[{"a":1},{"b":2}]"#),
            (r#"[{"text":"a"},{"cachePoint":{"type":"default"}}]"#.to_owned(), r#"[{"text":"a"}]"#),
            (r#"[{"cachePoint":{"type":"default"}},{"text":"a"}]"#.to_owned(), r#"[{"text":"a"}]"#),
        ] {
            assert_eq!(text(&json), without, "{json}");
        }
        for same in [
            r#"{"text":"\"cache_control\":{\"type\":\"ephemeral\"}"}"#,
            r#"{"name":"cache_control"}"#,
            r#"{"cache_control":null,"a":["cachePoint"]}"#,
            r#"{"cache_control":{"#,
            r#"{"cache_control""#,
            "",
        ] {
            assert_eq!(text(same), same);
        }
    }

    #[test]
    fn a_message_hashes_the_same_at_any_place_and_with_any_marks() {
        let one = hash(br#"{"role":"user","content":[{"text":"a"}]}"#);
        let marked = br#", {"role":"user","content":[{"text":"a","cache_control":{"type":"x"}}]}"#;
        assert_eq!(one, hash(marked));
        assert_ne!(one, hash(br#"{"role":"user","content":[{"text":"b"}]}"#));
    }

    fn turn(messages: &[u8]) -> SentMessages {
        let messages = messages.iter().map(|&one| [one; 16]).collect();
        SentMessages { frame: [9; 16], messages }
    }

    #[test]
    fn only_what_differs_is_stored_and_every_turn_reads_back() {
        let mut stored = BTreeMap::new();
        let mut base: Option<WrittenHashes> = None;
        let mut turns = Vec::new();
        for number in 1..=100_u64 {
            // Now and then something in the middle changes.
            let mut messages: Vec<u8> = (0..number as u8).collect();
            if number % 10 == 0 {
                messages[number as usize / 2] = 200;
            }
            let sent = turn(&messages);
            let (bytes, depth) = sent.encode(base.as_ref());
            if number % 10 > 1 && depth > 0 {
                assert_eq!(bytes.len(), HEAD + 16, "turn {number}");
            }
            stored.insert(number, StoredHashes::read(&bytes).unwrap());
            base = Some(WrittenHashes { turn: number, depth, sent: sent.clone() });
            turns.push(sent);
        }
        for (number, sent) in (1..).zip(&turns) {
            assert_eq!(resolve(number, &stored).as_ref(), Some(sent), "turn {number}");
        }
        // The last ones are enough to know the last one.
        let last = stored.split_off(&(100 - u64::from(MAX_DEPTH)));
        assert_eq!(resolve(100, &last).as_ref(), turns.last());
        assert_eq!(resolve(101, &last), None);
    }

    #[test]
    fn damaged_hashes_are_an_error_or_missing() {
        assert!(StoredHashes::read(&[0; HEAD - 1]).is_err());
        assert!(StoredHashes::read(&[0; HEAD + 15]).is_err());
        let (bytes, _) = turn(&[1, 2]).encode(None);
        let mut own = StoredHashes::read(&bytes).unwrap();
        // Based on itself.
        (own.base, own.same) = (1, 1);
        assert_eq!(resolve(1, &BTreeMap::from([(1, own)])), None);
    }
}
