//! Paints rows of the grid: every cluster starts at its cell, whatever its font's widths. Columns
//! stay aligned with Han beside Latin, and Arabic between both.

use std::ops::Range;

use vello_cpu::Glyph;

use super::canvas::{Canvas, Face, Pen, TextStyle};
use super::cells::{self, Cells};
use super::colors::{Ink, Rgb};
use super::{CELL, ROW};

/// Font size at which letters are about as wide as a cell; a gap would look like a space.
const LETTER: f32 = 18.0;
/// Position of the baseline in a row.
const BASELINE: f64 = ROW - 6.0;

/// Draws a line number.
pub(crate) fn label(canvas: &mut Canvas, text: &str, color: Rgb, left: f64, top: f64) {
    let ink = Ink { color, bold: false };
    let cells = cells::of(text, 1);
    row(canvas, &cells, &vec![ink; cells.characters.len()], 1, (left, top));
}

/// Draws a row that starts at column `first`. Returns the column that each cell shows.
pub(crate) fn row(
    canvas: &mut Canvas,
    cells: &Cells,
    inks: &[Ink],
    first: u32,
    (left, top): (f64, f64),
) -> Vec<u32> {
    let layout = canvas.shape(&cells.text, &spans(cells, inks, first));
    let mut columns = Vec::new();
    for run in layout.lines().flat_map(|line| line.runs()) {
        for cluster in run.visual_clusters() {
            let range = cluster.text_range();
            let begin = cells.characters.partition_point(|(at, ..)| *at < range.start);
            let end = cells.characters.partition_point(|(at, ..)| *at < range.end);
            let room: usize = cells.characters[begin..end].iter().map(|(_, width, _)| width).sum();
            let mut pen = left + columns.len() as f64 * CELL;
            // Han is narrower than its two cells, and is centered.
            if room == 2 && end - begin == 1 {
                pen += ((2.0 * CELL - f64::from(cluster.advance())) / 2.0).max(0.0).round();
            }
            let mut known = true;
            let glyphs: Vec<Glyph> = cluster
                .glyphs()
                .map(|glyph| {
                    known &= glyph.id != 0;
                    let x = pen as f32 + glyph.x;
                    pen += f64::from(glyph.advance);
                    Glyph { id: glyph.id, x, y: (top + BASELINE) as f32 + glyph.y }
                })
                .collect();
            if !known {
                canvas.miss(&cells.text[range]);
            }
            canvas.write(&run, cluster.style().brush.color, glyphs);
            for (_, width, column) in &cells.characters[begin..end] {
                columns.extend(std::iter::repeat_n(*column, *width));
            }
        }
    }
    columns
}

/// Groups neighboring characters with the same ink.
fn spans(cells: &Cells, inks: &[Ink], first: u32) -> Vec<(Range<usize>, TextStyle)> {
    let of = |column: u32| inks.get((column - first) as usize).copied().unwrap_or_default();
    let spans = cells.characters.chunk_by(|one, next| of(one.2) == of(next.2));
    let mut spans = spans.peekable();
    let mut found = Vec::new();
    while let Some(span) = spans.next() {
        let (Some((start, _, column)), next) = (span.first(), spans.peek()) else { continue };
        let Ink { color, bold } = of(*column);
        let end = next.and_then(|next| next.first()).map_or(cells.text.len(), |(at, ..)| *at);
        let pen = Pen { color, ..Pen::default() };
        let letters = TextStyle { face: Face::Mono, size: LETTER, bold, italic: false, pen };
        found.push((*start..end, letters));
    }
    found
}
