//! What a page is made of: strips from edge to edge, none of which is ever cut.

use std::rc::Rc;

use super::look::Leading;
use super::pictures::Picture;
use super::span::Span;
use crate::text::colors::Rgb;
use crate::text::rows::RowPiece;

/// A strip of paper.
pub(super) struct Strip<'a> {
    /// White above it, unless it is the first of a page.
    pub(super) before: f64,
    pub(super) height: f64,
    pub(super) keep: Keep,
    /// The strip that is repeated above it where it begins a page: the head of its table.
    pub(super) head: Option<usize>,
    /// Bars at its left, from quotes.
    pub(super) bars: Rc<[Bar]>,
    /// A color under it, from left to right.
    pub(super) shade: Option<(f64, f64, Rgb)>,
    pub(super) content: Content<'a>,
}

/// Whether a page may end after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    Free,
    /// No heading is the last of its page.
    WithNext,
}

/// A bar beside a quote.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bar {
    /// Which quote.
    pub(super) quote: usize,
    pub(super) left: f64,
    pub(super) color: Rgb,
}

/// What a strip shows.
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
    /// Whether its paragraph reads from right to left.
    pub(super) leftward: bool,
    pub(super) spans: Vec<Span>,
    /// What stands before it: the mark of an item. It ends at the left edge.
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
    /// For each line of it, where in the source it begins.
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

/// What a row of a table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Head,
    Body,
}

/// A cell: its edges, without the white inside, and its lines.
pub(super) struct Cell {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) align: Align,
    pub(super) lines: Vec<Vec<Span>>,
}

/// Where a line stands between its edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Align {
    #[default]
    Left,
    Center,
    Right,
}
