//! Lays out prose, tables, JSON and notebooks on pages.
//!
//! A document is laid out once from the top, by the widths of its characters; only the requested
//! page is shaped and drawn. Files and URLs that a document refers to are never opened.

mod ansi;
mod csv;
mod flow;
mod html;
mod inline;
mod json;
mod markdown;
mod math;
mod measure;
mod notebook;
mod page_style;
mod pages;
mod paint;
mod pictures;
mod record_table;
mod source_positions;
mod span;
mod strip;
mod table;
mod wrap;

use std::borrow::Cow;
use std::ops::Range;

use crate::encoding;
use crate::frame::Frame;
use crate::page::{Page, PageFacts};
use crate::refusal::{Refusal, RefusalCode};
use crate::request::{Kind, Request};
use crate::text::canvas::Canvas;
use crate::text::{self, DEFAULT_SIZE, MARGIN, MIN_HEIGHT, SHEET};
use flow::Flow;
use paint::Painter;
use record_table::RecordTable;
use source_positions::SourcePositions;

/// Largest prose that is laid out; more can be viewed as text.
const MAX_BYTES: usize = 16 << 20;

/// Draws a page.
pub(crate) fn draw(request: &Request<'_>) -> Result<Page, Refusal> {
    let source = encoding::text(request.bytes)
        .unwrap_or_else(|| Cow::Owned(String::from_utf8_lossy(request.bytes).into_owned()));
    match request.wanted.kind {
        Kind::Markdown => {
            bounded(&source, request)?;
            page(markdown::flow(&source, request), &source, request)
        }
        Kind::Csv => {
            let mut flow = Flow::new(request);
            let sheet = RecordTable::new(&source, request, &mut flow);
            let (number, pages) = (request.wanted.page as usize, sheet.pages());
            if number == 0 || number > pages {
                return Err(text::no_such_page(number, pages));
            }
            sheet.flow(number - 1, &mut flow);
            let all = 0..flow.strips.len();
            shown(flow, &all, (number, pages), &source, request)
        }
        Kind::Json => json::draw(&source, request),
        Kind::Notebook => page(notebook::flow(&source, request)?, "", request),
        _ => text::draw(request),
    }
}

/// Refuses oversized sources.
fn bounded(source: &str, request: &Request<'_>) -> Result<(), Refusal> {
    if source.len() <= MAX_BYTES {
        return Ok(());
    }
    let says = format!("this {} has more than {MAX_BYTES} bytes", request.wanted.kind.name());
    Err(Refusal::new(RefusalCode::TooLarge, says, "view it as plain text, or a part of it"))
}

/// Draws the requested page.
fn page(flow: Flow<'_>, source: &str, request: &Request<'_>) -> Result<Page, Refusal> {
    let pages = pages::cut(&flow.strips);
    let number = request.wanted.page as usize;
    let strips = number
        .checked_sub(1)
        .and_then(|index| pages.get(index))
        .ok_or_else(|| text::no_such_page(number, pages.len()))?;
    shown(flow, strips, (number, pages.len()), source, request)
}

/// Draws some strips as a page.
fn shown(
    flow: Flow<'_>,
    strips: &Range<usize>,
    (number, pages): (usize, usize),
    source: &str,
    request: &Request<'_>,
) -> Result<Page, Refusal> {
    let (placed, end) = pages::place(&flow.strips, strips);
    let size = (SHEET, (end + MARGIN).ceil().clamp(MIN_HEIGHT, SHEET));
    let frame = Frame::new(size, &request.wanted, DEFAULT_SIZE)?;
    let mut facts =
        PageFacts { page: number as u32, pages: pages as u32, ..PageFacts::single(size) };
    let Flow { strips, left_out, style, .. } = flow;
    let mut painter = Painter {
        canvas: Canvas::new(&frame, style.paper, request.fonts),
        frame,
        style,
        request,
        places: SourcePositions::new(source),
        rows: Vec::new(),
        left_out,
        budget: pictures::MAX_PAGE_PIXELS,
    };
    painter.strips(&strips, &placed);
    let Painter { canvas, rows, left_out, .. } = painter;
    let (raster, unknown) = canvas.finish();
    for what in left_out.into_iter().chain(Painter::unknown(unknown)) {
        facts.leave_out(what);
    }
    facts.rows = rows;
    Ok(Page { raster, to_page: frame.to_page(), facts })
}
