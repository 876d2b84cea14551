//! Tables: the widths of columns, and the layout of cells.

use super::flow::Flow;
use super::measure::Measure;
use super::page_style::{Leading, SMALL};
use super::pages::ROOM;
use super::span::Span;
use super::strip::{Align, Cell, Content, Keep, Role, TableRow};
use super::wrap;
use crate::page::{LeftOut, Missing};

/// Padding at the sides of a cell.
pub(super) const PAD: f64 = 10.0;
/// Padding above and below the lines of a cell.
pub(super) const PAD_ABOVE: f64 = 5.0;
/// Narrowest column, including padding.
const MIN_WIDTH: f64 = 56.0;
/// Largest width of a word for which a column is widened.
const MAX_WORD: f64 = 240.0;
/// Number of rows that are examined for the widths.
const SAMPLE: usize = 400;

/// A table as the source has it.
#[derive(Default)]
pub(super) struct Table {
    pub(super) aligns: Vec<Align>,
    pub(super) head: Vec<Vec<Span>>,
    pub(super) rows: Vec<Vec<Vec<Span>>>,
}

/// Lays out a table.
pub(super) fn flow(table: &Table, flow: &mut Flow<'_>) {
    let columns = table.rows.iter().map(Vec::len).max().unwrap_or(0).max(table.head.len());
    let room = flow.right - flow.left;
    let shown = columns.min((room / MIN_WIDTH) as usize);
    if shown < columns {
        let says = format!("columns {} to {columns} of a table", shown + 1);
        flow.left_out.push(LeftOut::new(Missing::Rest, &says));
    }
    let mut wishes = vec![(0.0, 0.0); shown];
    for row in std::iter::once(&table.head).chain(table.rows.iter().take(SAMPLE)) {
        for (wish, cell) in wishes.iter_mut().zip(row) {
            let (line, word) = wrap::widths(cell, &mut flow.measure);
            *wish = (f64::max(wish.0, line), f64::max(wish.1, word.min(MAX_WORD)));
        }
    }
    let widths = widths(&wishes, room);
    let (aligns, left) = (&table.aligns, flow.left);
    let head = (!table.head.is_empty()).then_some(flow.strips.len());
    if head.is_some() {
        let row = row(&table.head, &widths, aligns, left, Role::Head, flow);
        flow.push(row_height(&row), Keep::WithNext, Content::Row(row));
    }
    for cells in &table.rows {
        let row = row(cells, &widths, aligns, left, Role::Body, flow);
        flow.push(row_height(&row), Keep::Free, Content::Row(row));
        if let Some(strip) = flow.strips.last_mut() {
            strip.head = head;
        }
        if flow.is_full() {
            return;
        }
    }
}

/// The height of a row.
pub(super) fn row_height(row: &TableRow) -> f64 {
    let lines = row.cells.iter().map(|cell| cell.lines.len()).max().unwrap_or(0).max(1);
    lines as f64 * row.leading.height + 2.0 * PAD_ABOVE
}

/// Lays out a row.
fn row(
    cells: &[Vec<Span>],
    widths: &[f64],
    aligns: &[Align],
    left: f64,
    role: Role,
    flow: &mut Flow<'_>,
) -> TableRow {
    let leading = Leading::of(SMALL);
    let most = ((ROOM * 0.8 - 2.0 * PAD_ABOVE) / leading.height) as usize;
    let mut edge = left;
    let mut laid = Vec::new();
    for (column, width) in widths.iter().enumerate() {
        let (from, to) = (edge + PAD, edge + width - PAD);
        edge += width;
        let Some(spans) = cells.get(column) else { continue };
        let mut lines = wrap::lines(spans, to - from, &mut flow.measure);
        if shorten(&mut lines, most, to - from, &mut flow.measure) {
            flow.left_out.push(LeftOut::new(Missing::Rest, "the end of a long cell"));
        }
        let align = aligns.get(column).copied().unwrap_or_default();
        laid.push(Cell { left: from, right: to, align, lines });
    }
    TableRow { cells: laid, left, right: edge, leading, role }
}

/// Cuts lines beyond a limit and ends the last one with `…`. Returns `true` if it did.
pub(super) fn shorten(
    lines: &mut Vec<Vec<Span>>,
    most: usize,
    width: f64,
    measure: &mut Measure<'_>,
) -> bool {
    if lines.len() <= most {
        return false;
    }
    lines.truncate(most);
    let Some(last) = lines.last_mut() else { return true };
    let mut taken: f64 = last.iter().map(|span| measure.text(&span.text, &span.letters)).sum();
    while let Some(span) = last.last_mut() {
        let mark = measure.character('…', &span.letters);
        if taken + mark <= width {
            span.text.push('…');
            break;
        }
        match span.text.pop() {
            Some(character) => taken -= measure.character(character, &span.letters),
            None => {
                last.pop();
            }
        }
    }
    true
}

/// The widths of columns, from the wanted widths of their lines and words.
///
/// Columns that want less than their share get what they want; the others share the rest in
/// proportion. No word is broken while there is room.
pub(super) fn widths(wishes: &[(f64, f64)], room: f64) -> Vec<f64> {
    let white = 2.0 * PAD + 1.0;
    let whole: Vec<f64> = wishes.iter().map(|(line, _)| (line + white).max(MIN_WIDTH)).collect();
    if whole.iter().sum::<f64>() <= room {
        return whole;
    }
    let least: Vec<f64> = wishes
        .iter()
        .zip(&whole)
        .map(|((_, word), whole)| (word + white).clamp(MIN_WIDTH, *whole))
        .collect();
    let (sum_least, sum_whole) = (least.iter().sum::<f64>(), whole.iter().sum::<f64>());
    if sum_least >= room {
        // Not even the words fit: every column gives up the same share above the minimum.
        let count = least.len() as f64;
        let part = (room - MIN_WIDTH * count).max(0.0) / (sum_least - MIN_WIDTH * count).max(1.0);
        return least.iter().map(|width| MIN_WIDTH + (width - MIN_WIDTH) * part).collect();
    }
    // Shares go by square roots, since a long text would starve short ones next to it.
    let wants: Vec<f64> = least.iter().zip(&whole).map(|(l, w)| (w - l).max(0.0)).collect();
    let mut given = vec![0.0; wants.len()];
    let mut left = room - sum_least;
    for _ in 0..8 {
        let open: f64 =
            wants.iter().zip(&given).filter(|(w, g)| *w > *g).map(|(w, _)| w.sqrt()).sum();
        if open <= 0.0 || left < 0.5 || sum_whole <= room {
            break;
        }
        let share = left / open;
        for (want, given) in wants.iter().zip(&mut given).filter(|(w, g)| *w > *g) {
            let more = (share * want.sqrt()).min(want - *given);
            *given += more;
            left -= more;
        }
    }
    least.iter().zip(&given).map(|(least, given)| least + given).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_get_what_they_ask_for_or_share() {
        let white = 2.0 * PAD + 1.0;
        assert_eq!(widths(&[(100.0, 50.0), (200.0, 50.0)], 1000.0), [100.0 + white, 200.0 + white]);
        let shared = widths(&[(60.0, 60.0), (5000.0, 90.0), (300.0, 90.0)], 1000.0);
        assert!((shared.iter().sum::<f64>() - 1000.0).abs() < 1.0, "{shared:?}");
        assert!(shared[0] >= 60.0 + white && shared[1] > shared[2], "{shared:?}");
        let tight = widths(&[(900.0, 240.0); 18], 1044.0);
        assert!(tight.iter().sum::<f64>() <= 1044.5, "{tight:?}");
    }
}
