//! What is shown for each character, and how many cells of the grid it takes.
//!
//! Nothing in a text may be invisible or move what stands around it: control characters, and those
//! that turn the direction of writing or have no width, are spelled out.

use unicode_width::UnicodeWidthChar;

/// Tabs lead to the next multiple of so many cells.
const TAB: usize = 4;

/// A piece of text on the grid.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Cells {
    /// What is drawn.
    pub(super) text: String,
    /// For each character of it: its first byte, its cells, its column in the source, from 1.
    pub(super) characters: Vec<(usize, usize, u32)>,
}

/// A piece of a line that begins at this column, from 1.
pub(super) fn of(piece: &str, column: u32) -> Cells {
    let mut cells = Cells::default();
    let mut taken = 0;
    for (column, character) in (column..).zip(piece.chars()) {
        let shown = Shown::of(character, taken);
        taken += shown.cells();
        shown.each(|shown, width| {
            cells.characters.push((cells.text.len(), width, column));
            cells.text.push(shown);
        });
    }
    cells
}

/// How many cells a character takes after so many.
pub(super) fn width(character: char, taken: usize) -> usize {
    Shown::of(character, taken).cells()
}

/// How a character is shown.
enum Shown {
    /// As it is, with its width.
    Plain(char, usize),
    /// As so many spaces.
    Spaces(usize),
    /// By its number.
    Number(char),
}

impl Shown {
    fn of(character: char, taken: usize) -> Self {
        match character {
            ' '..='~' => Self::Plain(character, 1),
            '\t' => Self::Spaces(TAB - taken % TAB),
            '\0'..='\u{1f}' => Self::Plain(picture(character as u32), 1),
            '\u{7f}' => Self::Plain('\u{2421}', 1),
            // Joiners shape emoji and Indic scripts; they stay.
            '\u{200c}' | '\u{200d}' => Self::Plain(character, 0),
            '\u{80}'..='\u{9f}'
            | '\u{ad}'
            | '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
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

/// The symbol for a control character.
fn picture(code: u32) -> char {
    char::from_u32(0x2400 + code).unwrap_or('\u{fffd}')
}

/// `<U+202E>`: ASCII, so a byte is a cell.
fn number(character: char) -> String {
    format!("<U+{:04X}>", character as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_invisible_and_tabs_stop() {
        let cells = of("a\tb\u{1b}[\u{202e}\u{6f22}e\u{301}", 5);
        assert_eq!(cells.text, "a   b\u{241b}[<U+202E>\u{6f22}e\u{301}");
        let widths: usize = cells.characters.iter().map(|(_, width, _)| width).sum();
        assert_eq!(widths, 1 + 3 + 1 + 1 + 1 + 8 + 2 + 1);
        let columns: Vec<u32> = cells.characters.iter().map(|(.., column)| *column).collect();
        assert_eq!(columns, [5, 6, 6, 6, 7, 8, 9, 10, 10, 10, 10, 10, 10, 10, 10, 11, 12, 13]);
    }
}
