//! Strips, of which pages are made. A strip is never cut.

use std::rc::Rc;

use super::page_style::Leading;
use super::pictures::Picture;
use super::span::Span;
use crate::text::colors::Rgb;
use crate::text::rows::RowPiece;

/// A strip from edge to edge.
pub(super) struct Strip<'a> {
    /// Space above it, unless it is the first on a page.
    pub(super) before: f64,
    pub(super) height: f64,
    pub(super) keep: Keep,
    /// The table head that is repeated above it at the start of a page.
    pub(super) head: Option<usize>,
    /// Bars of quotes at its left.
    pub(super) bars: Rc<[Bar]>,
    /// Background, from left to right.
    pub(super) shade: Option<(f64, f64, Rgb)>,
    pub(super) content: Content<'a>,
}

/// Tells whether a page may end after a strip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    Free,
    /// It must not: a heading is never the last strip of a page.
    WithNext,
}

/// A bar beside a quote.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bar {
    /// Number of the quote.
    pub(super) quote: usize,
    pub(super) left: f64,
    pub(super) color: Rgb,
}

/// The content of a strip.
pub(super) enum Content<'a> {
    Blank,
    Line(Line),
    Code(CodeRow),
    Row(TableRow),
    Rule { left: f64, right: f64 },
    Picture { picture: Rc<Picture<'a>>, left: f64, width: f64 },
}

/// A line of text.
pub(super) struct Line {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) align: Align,
    pub(super) leading: Leading,
    /// `true` if its paragraph reads from right to left.
    pub(super) right_to_left: bool,
    pub(super) spans: Vec<Span>,
    /// The marker of a list item, which ends at the left edge.
    pub(super) marker: Vec<Span>,
}

/// A row of a block of code.
pub(super) struct CodeRow {
    pub(super) code: Rc<Code>,
    pub(super) left: f64,
    pub(super) row: RowPiece,
}

/// A block of code.
pub(super) struct Code {
    pub(super) text: String,
    pub(super) language: Option<String>,
    /// For each line, its source offset.
    pub(super) places: Vec<Option<usize>>,
}

/// A row of a table.
pub(super) struct TableRow {
    pub(super) cells: Vec<Cell>,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) leading: Leading,
    pub(super) role: Role,
}

/// The role of a table row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Head,
    Body,
}

/// A cell: its edges without padding, and its lines.
pub(super) struct Cell {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) align: Align,
    pub(super) lines: Vec<Vec<Span>>,
}

/// The alignment of a line between its edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Align {
    #[default]
    Left,
    Center,
    Right,
}
