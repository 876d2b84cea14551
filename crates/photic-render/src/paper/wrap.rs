//! Breaks paragraphs into lines.

use unicode_width::UnicodeWidthChar;

use super::measure::Measure;
use super::span::Span;

/// Largest number of characters of a line: combining characters have no width.
const MAX_CHARACTERS: usize = 1_000;

/// A position between characters: a span, and a byte of it.
type CharPosition = (usize, usize);

/// The lines of a paragraph. Its own line ends stay; others are added by width.
pub(super) fn lines(spans: &[Span], width: f64, measure: &mut Measure<'_>) -> Vec<Vec<Span>> {
    let mut lines = Vec::new();
    let mut start: CharPosition = (0, 0);
    let (mut taken, mut count) = (0.0, 0);
    // The last position where the line may end, and the width up to it.
    let mut gap: Option<(CharPosition, f64)> = None;
    let mut places = places(spans).peekable();
    while let Some((place, character)) = places.next() {
        let after = (place.0, place.1 + character.len_utf8());
        if character == '\n' {
            lines.push(between(spans, start, place));
            (start, taken, count, gap) = (after, 0.0, 0, None);
            continue;
        }
        let letters = &spans[place.0].letters;
        let wide = measure.character(character, letters);
        let full = taken + wide > width && wide > 0.0 && character != ' ';
        if (full || count >= MAX_CHARACTERS) && place > start {
            let (end, before) = gap.take().unwrap_or((place, taken));
            lines.push(between(spans, start, end));
            (start, taken, count) = (end, taken - before, 0);
        }
        taken += wide;
        count += 1;
        let next = places.peek().map(|(_, character)| *character);
        if next.is_some_and(|next| may_break(character, next)) {
            gap = Some((after, taken));
        }
    }
    let last = between(spans, start, (spans.len(), 0));
    if !last.is_empty() || lines.is_empty() {
        lines.push(last);
    }
    lines
}

/// The width of the text without breaks, and of its widest word.
pub(super) fn widths(spans: &[Span], measure: &mut Measure<'_>) -> (f64, f64) {
    let (mut line, mut word) = (0.0_f64, 0.0_f64);
    let (mut widest_line, mut widest_word) = (0.0_f64, 0.0_f64);
    let mut places = places(spans).peekable();
    while let Some((place, character)) = places.next() {
        if character == '\n' {
            (line, word) = (0.0, 0.0);
            continue;
        }
        let wide = measure.character(character, &spans[place.0].letters);
        line += wide;
        word += wide;
        widest_line = widest_line.max(line);
        if character != ' ' {
            widest_word = widest_word.max(word);
        }
        let next = places.peek().map(|(_, character)| *character);
        if next.is_none_or(|next| may_break(character, next)) {
            word = 0.0;
        }
    }
    (widest_line, widest_word)
}

/// The positions and characters of a text.
fn places(spans: &[Span]) -> impl Iterator<Item = (CharPosition, char)> {
    spans.iter().enumerate().flat_map(|(index, span)| {
        span.text.char_indices().map(move |(at, character)| ((index, at), character))
    })
}

/// The pieces between two positions, without trailing spaces.
fn between(spans: &[Span], start: CharPosition, end: CharPosition) -> Vec<Span> {
    let last = end.0.min(spans.len().saturating_sub(1));
    let mut line: Vec<Span> = Vec::new();
    for (index, span) in spans.iter().enumerate().take(last + 1).skip(start.0) {
        let from = if index == start.0 { start.1 } else { 0 };
        let to = if index == end.0 { end.1 } else { span.text.len() };
        if from < to {
            line.push(span.part(from..to));
        }
    }
    while let Some(span) = line.last_mut() {
        span.text.truncate(span.text.trim_end_matches(' ').len());
        if !span.text.is_empty() {
            break;
        }
        line.pop();
    }
    line
}

/// Returns `true` if a line may end between two characters.
fn may_break(before: char, after: char) -> bool {
    if before.is_ascii() && after.is_ascii() {
        return match before {
            ' ' => after != ' ',
            '-' | '/' | '&' | '?' | '=' => after.is_ascii_alphabetic(),
            _ => false,
        };
    }
    // A character without width belongs to the one before it, a joiner to both sides.
    if after.width() == Some(0) || before == '\u{200d}' {
        return false;
    }
    match before {
        ' ' => after != ' ',
        '-' | '/' | '–' | '—' | '&' | '?' | '=' => after.is_alphabetic(),
        _ => (is_ideograph(before) || is_ideograph(after)) && !clings(before, after),
    }
}

/// Returns `true` for Han and Kana, which are written without spaces.
fn is_ideograph(character: char) -> bool {
    matches!(character, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ff60}' | '\u{20000}'..='\u{3ffff}')
}

/// Returns `true` for punctuation that must not start or end a line.
fn clings(before: char, after: char) -> bool {
    const NEVER_FIRST: &str =
        "、。，．・：；？！」』）】〉》〕ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ,.:;!?)]}%…";
    const NEVER_LAST: &str = "「『（【〈《〔([{";
    NEVER_FIRST.contains(after) || NEVER_LAST.contains(before) || after == ' '
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::span::SourceOffset;
    use crate::text::canvas::{Face, TextStyle};

    /// A style whose characters are exactly ten units wide.
    fn mono() -> TextStyle {
        TextStyle { face: Face::Mono, size: 16.61, ..TextStyle::default() }
    }

    fn broken(text: &str, cells: f64) -> Vec<String> {
        let span = Span { text: text.to_owned(), letters: mono(), at: SourceOffset::Verbatim(0) };
        let lines = lines(&[span], cells * 10.0, &mut Measure::new(&[]));
        lines.iter().map(|line| line.iter().map(|span| span.text.as_str()).collect()).collect()
    }

    #[test]
    fn lines_end_at_words_or_anywhere() {
        assert_eq!(broken("", 10.0), [""]);
        assert_eq!(broken("some words here", 10.5), ["some words", "here"]);
        assert_eq!(broken("averyverylongword", 10.5), ["averyveryl", "ongword"]);
        assert_eq!(broken("one\ntwo", 10.5), ["one", "two"]);
        assert_eq!(broken("well-known thing", 10.5), ["well-known", "thing"]);
        assert_eq!(broken("e\u{301}".repeat(12).as_str(), 10.5).len(), 2);
    }

    #[test]
    fn han_breaks_anywhere_but_before_its_marks() {
        let lines = broken("漢字漢字漢字漢字。", 13.0);
        assert!(lines.len() > 1, "{lines:?}");
        assert!(lines.iter().all(|line| !line.starts_with('。')), "{lines:?}");
    }

    #[test]
    fn a_tower_of_accents_ends() {
        let lines = broken(&format!("a{}", "\u{301}".repeat(10_000)), 10.0);
        assert!(lines.iter().all(|line| line.chars().count() <= MAX_CHARACTERS + 1));
    }

    #[test]
    fn pieces_keep_their_places() {
        let span = |text: &str, at| Span { text: text.to_owned(), letters: mono(), at };
        let spans = [
            span("one two", SourceOffset::Verbatim(5)),
            span(" three", SourceOffset::Verbatim(20)),
        ];
        let lines = lines(&spans, 80.0, &mut Measure::new(&[]));
        let found: Vec<Vec<(&str, SourceOffset)>> = lines
            .iter()
            .map(|line| line.iter().map(|span| (span.text.as_str(), span.at)).collect())
            .collect();
        assert_eq!(
            found,
            [
                vec![("one two", SourceOffset::Verbatim(5))],
                vec![("three", SourceOffset::Verbatim(21))]
            ]
        );
    }
}
