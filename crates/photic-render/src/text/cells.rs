//! The cells that each character takes on the grid.
//!
//! No character may be invisible or move others: control characters, changes of direction and
//! characters without width are spelled out.

use unicode_width::UnicodeWidthChar;

/// Tabs lead to the next multiple of this many cells.
const TAB: usize = 4;

/// A piece of text on the grid.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Cells {
    /// The text that is drawn.
    pub(crate) text: String,
    /// For each character: its first byte, its cells, its source column from 1.
    pub(crate) characters: Vec<(usize, usize, u32)>,
}

/// Lays out a piece of a line that starts at a column, from 1.
pub(crate) fn of(piece: &str, column: u32) -> Cells {
    let mut cells = Cells::default();
    let mut taken = 0;
    for (column, character) in (column..).zip(piece.chars()) {
        let shown = CellForm::of(character, taken);
        taken += shown.cells();
        shown.each(|shown, width| {
            cells.characters.push((cells.text.len(), width, column));
            cells.text.push(shown);
        });
    }
    cells
}

/// The number of cells of a character after `taken` cells.
pub(crate) fn width(character: char, taken: usize) -> usize {
    CellForm::of(character, taken).cells()
}

/// Returns `true` if a character is spelled out by its number; tabs are not.
pub(crate) fn is_spelled(character: char) -> bool {
    matches!(CellForm::of(character, 0), CellForm::Number(_))
}

/// The form in which a character is shown.
enum CellForm {
    /// As it is, with its width.
    Plain(char, usize),
    /// As spaces.
    Spaces(usize),
    /// By its number.
    Number(char),
}

impl CellForm {
    fn of(character: char, taken: usize) -> Self {
        match character {
            ' '..='~' => Self::Plain(character, 1),
            '\t' => Self::Spaces(TAB - taken % TAB),
            // Joiners shape emoji and Indic scripts, so they stay.
            '\u{200c}' | '\u{200d}' => Self::Plain(character, 0),
            '\0'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{ad}'
            | '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}' => Self::Number(character),
            _ => Self::Plain(character, character.width().unwrap_or(1)),
        }
    }

    fn cells(&self) -> usize {
        match self {
            Self::Plain(_, cells) | Self::Spaces(cells) => *cells,
            Self::Number(character) => number(*character).len(),
        }
    }

    fn each(&self, mut take: impl FnMut(char, usize)) {
        match self {
            Self::Plain(character, cells) => take(*character, *cells),
            Self::Spaces(count) => (0..*count).for_each(|_| take(' ', 1)),
            Self::Number(character) => number(*character).chars().for_each(|c| take(c, 1)),
        }
    }
}

/// The spelled-out form, such as `<U+202E>`: ASCII, so one byte per cell.
pub(crate) fn number(character: char) -> String {
    format!("<U+{:04X}>", character as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_invisible_and_tabs_stop() {
        let cells = of("a\tb\u{1b}[\u{202e}\u{6f22}e\u{301}", 5);
        assert_eq!(cells.text, "a   b<U+001B>[<U+202E>\u{6f22}e\u{301}");
        let widths: usize = cells.characters.iter().map(|(_, width, _)| width).sum();
        assert_eq!(widths, 1 + 3 + 1 + 8 + 1 + 8 + 2 + 1);
        let columns: Vec<u32> = cells.characters.iter().map(|(.., column)| *column).collect();
        let mut expected = vec![5, 6, 6, 6, 7];
        expected.extend([8; 8]);
        expected.push(9);
        expected.extend([10; 8]);
        expected.extend([11, 12, 13]);
        assert_eq!(columns, expected);
    }
}
