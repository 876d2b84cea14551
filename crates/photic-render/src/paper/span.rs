//! Pieces of styled text with their source offsets.

use std::ops::Range;

use crate::text::canvas::TextStyle;
use crate::text::cells;

/// The source offset of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SourceOffset {
    /// It is not in the source.
    Nowhere,
    /// The whole piece comes from this offset.
    Point(usize),
    /// It is in the source byte for byte, from this offset.
    Verbatim(usize),
}

impl SourceOffset {
    /// The source offset of a byte of the piece.
    pub(super) fn of(self, into: usize) -> Option<usize> {
        match self {
            Self::Nowhere => None,
            Self::Point(at) => Some(at),
            Self::Verbatim(at) => Some(at + into),
        }
    }

    /// The offset of a later part of the piece.
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
    pub(super) letters: TextStyle,
    pub(super) at: SourceOffset,
}

impl Span {
    /// Text that is not from the source.
    pub(super) fn new(text: impl Into<String>, letters: TextStyle) -> Self {
        Self { text: text.into(), letters, at: SourceOffset::Nowhere }
    }

    /// A part of it.
    pub(super) fn part(&self, bytes: Range<usize>) -> Self {
        let at = self.at.later(bytes.start);
        Self { text: self.text[bytes].to_owned(), letters: self.letters, at }
    }
}

/// Adds text of the source. Invisible characters and changes of direction are spelled out.
pub(super) fn push(spans: &mut Vec<Span>, text: &str, letters: TextStyle, at: SourceOffset) {
    let mut rest = 0;
    let mut add = |bytes: Range<usize>, shown: Option<String>| {
        if bytes.is_empty() {
            return;
        }
        let start = bytes.start;
        let (text, at) = match shown {
            Some(shown) => (shown, at.of(start).map_or(SourceOffset::Nowhere, SourceOffset::Point)),
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

/// Returns `true` if a text reads from right to left, decided by its first letter.
pub(super) fn reads_right_to_left(spans: &[Span]) -> bool {
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
        push(&mut spans, "ab\u{202e}c\td", TextStyle::default(), SourceOffset::Verbatim(10));
        let found: Vec<(&str, SourceOffset)> =
            spans.iter().map(|span| (span.text.as_str(), span.at)).collect();
        assert_eq!(
            found,
            [
                ("ab", SourceOffset::Verbatim(10)),
                ("<U+202E>", SourceOffset::Point(12)),
                ("c", SourceOffset::Verbatim(15)),
                ("    ", SourceOffset::Point(16)),
                ("d", SourceOffset::Verbatim(17)),
            ]
        );
    }
}
