//! Draws JSON: as it is if it has lines, and indented if it is one long line.

use serde::de::IgnoredAny;

use super::source_positions::SourcePositions;
use crate::page::{LeftOut, Missing, Page};
use crate::refusal::Refusal;
use crate::request::Request;
use crate::text::{self, LineNumbers};

/// Longest line that is shown as it is.
const MAX_LINE: usize = 400;
/// Largest source that is indented.
const MAX_BYTES: usize = 8 << 20;
/// Largest depth of indentation.
const MAX_INDENT: usize = 30;
/// Largest number of characters of a list or object in one line.
const MAX_INLINE_CHARS: usize = 60;

/// Draws a page.
pub(super) fn draw(source: &str, request: &Request<'_>) -> Result<Page, Refusal> {
    let long = source.lines().any(|line| line.len() > MAX_LINE);
    let sound = || serde_json::from_str::<IgnoredAny>(source).is_ok();
    if !long || source.len() > MAX_BYTES || !sound() {
        return text::sheet(source, request, Some("json"), LineNumbers::Shown);
    }
    let laid = lay_out(source);
    let mut page = text::sheet(&laid.text, request, Some("json"), LineNumbers::Hidden)?;
    map_back(&mut page, &laid, source);
    let says = "its own line ends and spaces: it is one long line, and is shown with others";
    page.facts.leave_out(LeftOut::new(Missing::Layout, says));
    Ok(page)
}

/// Maps rows of the indented text to lines and columns of the source.
fn map_back(page: &mut Page, laid: &IndentedJson, source: &str) {
    let starts: Vec<usize> = std::iter::once(0)
        .chain(
            laid.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1),
        )
        .collect();
    let mut places = SourcePositions::new(source);
    // The last line with the offsets of its characters: a long line has many rows.
    let mut known: (u32, Vec<usize>) = (0, Vec::new());
    for row in &mut page.facts.rows {
        let Some(start) = starts.get(row.line as usize - 1).copied() else { continue };
        let line = laid.text[start..].lines().next().unwrap_or_default();
        if known.0 != row.line {
            known = (row.line, line.char_indices().map(|(at, _)| start + at).collect());
        }
        let offsets = &known.1;
        let mut first = None;
        for column in &mut row.columns {
            let shown = offsets.get(*column as usize - 1).copied().unwrap_or(start + line.len());
            let Some((line, found)) = places.of(laid.source(shown)) else { continue };
            first = first.or(Some(line));
            *column = found;
        }
        let at = places.of(laid.source(start + line.len() - line.trim_start().len()));
        row.line = first.or(at.map(|(line, _)| line)).unwrap_or(row.line);
    }
}

/// Indented JSON.
struct IndentedJson {
    text: String,
    /// For each token, its offset here and in the source.
    tokens: Vec<(usize, usize)>,
}

impl IndentedJson {
    /// The source offset of a byte; for a space, that of the token after it.
    fn source(&self, at: usize) -> usize {
        let after = self.tokens.partition_point(|(shown, _)| *shown <= at);
        match after.checked_sub(1).and_then(|index| self.tokens.get(index)) {
            Some((shown, source)) => source + (at - shown),
            None => 0,
        }
    }
}

/// Indents a value.
fn lay_out(source: &str) -> IndentedJson {
    let mut laid =
        IndentedJson { text: String::with_capacity(source.len() * 2), tokens: Vec::new() };
    // For each open list or object, `true` if it stays in one line.
    let mut open: Vec<bool> = Vec::new();
    let mut at = 0;
    while let Some(token) = next(source, at) {
        at = token.end;
        let words = &source[token.clone()];
        let inline = open.last().copied().unwrap_or(true);
        match words {
            "}" | "]" => {
                let was_inline = open.pop().unwrap_or(true);
                if !was_inline {
                    line(&mut laid.text, open.len());
                }
                put(&mut laid, words, token.start);
            }
            "{" | "[" => {
                put(&mut laid, words, token.start);
                let short = inline && !open.is_empty() || fits(source, token.start);
                open.push(short);
                if !short {
                    line(&mut laid.text, open.len());
                }
            }
            "," => {
                put(&mut laid, words, token.start);
                if inline { laid.text.push(' ') } else { line(&mut laid.text, open.len()) }
            }
            ":" => {
                put(&mut laid, words, token.start);
                laid.text.push(' ');
            }
            _ => put(&mut laid, words, token.start),
        }
    }
    laid
}

/// Adds a token.
fn put(laid: &mut IndentedJson, words: &str, at: usize) {
    laid.tokens.push((laid.text.len(), at));
    laid.text.push_str(words);
}

/// Adds a line end and an indent.
fn line(text: &mut String, depth: usize) {
    text.push('\n');
    text.extend(std::iter::repeat_n("  ", depth.min(MAX_INDENT)));
}

/// The token at or after an offset.
fn next(source: &str, at: usize) -> Option<std::ops::Range<usize>> {
    let bytes = source.as_bytes();
    let start = at + bytes[at..].iter().position(|byte| !byte.is_ascii_whitespace())?;
    let length = match bytes[start] {
        b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
        b'"' => string(&bytes[start..]),
        _ => bytes[start..]
            .iter()
            .position(|byte| byte.is_ascii_whitespace() || b"{}[],:\"".contains(byte))
            .unwrap_or(bytes.len() - start),
    };
    Some(start..start + length)
}

/// The length of a string.
fn string(bytes: &[u8]) -> usize {
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Returns `true` if a list or object is short and contains no other that is not empty.
fn fits(source: &str, start: usize) -> bool {
    let mut at = start + 1;
    let mut length = 2;
    let mut depth = 0_usize;
    while let Some(token) = next(source, at) {
        let words = &source[token.clone()];
        length += words.chars().count() + usize::from(matches!(words, "," | ":"));
        if length > MAX_INLINE_CHARS {
            return false;
        }
        match words {
            "}" | "]" if depth == 0 => return true,
            "}" | "]" => depth -= 1,
            "{" | "[" if depth > 0 => return false,
            "{" | "[" => depth += 1,
            _ => {}
        }
        at = token.end;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_laid_out_and_lead_back() {
        let source = format!(
            r#"{{"a":[1,2],"b":{{"long":"{}","empty":{{}}}},"é":"\"q\""}}"#,
            "x".repeat(70)
        );
        let laid = lay_out(&source);
        let expected = format!(
            "{{\n  \"a\": [1, 2],\n  \"b\": {{\n    \"long\": \"{}\",\n    \"empty\": {{}}\n  }},\n  \"é\": \"\\\"q\\\"\"\n}}",
            "x".repeat(70)
        );
        assert_eq!(laid.text, expected);
        for word in ["\"a\"", "[1", "\"long\"", "\"é\"", "{}"] {
            let (shown, there) = (laid.text.find(word), source.find(word));
            assert_eq!(shown.map(|shown| laid.source(shown)), there, "{word}");
        }
        let value: serde_json::Value = serde_json::from_str(&source).expect("sound");
        let again: serde_json::Value = serde_json::from_str(&laid.text).expect("still sound");
        assert_eq!(value, again);
    }
}
