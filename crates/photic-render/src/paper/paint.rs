//! Paints strips, and records the rows that map back to the source.

use std::collections::HashMap;
use std::rc::Rc;

use parley::PositionedLayoutItem;
use vello_cpu::kurbo::{Affine, Rect};
use vello_cpu::peniko::{ImageQuality, ImageSampler};
use vello_cpu::{Glyph, Image, ImageSource};

use super::page_style::{Leading, PageStyle};
use super::pictures::Picture;
use super::source_positions::{ClusterMark, SourcePositions};
use super::span::Span;
use super::strip::{Align, Code, CodeRow, Content, Line, Role, Strip, TableRow};
use super::table::{PAD, PAD_ABOVE};
use crate::TextRow;
use crate::frame::Frame;
use crate::page::{LeftOut, Missing};
use crate::request::{Request, Theme};
use crate::text::canvas::Canvas;
use crate::text::colors::{self, ColoredCode};
use crate::text::rows::RowPiece;
use crate::text::{CELL, ROW, cells, paint};

/// Mark that sets the direction of a paragraph from right to left.
const RIGHT_TO_LEFT_MARK: &str = "\u{200f}";

/// Everything that is needed to draw one page.
pub(super) struct Painter<'p, 'a> {
    pub(super) canvas: Canvas,
    pub(super) frame: Frame,
    pub(super) style: PageStyle,
    pub(super) request: &'p Request<'a>,
    pub(super) places: SourcePositions<'p>,
    pub(super) rows: Vec<TextRow>,
    pub(super) left_out: Vec<LeftOut>,
    /// Pixels left for pictures.
    pub(super) budget: u64,
}

impl Painter<'_, '_> {
    /// Draws the strips of a page at their positions.
    pub(super) fn strips(&mut self, strips: &[Strip<'_>], placed: &[(usize, f64)]) {
        let colors = self.colors(strips, placed);
        let mut above: Option<(&Strip<'_>, f64)> = None;
        for (index, top) in placed {
            let strip = &strips[*index];
            self.ground(strip, *top, above);
            match &strip.content {
                Content::Blank => {}
                Content::Line(line) => self.line(line, *top),
                Content::Code(row) => {
                    let colored = colors.iter().find(|(code, _)| Rc::ptr_eq(code, &row.code));
                    self.code(row, colored.map(|(_, colored)| colored), *top);
                }
                Content::Row(row) => self.row(row, (*top, strip.height)),
                Content::Rule { left, right } => {
                    self.canvas.fill((*left, *top), (*right, top + strip.height), self.style.rule);
                }
                Content::Picture { picture, left, width } => {
                    self.picture(picture, (*left, *top), (*width, strip.height));
                }
            }
            above = Some((strip, top + strip.height));
        }
    }

    /// Draws the background of code and the bars of quotes.
    fn ground(&mut self, strip: &Strip<'_>, top: f64, above: Option<(&Strip<'_>, f64)>) {
        if let Some((left, right, color)) = strip.shade {
            self.canvas.fill((left, top), (right, top + strip.height), color);
        }
        for bar in strip.bars.iter().filter(|bar| bar.quote > 0) {
            let goes_on =
                above.filter(|(above, _)| above.bars.iter().any(|b| b.quote == bar.quote));
            let from = goes_on.map_or(top, |(_, end)| end);
            self.canvas.fill((bar.left, from), (bar.left + 5.0, top + strip.height), bar.color);
        }
    }

    /// The colors of all code on this page.
    fn colors(
        &self,
        strips: &[Strip<'_>],
        placed: &[(usize, f64)],
    ) -> Vec<(Rc<Code>, ColoredCode)> {
        let mut blocks: Vec<(Rc<Code>, Vec<RowPiece>)> = Vec::new();
        let mut known: HashMap<*const Code, usize> = HashMap::new();
        for (index, _) in placed {
            let Content::Code(CodeRow { code, row, .. }) = &strips[*index].content else {
                continue;
            };
            let at = *known.entry(Rc::as_ptr(code)).or_insert_with(|| {
                blocks.push((Rc::clone(code), Vec::new()));
                blocks.len() - 1
            });
            blocks[at].1.push(row.clone());
        }
        let (theme, ground) = (self.style.theme, self.style.shade);
        let colored = blocks.into_iter().map(|(code, shown)| {
            let lines: Vec<&str> = code.text.lines().collect();
            let colored = colors::of(&lines, &shown, code.language.as_deref(), theme, ground);
            (code, colored)
        });
        colored.collect()
    }

    /// Draws a row of code.
    fn code(&mut self, row: &CodeRow, colored: Option<&ColoredCode>, top: f64) {
        let CodeRow { code, left, row } = row;
        let Some(line) = code.text.lines().nth(row.line) else { return };
        let cells = cells::of(&line[row.bytes.clone()], row.column);
        let inks = colored.map(|colored| colored.inks(row)).unwrap_or_default();
        let columns = paint::row(&mut self.canvas, &cells, &inks, row.column, (*left, top));
        let Some(Some(at)) = code.places.get(row.line) else { return };
        let Some((line, first)) = self.places.of(*at) else { return };
        let columns = columns.into_iter().map(|column| column + first - 1).collect();
        self.rows.push(TextRow { top, height: ROW, left: *left, cell: CELL, line, columns });
    }

    /// Draws a line of text with its marker.
    fn line(&mut self, line: &Line, top: f64) {
        let marks = self.text(line, &line.spans, (line.left, line.right), top);
        self.map_back(&marks, top, line.leading.height);
        if !line.marker.is_empty() {
            let (edges, align) = if line.right_to_left {
                ((line.right + 8.0, line.right + 200.0), Align::Left)
            } else {
                ((line.left - 200.0, line.left - 8.0), Align::Right)
            };
            let (spans, marker) = (Vec::new(), Vec::new());
            let plain = Line { align, right_to_left: false, spans, marker, ..*line };
            self.text(&plain, &line.marker, edges, top);
        }
    }

    /// Draws a row of a table.
    fn row(&mut self, row: &TableRow, (top, height): (f64, f64)) {
        let (left, right) = (row.left, row.right);
        if row.role == Role::Head {
            self.canvas.fill((left, top), (right, top + height), self.style.head);
        }
        let bottom = top + height;
        self.canvas.fill((left, bottom - 1.0), (right, bottom), self.style.rule);
        for cell in &row.cells {
            let edge = cell.right + PAD;
            self.canvas.fill((edge - 1.0, top), (edge, bottom), self.style.rule);
        }
        self.canvas.fill((left, top), (left + 1.0, bottom), self.style.rule);
        // The lower rule of the row above, or the upper rule of the table.
        self.canvas.fill((left, top - 1.0), (right, top), self.style.rule);
        let lines = row.cells.iter().map(|cell| cell.lines.len()).max().unwrap_or(0);
        for number in 0..lines {
            let top = top + PAD_ABOVE + number as f64 * row.leading.height;
            let mut marks = Vec::new();
            for cell in &row.cells {
                let Some(spans) = cell.lines.get(number) else { continue };
                let line = Line {
                    left: cell.left,
                    right: cell.right,
                    align: cell.align,
                    leading: row.leading,
                    right_to_left: false,
                    spans: Vec::new(),
                    marker: Vec::new(),
                };
                marks.extend(self.text(&line, spans, (cell.left, cell.right), top));
            }
            self.map_back(&marks, top, row.leading.height);
        }
    }

    /// Draws spans in a line, and returns the position and source offset of each cluster.
    fn text(
        &mut self,
        line: &Line,
        spans: &[Span],
        (left, right): (f64, f64),
        top: f64,
    ) -> Vec<ClusterMark> {
        let mut text = String::from(if line.right_to_left { RIGHT_TO_LEFT_MARK } else { "" });
        let mut ranges = Vec::new();
        for span in spans {
            let start = text.len();
            text.push_str(&span.text);
            ranges.push((start..text.len(), span.letters));
        }
        let layout = self.canvas.shape(&text, &ranges);
        let slack = (right - left - f64::from(layout.width())).max(0.0);
        let left = match (line.align, line.right_to_left) {
            (Align::Left, false) => left,
            (Align::Center, _) => (left + slack / 2.0).round(),
            (Align::Right, _) | (Align::Left, true) => (left + slack).floor(),
        };
        let baseline = top + line.leading.baseline;
        let mut marks = Vec::new();
        for item in layout.lines().flat_map(|line| line.items().collect::<Vec<_>>()) {
            let PositionedLayoutItem::GlyphRun(run) = item else { continue };
            let from = left + f64::from(run.offset());
            let to = from + f64::from(run.advance());
            let pen = run.style().brush;
            let size = f64::from(run.run().font_size());
            if let Some(shade) = pen.shade {
                let Leading { height, .. } = line.leading;
                self.canvas.fill((from - 2.0, top + 3.0), (to + 2.0, top + height - 3.0), shade);
            }
            let mut x = from as f32;
            let glyphs = run.glyphs().map(|glyph| {
                let placed = Glyph { id: glyph.id, x: x + glyph.x, y: baseline as f32 + glyph.y };
                x += glyph.advance;
                placed
            });
            let glyphs: Vec<Glyph> = glyphs.collect();
            if glyphs.iter().any(|glyph| glyph.id == 0) {
                self.miss(&run, &text);
            }
            self.canvas.write(run.run(), pen.color, glyphs);
            if pen.underline {
                let y = (baseline + size * 0.12).round();
                self.canvas.fill((from, y), (to, y + 1.5), pen.color);
            }
            if pen.strike {
                let y = (baseline - size * 0.28).round();
                self.canvas.fill((from, y), (to, y + 1.5), pen.color);
            }
        }
        for run in layout.lines().flat_map(|line| line.runs()) {
            let mut x = left + marks.last().map_or(0.0, |mark: &ClusterMark| mark.right - left);
            for cluster in run.visual_clusters() {
                let advance = f64::from(cluster.advance());
                let byte = cluster.text_range().start;
                let span = ranges.iter().position(|(range, _)| range.contains(&byte));
                let at = span.and_then(|span| spans[span].at.of(byte - ranges[span].0.start));
                marks.push(ClusterMark { left: x, right: x + advance, at });
                x += advance;
            }
        }
        marks
    }

    /// Records characters that no font has.
    fn miss(&mut self, run: &parley::GlyphRun<'_, crate::text::canvas::Pen>, text: &str) {
        for cluster in run.run().clusters() {
            if cluster.glyphs().any(|glyph| glyph.id == 0) {
                self.canvas.miss(&text[cluster.text_range()]);
            }
        }
    }

    /// Adds rows that map back to the source.
    fn map_back(&mut self, marks: &[ClusterMark], top: f64, height: f64) {
        self.places.rows(marks, top, height, &mut self.rows);
    }

    /// Draws a picture.
    fn picture(
        &mut self,
        picture: &Picture<'_>,
        (left, top): (f64, f64),
        (width, height): (f64, f64),
    ) {
        let area = self.frame.area;
        let outside = left > area.x + area.width || top > area.y + area.height;
        if outside || left + width < area.x || top + height < area.y {
            return;
        }
        let pixels = |length: f64| ((length * self.frame.scale).round() as u32).clamp(1, 8_000);
        let size = (pixels(width), pixels(height));
        let pixels = match picture.pixels(size, self.request, &mut self.left_out, &mut self.budget)
        {
            Ok(pixels) => pixels,
            Err(missing) => {
                self.left_out.push(missing);
                self.canvas.fill((left, top), (left + width, top + height), self.style.shade);
                return;
            }
        };
        // Drawings are made for white paper.
        if self.style.theme == Theme::Dark && pixels.may_have_transparency() {
            self.canvas.fill((left, top), (left + width, top + height), [255; 3]);
        }
        let scale = (width / f64::from(pixels.width()), height / f64::from(pixels.height()));
        let context = self.canvas.context();
        let sampler = ImageSampler { quality: ImageQuality::Medium, ..ImageSampler::default() };
        context.set_paint(Image { image: ImageSource::Pixmap(pixels), sampler });
        let place = Affine::translate((left, top)) * Affine::scale_non_uniform(scale.0, scale.1);
        context.set_paint_transform(place);
        context.fill_rect(&Rect::new(left, top, left + width, top + height));
        context.reset_paint_transform();
    }

    /// Characters that no font has, as something left out.
    pub(super) fn unknown(unknown: impl IntoIterator<Item = char>) -> Option<LeftOut> {
        let unknown: String = unknown.into_iter().collect();
        (!unknown.is_empty()).then(|| LeftOut::new(Missing::Glyphs, &unknown))
    }
}
