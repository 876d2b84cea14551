//! Pieces of styled text, and where in the source they come from.

use std::ops::Range;

use crate::text::canvas::Letters;
use crate::text::cells;

/// Where in the source a piece comes from: bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// It is not in the source.
    Nowhere,
    /// All of it stands for what is here.
    Point(usize),
    /// It stands there byte for byte.
    Verbatim(usize),
}

impl At {
    /// Where the byte comes from that is so far into the piece.
    pub(super) fn of(self, into: usize) -> Option<usize> {
        match self {
            Self::Nowhere => None,
            Self::Point(at) => Some(at),
            Self::Verbatim(at) => Some(at + into),
        }
    }

    fn later(self, by: usize) -> Self {
        match self {
            Self::Verbatim(at) => Self::Verbatim(at + by),
            other => other,
        }
    }
}

/// A piece of text in one style.
#[derive(Clone, Debug)]
pub(super) struct Span {
    pub(super) text: String,
    pub(super) letters: Letters,
    pub(super) at: At,
}

impl Span {
    /// Text of our own.
    pub(super) fn new(text: impl Into<String>, letters: Letters) -> Self {
        Self { text: text.into(), letters, at: At::Nowhere }
    }

    /// A part of it.
    pub(super) fn part(&self, bytes: Range<usize>) -> Self {
        let at = self.at.later(bytes.start);
        Self { text: self.text[bytes].to_owned(), letters: self.letters, at }
    }
}

/// Adds text of the source: nothing in it stays invisible or turns the direction of writing.
pub(super) fn push(spans: &mut Vec<Span>, text: &str, letters: Letters, at: At) {
    let mut rest = 0;
    let mut add = |bytes: Range<usize>, shown: Option<String>| {
        if bytes.is_empty() {
            return;
        }
        let start = bytes.start;
        let (text, at) = match shown {
            Some(shown) => (shown, at.of(start).map_or(At::Nowhere, At::Point)),
            None => (text[bytes].to_owned(), at.later(start)),
        };
        spans.push(Span { text, letters, at });
    };
    for (begin, character) in text.char_indices() {
        let shown = match character {
            '\n' => continue,
            '\t' => "    ".to_owned(),
            '\r' => String::new(),
            _ if cells::is_spelled(character) => cells::number(character),
            _ => continue,
        };
        let end = begin + character.len_utf8();
        add(rest..begin, None);
        add(begin..end, Some(shown));
        rest = end;
    }
    add(rest..text.len(), None);
}

/// Whether a text is read from right to left: its first letter decides.
pub(super) fn reads_leftward(spans: &[Span]) -> bool {
    let mut characters = spans.iter().flat_map(|span| span.text.chars());
    characters.find(|c| c.is_alphabetic()).is_some_and(
        |c| matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_spelled_and_keeps_its_place() {
        let mut spans = Vec::new();
        push(&mut spans, "ab\u{202e}c\td", Letters::default(), At::Verbatim(10));
        let found: Vec<(&str, At)> =
            spans.iter().map(|span| (span.text.as_str(), span.at)).collect();
        assert_eq!(
            found,
            [
                ("ab", At::Verbatim(10)),
                ("<U+202E>", At::Point(12)),
                ("c", At::Verbatim(15)),
                ("    ", At::Point(16)),
                ("d", At::Verbatim(17)),
            ]
        );
    }
}
