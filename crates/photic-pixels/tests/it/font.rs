//! A bitmap font for tests: text of a known height, and nothing to install.

use photic_pixels::{Layout, Raster};

/// Rows of an `x`; ascenders and descenders have two more each.
pub(crate) const X_HEIGHT: u32 = 5;
const ABOVE: u32 = 2;
const CELL: (u32, u32) = (6, 12);

/// Two rows of ascender, five of x-height, two of descender; five bits a row.
const GLYPHS: [[u8; 9]; 26] = [
    [0, 0, 14, 1, 15, 17, 15, 0, 0],
    [16, 16, 30, 17, 17, 17, 30, 0, 0],
    [0, 0, 14, 17, 16, 17, 14, 0, 0],
    [1, 1, 15, 17, 17, 17, 15, 0, 0],
    [0, 0, 14, 17, 31, 16, 14, 0, 0],
    [6, 8, 30, 8, 8, 8, 8, 0, 0],
    [0, 0, 15, 17, 17, 17, 15, 1, 14],
    [16, 16, 30, 17, 17, 17, 17, 0, 0],
    [4, 0, 12, 4, 4, 4, 14, 0, 0],
    [2, 0, 6, 2, 2, 2, 2, 18, 12],
    [16, 16, 18, 20, 24, 20, 18, 0, 0],
    [12, 4, 4, 4, 4, 4, 14, 0, 0],
    [0, 0, 26, 21, 21, 21, 21, 0, 0],
    [0, 0, 30, 17, 17, 17, 17, 0, 0],
    [0, 0, 14, 17, 17, 17, 14, 0, 0],
    [0, 0, 30, 17, 17, 17, 30, 16, 16],
    [0, 0, 15, 17, 17, 17, 15, 1, 1],
    [0, 0, 22, 25, 16, 16, 16, 0, 0],
    [0, 0, 15, 16, 14, 1, 30, 0, 0],
    [8, 8, 28, 8, 8, 9, 6, 0, 0],
    [0, 0, 17, 17, 17, 17, 15, 0, 0],
    [0, 0, 17, 17, 17, 10, 4, 0, 0],
    [0, 0, 17, 17, 21, 21, 10, 0, 0],
    [0, 0, 17, 10, 4, 10, 17, 0, 0],
    [0, 0, 17, 17, 17, 17, 15, 1, 14],
    [0, 0, 31, 2, 4, 8, 31, 0, 0],
];

const WORDS: [&str; 16] = [
    "change", "default", "project", "branch", "review", "settings", "export", "history", "profile",
    "message", "query", "deploy", "hidden", "pixel", "keyboard", "zoom",
];

/// A sheet of paper.
pub(crate) fn paper(size: (u32, u32), level: u8) -> Raster {
    let data = vec![level; size.0 as usize * size.1 as usize];
    Raster { width: size.0, height: size.1, layout: Layout::Gray, data }
}

/// Writes one line; `at` is the top left of its first cell, `times` the size of a font pixel.
pub(crate) fn write(sheet: &mut Raster, text: &str, at: (u32, u32), times: u32, ink: u8) {
    for (column, letter) in (0..).zip(text.bytes()) {
        let Some(glyph) = GLYPHS.get(usize::from(letter.wrapping_sub(b'a'))) else { continue };
        for (row, bits) in (0..).zip(glyph) {
            for bit in (0..5).filter(|bit| bits & (16 >> bit) != 0) {
                let left = at.0 + (column * CELL.0 + bit) * times;
                let top = at.1 + row * times;
                fill(sheet, (left, top), times, ink);
            }
        }
    }
}

fn fill(sheet: &mut Raster, at: (u32, u32), side: u32, ink: u8) {
    for y in at.1..(at.1 + side).min(sheet.height) {
        for x in at.0..(at.0 + side).min(sheet.width) {
            sheet.data[(y * sheet.width + x) as usize] = ink;
        }
    }
}

/// A page of running text, the same for the same seed.
pub(crate) fn page(
    size: (u32, u32),
    times: u32,
    (paper_level, ink): (u8, u8),
    seed: u64,
) -> Raster {
    let mut sheet = paper(size, paper_level);
    let mut state = seed;
    let margin = ABOVE * times + 4;
    let columns = ((size.0 - 2 * margin) / (CELL.0 * times)) as usize;
    let mut y = margin;
    while y + CELL.1 * times < size.1 {
        let mut line = String::new();
        loop {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let word = WORDS[(state >> 40) as usize % WORDS.len()];
            if line.len() + word.len() + 1 > columns {
                break;
            }
            line.push_str(word);
            line.push(' ');
        }
        write(&mut sheet, &line, (margin, y), times, ink);
        y += CELL.1 * times;
    }
    sheet
}
