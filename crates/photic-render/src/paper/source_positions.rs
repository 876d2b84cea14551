//! Maps bytes of the source to lines and columns, and builds the rows that map back.

use crate::TextRow;

/// Width of a cell of a row in pixels; letters of prose are wider.
const CELL: f64 = 4.0;

/// A cluster of characters: its edges and its source offset.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClusterMark {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) at: Option<usize>,
}

/// The line starts of a source.
pub(super) struct SourcePositions<'s> {
    source: &'s str,
    starts: Vec<usize>,
    /// The last result: byte, line, column.
    last: (usize, u32, u32),
}

impl<'s> SourcePositions<'s> {
    /// Finds the lines of a source; for an empty one, nothing maps back.
    pub(super) fn new(source: &'s str) -> Self {
        let ends = source.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        Self { source, starts, last: (0, 1, 1) }
    }

    /// Line and column of a byte, both from 1.
    pub(super) fn of(&mut self, at: usize) -> Option<(u32, u32)> {
        if self.source.is_empty() || at > self.source.len() {
            return None;
        }
        let line = self.starts.partition_point(|start| *start <= at);
        let (last, last_line, last_column) = self.last;
        // Most queries are in order, so a long line is not counted again.
        let ahead = last_line as usize == line && last <= at;
        let (from, column) = if ahead { (last, last_column) } else { (self.starts[line - 1], 1) };
        let column = column + self.source.get(from..at)?.chars().count() as u32;
        self.last = (at, line as u32, column);
        Some((line as u32, column))
    }

    /// Adds rows for the marks of one row of text, one for each source line in it.
    pub(super) fn rows(
        &mut self,
        marks: &[ClusterMark],
        top: f64,
        height: f64,
        rows: &mut Vec<TextRow>,
    ) {
        let mut row: Option<TextRow> = None;
        for mark in marks {
            let Some((line, column)) = mark.at.and_then(|at| self.of(at)) else { continue };
            if row.as_ref().is_none_or(|row| row.line != line || mark.left < row.left) {
                rows.extend(row.take());
                let columns = Vec::new();
                row = Some(TextRow { top, height, left: mark.left, cell: CELL, line, columns });
            }
            let Some(row) = &mut row else { continue };
            let end = ((mark.right - row.left) / CELL).round().max(0.0) as usize;
            let begin = ((mark.left - row.left) / CELL).round().max(0.0) as usize;
            let before = row.columns.last().copied().unwrap_or(column);
            row.columns.resize(begin.max(row.columns.len()), before);
            row.columns.resize(end.max(row.columns.len()), column);
        }
        rows.extend(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_lines_and_columns() {
        let mut places = SourcePositions::new("one\ntwö three\n");
        assert_eq!(places.of(0), Some((1, 1)));
        assert_eq!(places.of(4), Some((2, 1)));
        assert_eq!(places.of(9), Some((2, 5)), "characters, not bytes");
        assert_eq!(places.of(6), Some((2, 3)), "backwards too");
        assert_eq!(SourcePositions::new("").of(0), None);
    }

    #[test]
    fn a_row_of_two_lines_is_two_rows() {
        let mut rows = Vec::new();
        let mark = |left: f64, at| ClusterMark { left, right: left + 8.0, at: Some(at) };
        let mut places = SourcePositions::new("ab\ncd");
        places.rows(&[mark(20.0, 0), mark(28.0, 1), mark(36.0, 3)], 5.0, 9.0, &mut rows);
        let found: Vec<(u32, f64, &[u32])> =
            rows.iter().map(|row| (row.line, row.left, row.columns.as_slice())).collect();
        assert_eq!(found, [(1, 20.0, &[1, 1, 2, 2][..]), (2, 36.0, &[1, 1][..])]);
    }
}
