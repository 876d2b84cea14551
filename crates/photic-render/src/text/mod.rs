//! Draws code and other text: numbered lines on a grid of cells, in pages of one size.
//!
//! A cell is 11 pixels wide and a row 24 high, with a font size of 18: models misread smaller or
//! tighter text. A full sheet is 1092 pixels square, which every provider shows to its model
//! unscaled. Pages do not depend on which one is requested.

pub(crate) mod canvas;
pub(crate) mod cells;
pub(crate) mod colors;
pub(crate) mod paint;
pub(crate) mod rows;

use std::borrow::Cow;

use crate::TextRow;
use crate::encoding;
use crate::frame::{DefaultSize, Frame};
use crate::page::{LeftOut, Missing, Page, PageFacts};
use crate::refusal::{Refusal, RefusalCode};
use crate::request::Request;
use canvas::Canvas;

/// Width of a sheet, and height of a full one.
pub(crate) const SHEET: f64 = 1092.0;
/// Margin around the text.
pub(crate) const MARGIN: f64 = 24.0;
/// Width of a cell.
pub(crate) const CELL: f64 = 11.0;
/// Height of a row.
pub(crate) const ROW: f64 = 24.0;
/// Smallest height of a sheet: providers reject pictures with a very short edge.
pub(crate) const MIN_HEIGHT: f64 = 224.0;
/// Rows of a full sheet.
const ROWS: usize = 43;
/// Smallest number of digits for line numbers, so that a growing file keeps its rows.
const MIN_DIGITS: usize = 4;

/// A sheet is scaled only on request.
pub(crate) const DEFAULT_SIZE: DefaultSize = DefaultSize { least: 1.0, most: SHEET };

/// Tells whether line numbers are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineNumbers {
    Shown,
    Hidden,
}

/// Draws a page of text.
pub(crate) fn draw(request: &Request<'_>) -> Result<Page, Refusal> {
    let text = encoding::text(request.bytes)
        .unwrap_or_else(|| Cow::Owned(String::from_utf8_lossy(request.bytes).into_owned()));
    sheet(&text, request, request.wanted.name.as_deref(), LineNumbers::Shown)
}

/// Draws a page of this text, colored by this name.
pub(crate) fn sheet(
    text: &str,
    request: &Request<'_>,
    name: Option<&str>,
    numbers: LineNumbers,
) -> Result<Page, Refusal> {
    let lines: Vec<&str> = lines(text);
    let digits = lines.len().to_string().len().max(MIN_DIGITS);
    let gutter = match numbers {
        LineNumbers::Shown => (digits + 2) as f64 * CELL,
        LineNumbers::Hidden => 0.0,
    };
    let columns = ((SHEET - 2.0 * MARGIN - gutter) / CELL) as usize;
    let rows = rows::of(&lines, columns);
    let pages = rows.len().div_ceil(ROWS);
    let number = request.wanted.page as usize;
    let shown = number
        .checked_sub(1)
        .and_then(|index| rows.chunks(ROWS).nth(index))
        .ok_or_else(|| no_such_page(number, pages))?;

    let high = shown.len() as f64 * ROW + 2.0 * MARGIN;
    let size = (SHEET, high.max(MIN_HEIGHT));
    let frame = Frame::new(size, &request.wanted, DEFAULT_SIZE)?;
    let mut facts =
        PageFacts { page: number as u32, pages: pages as u32, ..PageFacts::single(size) };

    let paper = colors::Palette::of(request.wanted.theme).paper;
    let colored = colors::of(&lines, shown, name, request.wanted.theme, paper);
    if !colored.complete {
        let says = "the text is too long to be colored";
        facts.leave_out(LeftOut::new(Missing::Colors, says));
    }
    let left = MARGIN + gutter;
    let mut canvas = Canvas::new(&frame, paper, request.fonts);
    for (index, row) in shown.iter().enumerate() {
        let top = MARGIN + index as f64 * ROW;
        let cells = cells::of(&lines[row.line][row.bytes.clone()], row.column);
        if numbers == LineNumbers::Shown {
            let label = row.label(digits);
            paint::label(&mut canvas, &label, colored.palette.faint, MARGIN, top);
        }
        let inks = colored.inks(row);
        let columns = paint::row(&mut canvas, &cells, &inks, row.column, (left, top));
        let line = row.line as u32 + 1;
        facts.rows.push(TextRow { top, height: ROW, left, cell: CELL, line, columns });
    }
    let (raster, unknown) = canvas.finish();
    if !unknown.is_empty() {
        let unknown: String = unknown.into_iter().collect();
        facts.leave_out(LeftOut::new(Missing::Glyphs, &unknown));
    }
    Ok(Page { raster, to_page: frame.to_page(), facts })
}

/// The lines without their ends; a final line end starts no new line.
fn lines(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() { vec![""] } else { lines }
}

/// The refusal of a page number.
pub(crate) fn no_such_page(number: usize, pages: usize) -> Refusal {
    let hint = match pages {
        1 => "ask for page 1".to_owned(),
        _ => format!("ask for a page from 1 to {pages}"),
    };
    let says = format!("there is no page {number}: the text has {pages}");
    Refusal::new(RefusalCode::NoSuchPage, says, hint)
}
