//! Breaks long lines into rows.
//!
//! Only counts cells, so the pages of a file with a million lines are known at once.

use std::ops::Range;

use super::cells;

/// A row: a line, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowPiece {
    /// The line, from 0.
    pub(crate) line: usize,
    /// Its bytes of the line.
    pub(crate) bytes: Range<usize>,
    /// The column of its first character, from 1.
    pub(crate) column: u32,
}

impl RowPiece {
    /// The text before it: the line number, or a mark of continuation.
    pub(crate) fn label(&self, digits: usize) -> String {
        if self.column == 1 {
            format!("{:>digits$}", self.line + 1)
        } else {
            format!("{:>digits$}", '↳')
        }
    }
}

/// The rows of all lines, for a grid of this width.
pub(crate) fn of(lines: &[&str], columns: usize) -> Vec<RowPiece> {
    let mut rows = Vec::with_capacity(lines.len());
    for (line, text) in lines.iter().enumerate() {
        // Only tabs and spelled-out characters take more cells than bytes.
        let plain = text.len() <= columns && text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        if plain {
            rows.push(RowPiece { line, bytes: 0..text.len(), column: 1 });
        } else {
            wrap(line, text, columns, &mut rows);
        }
    }
    rows
}

/// Breaks one line.
fn wrap(line: usize, text: &str, columns: usize, rows: &mut Vec<RowPiece>) {
    let (mut start, mut start_column) = (0, 1);
    let mut taken = 0;
    // The last position after a space, with its column.
    let mut gap: Option<(usize, u32)> = None;
    let mut column = 1;
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let width = cells::width(character, taken);
        if taken + width > columns && width > 0 && at > start {
            let (end, next) = gap.take().unwrap_or((at, column));
            rows.push(RowPiece { line, bytes: start..end, column: start_column });
            (start, start_column) = (end, next);
            taken = text[start..at].chars().fold(0, |taken, c| taken + cells::width(c, taken));
        }
        taken += cells::width(character, taken);
        column += 1;
        let after = characters.peek().map_or(text.len(), |(at, _)| *at);
        // A break that leaves a short row does not help.
        if character == ' ' && taken * 5 > columns * 3 {
            gap = Some((after, column));
        }
    }
    rows.push(RowPiece { line, bytes: start..text.len(), column: start_column });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str, columns: usize) -> Vec<(&str, u32)> {
        of(&[text], columns).into_iter().map(|row| (&text[row.bytes], row.column)).collect()
    }

    #[test]
    fn long_lines_break_at_words_or_anywhere() {
        assert_eq!(pieces("", 10), [("", 1)]);
        assert_eq!(pieces("0123456789", 10), [("0123456789", 1)]);
        assert_eq!(pieces("0123456789a", 10), [("0123456789", 1), ("a", 11)]);
        assert_eq!(pieces("several words here", 10), [("several ", 1), ("words here", 9)]);
        assert_eq!(pieces("a verylongword", 10), [("a verylong", 1), ("word", 11)]);
    }

    #[test]
    fn wide_and_combining_characters_count_as_they_show() {
        assert_eq!(pieces("漢漢漢漢漢漢", 10), [("漢漢漢漢漢", 1), ("漢", 6)]);
        assert_eq!(pieces("aaaaaaaaae\u{301}b", 10), [("aaaaaaaaae\u{301}", 1), ("b", 12)]);
        assert_eq!(pieces("\t\t\tb", 10), [("\t\t", 1), ("\tb", 3)]);
    }

    #[test]
    fn every_byte_is_in_one_row() {
        let text = "fn main() {\t\u{202e}let \u{6f22}\u{5b57} = \"e\u{301}\"; } ".repeat(30);
        for columns in 1..40 {
            let rows = of(&[&text], columns);
            let joined: String = rows.iter().map(|row| &text[row.bytes.clone()]).collect();
            assert_eq!(joined, text, "{columns}");
            for row in &rows {
                let before = text[..row.bytes.start].chars().count() as u32;
                assert_eq!(row.column, before + 1);
            }
        }
    }
}
