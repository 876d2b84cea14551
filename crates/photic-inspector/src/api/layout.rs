//! The layout of a body: the bytes and tokens of each message, and the positions of cache marks.

use std::ops::Range;

use photic::tokens::text_tokens;
use photic::{Transcript, Wire, split_media, survey};
use photic_store::{PlannedTurn, numbered_source};

use crate::diff::tokens;

/// Names of the members that mark the end of a prefix for a cache.
const MARKS: [&[u8]; 3] = [b"\"cache_control\"", b"\"prompt_cache_breakpoint\"", b"\"cachePoint\""];

/// The layout of the body that a model was sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    /// Tokens before each message, and of the whole. Not scaled to what was reported.
    pub(crate) offsets: Vec<u64>,
    /// The message of each medium of the client's transcript that is shown, and the tokens before it.
    pub(crate) media: Vec<Option<(usize, u64)>>,
    /// Token offsets of the cache marks.
    pub(crate) marks: Vec<u64>,
}

impl Layout {
    /// Reads the body of a planned turn.
    pub(crate) fn of(planned: &PlannedTurn) -> Self {
        let (transcript, _) = photic::lift(planned.profile.wire, &planned.model);
        let survey = survey(&transcript);
        let mut layout = Self { media: vec![None; planned.media.len()], ..Self::default() };
        let spans = message_spans(&transcript);
        // Fields before the list, such as a system prompt, count with the settings.
        let fields = fields_of(&transcript, spans.len());
        let mut media = survey.sightings.iter().peekable();
        let (mut words, mut pictures) = (survey.settings, 0);
        for (message, bytes) in survey.words.iter().enumerate() {
            if message == fields {
                layout.offsets.push(0);
            } else if message > fields {
                layout.offsets.push(text_tokens(words as u64) + pictures);
            }
            words += bytes;
            while let Some(sighting) = media.next_if(|one| one.message == message) {
                let source = transcript.media.get(sighting.media.index()).map(|one| &one.source);
                let Some(id) = source.and_then(numbered_source) else { continue };
                let Some(place) = layout.media.get_mut(id.index()) else { continue };
                let before = text_tokens(words as u64) + pictures;
                *place = Some((message.saturating_sub(fields), before));
                pictures += planned.media.get(id.index()).map_or(0, |one| one.tokens);
            }
        }
        layout.offsets.push(text_tokens(words as u64) + pictures);
        for at in mark_positions(&planned.model) {
            let message = spans.iter().position(|span| span.contains(&at));
            let offset = match message {
                Some(message) => layout.end(message),
                None => text_tokens(at as u64),
            };
            layout.marks.push(offset);
        }
        layout.marks.dedup();
        layout
    }

    /// Returns the tokens up to the end of a message.
    fn end(&self, message: usize) -> u64 {
        self.offsets.get(message + 1).or(self.offsets.last()).copied().unwrap_or(0)
    }

    /// Returns the tokens of the whole body.
    pub(crate) fn total(&self) -> u64 {
        self.offsets.last().copied().unwrap_or(0)
    }

    /// Returns the tokens from a message on.
    pub(crate) fn from(&self, message: usize) -> u64 {
        self.total() - self.offsets.get(message).copied().unwrap_or_else(|| self.total())
    }

    /// Returns the number of messages.
    pub(crate) fn messages(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }
}

/// Returns the bytes of each element of the list of messages.
pub(crate) fn message_spans(transcript: &Transcript<'_>) -> Vec<Range<usize>> {
    let split = split_media(transcript);
    let mut at = split.before.raw.len();
    let spans = split.messages.iter().map(|message| {
        let start = at;
        at += message.raw.len();
        start..at
    });
    spans.collect()
}

/// Returns the number of messages that are in fields of the body, before its list of messages.
pub(crate) fn fields_of(transcript: &Transcript<'_>, in_list: usize) -> usize {
    transcript.messages.len().saturating_sub(in_list)
}

/// Returns the bytes of each message of a body.
pub(crate) fn messages_of(wire: Wire, body: &[u8]) -> Vec<Range<usize>> {
    message_spans(&photic::lift(wire, body).0)
}

/// Returns the positions of the cache marks of a body.
pub(crate) fn mark_positions(body: &[u8]) -> Vec<usize> {
    let tokens = tokens(body);
    let is_mark = |at: &usize| {
        MARKS.contains(&&body[tokens[*at].clone()])
            && tokens.get(at + 1).is_some_and(|next| body[next.clone()] == *b":")
    };
    (0..tokens.len()).filter(is_mark).map(|at| tokens[at].start).collect()
}

/// Returns the tokens of a body without its cache marks: the bytes of each.
pub(crate) fn unmarked_tokens(body: &[u8]) -> Vec<Range<usize>> {
    let tokens = tokens(body);
    let text = |at: usize| tokens.get(at).map_or(&b""[..], |token| &body[token.clone()]);
    let mut kept: Vec<Range<usize>> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        if !(MARKS.contains(&text(at)) && text(at + 1) == b":") {
            kept.push(tokens[at].clone());
            at += 1;
            continue;
        }
        // Over the value: a word, or an object with all that is in it.
        let mut end = at + 2;
        let mut depth = 0_usize;
        while end < tokens.len() {
            match text(end) {
                b"{" | b"[" => depth += 1,
                b"}" | b"]" => depth = depth.saturating_sub(1),
                _ => {}
            }
            end += 1;
            if depth == 0 {
                break;
            }
        }
        // And one of the commas beside it.
        if text(end) == b"," {
            end += 1;
        } else if kept.last().is_some_and(|last| body[last.clone()] == *b",") {
            kept.pop();
        }
        at = end;
    }
    kept
}

/// Returns the offset in the later body of the first byte that differs, cache marks aside. `None` if
/// the later body begins with all messages of the earlier one.
pub(crate) fn first_difference(earlier: &[u8], later: &[u8], end: usize) -> Option<usize> {
    let (a, b) = (unmarked_tokens(earlier), unmarked_tokens(later));
    for (index, one) in a.iter().enumerate() {
        // The end of the list of messages, where the later body goes on.
        if one.start >= end {
            return None;
        }
        let Some(other) = b.get(index) else { return Some(later.len()) };
        let (left, right) = (&earlier[one.clone()], &later[other.clone()]);
        if left != right {
            let same = left.iter().zip(right).take_while(|(left, right)| left == right).count();
            return Some(other.start + same);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(body: &str) -> String {
        let tokens = unmarked_tokens(body.as_bytes());
        tokens.into_iter().map(|token| &body[token]).collect()
    }

    #[test]
    fn marks_are_left_out_with_one_comma() {
        assert_eq!(plain(r#"{"a":1,"cache_control":{"type":"ephemeral"}}"#), r#"{"a":1}"#);
        assert_eq!(plain(r#"{"cache_control":{"type":"x","ttl":[1]}, "a":1}"#), r#"{"a":1}"#);
        assert_eq!(plain(r#"{"cache_control":null}"#), "{}");
        assert_eq!(plain(r#"{"text":"cache_control","b":2}"#), r#"{"text":"cache_control","b":2}"#);
        assert_eq!(mark_positions(br#"{"a":"cache_control","cache_control":{}}"#), [21]);
    }

    #[test]
    fn the_first_difference_is_found_behind_marks() {
        let a = r#"{"m":[{"t":"one","cache_control":{}},{"t":"two"}],"x":1}"#;
        let b = r#"{"m":[{"t":"one"},{"t":"twice"},{"t":"new"}],"x":1}"#;
        let at = first_difference(a.as_bytes(), b.as_bytes(), a.find("],").unwrap_or(0));
        assert_eq!(at, b.find("ice"));
        let b = r#"{"m":[{"t":"one"},{"t":"two"},{"t":"new"}],"x":1}"#;
        let at = first_difference(a.as_bytes(), b.as_bytes(), a.find("],").unwrap_or(0));
        assert_eq!(at, None, "only more messages");
    }
}
