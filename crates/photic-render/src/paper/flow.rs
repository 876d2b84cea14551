//! Lays blocks out as strips, from top to bottom.
//!
//! Applies indents, gaps and limits. Missing content is listed in `left_out`; nothing is drawn yet.

use std::rc::Rc;

use super::measure::Measure;
use super::page_style::{Leading, PageStyle, heading};
use super::pages::ROOM;
use super::pictures::{self, Picture};
use super::span::{Span, reads_right_to_left};
use super::strip::{Align, Bar, Code, CodeRow, Content, Keep, Line, Strip};
use super::wrap;
use crate::page::{LeftOut, Missing};
use crate::request::Request;
use crate::text::colors::Rgb;
use crate::text::{CELL, MARGIN, ROW, SHEET, rows};

/// Largest number of strips, about six thousand pages. More is listed as left out.
const MAX_STRIPS: usize = 200_000;
/// Largest number of pictures.
const MAX_PICTURES: usize = 500;
/// Narrowest column of text; deeper items and quotes are not indented further.
const MIN_WIDTH: f64 = 420.0;
/// Padding around code.
const CODE_PAD: f64 = 12.0;
/// Largest height of a picture, with room for its caption.
const MAX_HEIGHT: f64 = ROOM - 40.0;

/// The strips so far.
pub(super) struct Flow<'a> {
    pub(super) style: PageStyle,
    pub(super) measure: Measure<'a>,
    pub(super) strips: Vec<Strip<'a>>,
    pub(super) left_out: Vec<LeftOut>,
    pub(super) left: f64,
    pub(super) right: f64,
    /// Named pictures of the current notebook cell.
    pub(super) attachments: Vec<(String, Vec<u8>)>,
    request: Request<'a>,
    /// Space before the next strip.
    gap: f64,
    bars: Vec<Bar>,
    quotes: usize,
    pictures: usize,
    /// Marker of the next line.
    marker: Vec<Span>,
    /// The width of each open indent.
    indents: Vec<f64>,
}

impl<'a> Flow<'a> {
    /// Creates an empty flow.
    pub(super) fn new(request: &Request<'a>) -> Self {
        Self {
            style: PageStyle::of(request.wanted.theme),
            measure: Measure::new(request.fonts),
            strips: Vec::new(),
            left_out: Vec::new(),
            left: MARGIN,
            right: SHEET - MARGIN,
            attachments: Vec::new(),
            request: request.clone(),
            gap: 0.0,
            bars: Vec::new(),
            quotes: 0,
            pictures: 0,
            marker: Vec::new(),
            indents: Vec::new(),
        }
    }

    /// Requests space before the next strip; the largest request counts.
    pub(super) fn gap(&mut self, gap: f64) {
        self.gap = self.gap.max(gap);
    }

    /// Moves the left edge, unless the column would become too narrow.
    pub(super) fn indent(&mut self, by: f64) {
        let by = if self.right - self.left - by < MIN_WIDTH { 0.0 } else { by };
        self.left += by;
        self.indents.push(by);
    }

    /// Removes the last indent.
    pub(super) fn outdent(&mut self) {
        self.left -= self.indents.pop().unwrap_or(0.0);
    }

    /// Starts a quote.
    pub(super) fn quote(&mut self, color: Rgb) {
        let left = self.left;
        self.indent(22.0);
        self.quotes += 1;
        // Without an indent, the bar would cover that of the outer quote.
        let quote = if self.left > left { self.quotes } else { 0 };
        self.bars.push(Bar { quote, left, color });
    }

    /// Ends a quote.
    pub(super) fn end_quote(&mut self) {
        self.bars.pop();
        self.outdent();
    }

    /// Sets the marker of the next line.
    pub(super) fn mark(&mut self, marker: Vec<Span>) {
        self.marker = marker;
    }

    /// Returns `true` if a marker waits for its line.
    pub(super) fn is_marked(&self) -> bool {
        !self.marker.is_empty()
    }

    /// Adds lines of text.
    pub(super) fn paragraph(&mut self, spans: &[Span], align: Align, keep: Keep) {
        let size = spans.iter().map(|span| span.letters.size).fold(0.0, f32::max);
        let leading = Leading::of(if size > 0.0 { size } else { self.style.body().size });
        let right_to_left = reads_right_to_left(spans);
        for spans in wrap::lines(spans, self.right - self.left, &mut self.measure) {
            // Text from right to left is indented at the right.
            let (left, right) = if right_to_left {
                (SHEET - self.right, SHEET - self.left)
            } else {
                (self.left, self.right)
            };
            let marker = std::mem::take(&mut self.marker);
            let line = Line { left, right, align, leading, right_to_left, spans, marker };
            self.push(leading.height, keep, Content::Line(line));
        }
    }

    /// Adds a heading, with a rule under the two largest levels.
    pub(super) fn heading(&mut self, level: usize, spans: &[Span]) {
        self.gap(f64::from(heading(level)) * 0.9);
        self.paragraph(spans, Align::Left, Keep::WithNext);
        if level <= 2 {
            self.gap(4.0);
            let content = Content::Rule { left: self.left, right: self.right };
            self.push(2.0, Keep::WithNext, content);
        }
        self.gap(12.0);
    }

    /// Adds a rule.
    pub(super) fn rule(&mut self) {
        self.gap(18.0);
        self.push(2.0, Keep::Free, Content::Rule { left: self.left, right: self.right });
        self.gap(18.0);
    }

    /// Adds a block of code with a background.
    pub(super) fn code(&mut self, code: Code) {
        // A marker needs a line of text.
        if self.is_marked() {
            self.paragraph(&[], Align::Left, Keep::WithNext);
        }
        let left = self.left + CODE_PAD;
        let columns = ((self.right - CODE_PAD - left) / CELL) as usize;
        let shade = Some((self.left, self.right, self.style.shade));
        let code = Rc::new(code);
        let lines: Vec<&str> = code.text.lines().collect();
        let rows = rows::of(&lines, columns.max(1));
        self.shaded_blank(shade, Keep::WithNext);
        let last = rows.len().saturating_sub(1);
        for (index, row) in rows.into_iter().enumerate() {
            let content = Content::Code(CodeRow { code: Rc::clone(&code), left, row });
            let keep = if index == last { Keep::WithNext } else { Keep::Free };
            self.push(ROW, keep, content);
            self.shade_last(shade);
        }
        self.shaded_blank(shade, Keep::Free);
    }

    /// Adds a blank strip with a background.
    fn shaded_blank(&mut self, shade: Option<(f64, f64, Rgb)>, keep: Keep) {
        self.push(CODE_PAD * 0.75, keep, Content::Blank);
        self.shade_last(shade);
    }

    /// Sets the background of the last strip.
    fn shade_last(&mut self, shade: Option<(f64, f64, Rgb)>) {
        if let Some(strip) = self.strips.last_mut() {
            strip.shade = shade;
        }
    }

    /// Finds the picture of a reference. Returns `None` if it is not shown, and lists it then.
    pub(super) fn find_picture(&mut self, reference: &str) -> Option<Picture<'a>> {
        let request = self.request.clone();
        let attached = reference.strip_prefix("attachment:").and_then(|wanted| {
            let found = self.attachments.iter().find(|(name, _)| name == wanted);
            found.map(|(_, bytes)| bytes.clone())
        });
        match attached {
            Some(bytes) => self.admit(|| pictures::of(bytes.into(), &request)),
            None => self.admit(|| pictures::find(reference, &request)),
        }
    }

    /// Adds a picture that may be unusable, and lists it if it is.
    pub(super) fn admit(
        &mut self,
        find: impl FnOnce() -> Result<Picture<'a>, LeftOut>,
    ) -> Option<Picture<'a>> {
        if self.pictures >= MAX_PICTURES {
            self.left_out.push(LeftOut::new(Missing::Picture, "there are too many pictures"));
            return None;
        }
        match find() {
            Ok(picture) => {
                self.pictures += 1;
                Some(picture)
            }
            Err(missing) => {
                self.left_out.push(missing);
                None
            }
        }
    }

    /// The request.
    pub(super) fn request(&self) -> &Request<'a> {
        &self.request
    }

    /// Adds a picture, never enlarged, and scaled to the page.
    pub(super) fn picture(&mut self, picture: Picture<'a>, keep: Keep) {
        if self.is_marked() {
            self.paragraph(&[], Align::Left, Keep::WithNext);
        }
        let (width, height) = picture.size;
        let room = self.right - self.left;
        let scale = (room / width).min(MAX_HEIGHT / height).min(1.0);
        let (width, height) = ((width * scale).max(1.0), (height * scale).max(1.0));
        let content = Content::Picture { picture: Rc::new(picture), left: self.left, width };
        self.push(height, keep, content);
    }

    /// Adds a strip.
    pub(super) fn push(&mut self, height: f64, keep: Keep, content: Content<'a>) {
        if self.is_full() {
            return;
        }
        let before = std::mem::take(&mut self.gap);
        let (bars, shade) = (Rc::from(self.bars.as_slice()), None);
        self.strips.push(Strip { before, height, keep, head: None, bars, shade, content });
        if self.is_full() {
            let says = "what follows: there is more than is laid out";
            self.left_out.push(LeftOut::new(Missing::Rest, says));
        }
    }

    /// Returns `true` if no more strips are taken.
    pub(super) fn is_full(&self) -> bool {
        self.strips.len() >= MAX_STRIPS
    }
}
