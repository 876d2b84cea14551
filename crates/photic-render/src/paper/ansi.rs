//! Colors and weights of terminal escape sequences; other sequences are ignored.

use super::page_style::PageStyle;
use super::span::{self, SourceOffset, Span};
use crate::text::canvas::TextStyle;

/// The spans of a line, and the style with which the next line starts.
pub(super) fn spans(
    line: &str,
    plain: TextStyle,
    mut now: TextStyle,
    style: &PageStyle,
) -> (Vec<Span>, TextStyle) {
    let mut spans = Vec::new();
    // A line that was overwritten shows its last text.
    let line = line.trim_end_matches('\r');
    let line = line.rsplit('\r').next().unwrap_or(line);
    let mut rest = line;
    while let Some(at) = rest.find('\u{1b}') {
        span::push(&mut spans, &rest[..at], now, SourceOffset::Nowhere);
        let (codes, after) = sequence(&rest[at + 1..]);
        if let Some(codes) = codes {
            now = changed(codes, plain, now, style);
        }
        rest = after;
    }
    span::push(&mut spans, rest, now, SourceOffset::Nowhere);
    (spans, now)
}

/// The codes of a sequence that sets colors, and the text after the sequence.
fn sequence(rest: &str) -> (Option<&str>, &str) {
    if let Some(after) = rest.strip_prefix('[') {
        let end = after.find(|c: char| ('@'..='~').contains(&c)).unwrap_or(after.len());
        let (codes, after) = after.split_at(end);
        let is_color = after.starts_with('m');
        let skipped = after.chars().next().map_or(0, char::len_utf8);
        return (is_color.then_some(codes), &after[skipped..]);
    }
    if let Some(after) = rest.strip_prefix(']') {
        // A title or a link, up to the bell or another escape.
        let end = after.find(['\u{7}', '\u{1b}']).unwrap_or(after.len());
        let after = &after[end..];
        let after = after.strip_prefix("\u{1b}\\").or(after.strip_prefix('\u{7}')).unwrap_or(after);
        return (None, after);
    }
    let skipped = rest.chars().next().map_or(0, char::len_utf8);
    (None, &rest[skipped..])
}

/// Applies codes to a style.
fn changed(codes: &str, plain: TextStyle, mut now: TextStyle, style: &PageStyle) -> TextStyle {
    let mut codes = codes.split([';', ':']).map(|code| code.parse::<u32>().unwrap_or(0));
    while let Some(code) = codes.next() {
        match code {
            0 => now = plain,
            1 => now.bold = true,
            3 => now.italic = true,
            4 => now.pen.underline = true,
            22 => now.bold = plain.bold,
            23 => now.italic = plain.italic,
            24 => now.pen.underline = plain.pen.underline,
            31..=36 => now.pen.color = style.hues[code as usize - 31],
            91..=96 => now.pen.color = style.hues[code as usize - 91],
            30 | 37 | 39 | 90 | 97 => now.pen.color = plain.pen.color,
            // A color by number or components; the first sixteen are those above.
            38 | 48 => {
                let skipped = if codes.next() == Some(5) { 1 } else { 3 };
                let number = codes.by_ref().take(skipped).last();
                let hue = number.filter(|_| code == 38 && skipped == 1).and_then(|number| {
                    style.hues.get((number % 8).checked_sub(1)? as usize).filter(|_| number < 16)
                });
                now.pen.color = hue.copied().unwrap_or(now.pen.color);
            }
            _ => {}
        }
    }
    now
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Theme;

    #[test]
    fn colors_are_shown_and_sequences_are_not() {
        let style = PageStyle::of(Theme::Light);
        let plain = style.body();
        let line =
            "10%\r100% \u{1b}[0;31mred\u{1b}[1m bold\u{1b}[0m \u{1b}[2Kplain\u{1b}]0;title\u{7}!";
        let (spans, after) = spans(line, plain, plain, &style);
        let shown: Vec<(&str, bool, bool)> = spans
            .iter()
            .map(|span| {
                (span.text.as_str(), span.letters.pen.color == style.hues[0], span.letters.bold)
            })
            .collect();
        assert_eq!(
            shown,
            [
                ("100% ", false, false),
                ("red", true, false),
                (" bold", true, true),
                (" ", false, false),
                ("plain", false, false),
                ("!", false, false),
            ]
        );
        assert_eq!(after, plain);
    }
}
