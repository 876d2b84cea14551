//! The content of paragraphs: text, code, formulas, pictures and HTML.

use std::ops::Range;

use pulldown_cmark::CowStr;

use super::html::{self, HtmlPiece};
use super::markdown::{Origin, TIGHT_GAP, Writer};
use super::math;
use super::page_style::{PageStyle, SMALL, heading};
use super::span::{self, SourceOffset, Span};
use super::strip::{Align, Keep};
use crate::page::{LeftOut, Missing};
use crate::text::canvas::{Pen, TextStyle};

/// Largest depth of HTML elements that is tracked.
const MAX_ELEMENTS: usize = 50;

impl Writer<'_, '_, '_> {
    /// Adds text.
    pub(super) fn words(&mut self, text: &CowStr<'_>, range: &Range<usize>) {
        if let Some(code) = &mut self.code {
            let lines = text.split_inclusive('\n');
            let mut at = range.start;
            for line in lines {
                if code.text.is_empty() || code.text.ends_with('\n') {
                    let verbatim = self.origin == Origin::Source && range.len() >= text.len();
                    code.places.push(verbatim.then_some(at));
                }
                code.text.push_str(line);
                at += line.len();
            }
            return;
        }
        match &mut self.html {
            Some((html, _)) => html.push_str(text),
            None => self.put(text, self.letters(), range),
        }
    }

    /// Adds text of the source to the paragraph.
    pub(super) fn put(&mut self, text: &str, letters: TextStyle, range: &Range<usize>) {
        let source = self.text.get(range.clone()).unwrap_or_default();
        let at = match self.origin {
            Origin::Elsewhere => SourceOffset::Nowhere,
            Origin::Source if source == text => SourceOffset::Verbatim(range.start),
            // Code between its marks, or text after a backslash.
            Origin::Source => match source.find(text).filter(|_| !text.is_empty()) {
                Some(into) => SourceOffset::Verbatim(range.start + into),
                None => SourceOffset::Point(range.start),
            },
        };
        span::push(&mut self.spans, text, letters, at);
    }

    /// Adds a formula.
    pub(super) fn formula(&mut self, tex: &str, range: &Range<usize>) {
        let letters = self.letters();
        if let Some(shown) = math::unicode(tex) {
            self.put(&shown, TextStyle { italic: true, ..letters }, range);
        } else {
            let code = self.flow.style.code(letters);
            self.put(tex, TextStyle { italic: true, ..code }, range);
        }
    }

    /// The style of text at this point.
    pub(super) fn letters(&self) -> TextStyle {
        let style = &self.flow.style;
        let size = match self.heading {
            Some(level) => heading(level),
            None if self.table.is_some() => SMALL,
            None => style.body().size,
        };
        let letters = style.letters(size);
        let within =
            |names: &[&str]| self.elements.iter().any(|open| names.contains(&open.as_str()));
        let linked = self.depth.link > 0 || within(&["a"]);
        let pen = Pen {
            color: if linked { style.link } else { style.text },
            shade: None,
            underline: linked,
            strike: self.depth.strike > 0 || within(&["s", "del", "strike"]),
        };
        let strong = self.depth.strong > 0 || within(&["b", "strong", "summary", "th"]);
        let bold = self.heading.is_some() || strong || self.depth.header > 0;
        let italic = self.depth.emphasis > 0 || within(&["i", "em", "cite", "var"]);
        let letters = TextStyle { bold, italic, pen, ..letters };
        if within(&["code", "kbd", "samp", "tt"]) { style.code(letters) } else { letters }
    }

    /// Ends a picture.
    pub(super) fn end_picture(&mut self) {
        let Some((reference, words, at)) = self.picture.take() else { return };
        self.show_picture(&reference, &words, at);
    }

    /// Shows a picture, or its alternative text.
    fn show_picture(&mut self, reference: &str, words: &str, at: usize) {
        let found = self.flow.find_picture(reference);
        let at = if self.origin == Origin::Source {
            SourceOffset::Point(at)
        } else {
            SourceOffset::Nowhere
        };
        let inside = self.table.is_some() || self.heading.is_some();
        match found {
            Some(picture) if !inside => {
                self.flush();
                self.flow.gap(TIGHT_GAP);
                let caption = !words.trim().is_empty();
                let keep = if caption { Keep::WithNext } else { Keep::Free };
                self.flow.picture(picture, keep);
                self.flow.gap(TIGHT_GAP);
                if caption {
                    let letters = self.flow.style.letters(16.0);
                    let letters = PageStyle::colored(letters, self.flow.style.faint);
                    let mut spans = Vec::new();
                    span::push(&mut spans, words, TextStyle { italic: true, ..letters }, at);
                    self.flow.paragraph(&spans, Align::Left, Keep::Free);
                }
                self.flow.gap(TIGHT_GAP);
            }
            _ => {
                let letters = self.letters();
                let shade = Some(self.flow.style.head);
                let pen = Pen { shade, underline: false, ..letters.pen };
                let shown = if words.trim().is_empty() { "picture" } else { words };
                let letters = TextStyle { pen, ..letters };
                span::push(&mut self.spans, "🖼 ", letters, at);
                let letters = TextStyle { italic: true, ..letters };
                span::push(&mut self.spans, shown, letters, at);
                let apart = self.flow.style.letters(letters.size);
                self.spans.push(Span::new(" ", apart));
            }
        }
    }

    /// Shows text and pictures of HTML, and lists the rest.
    pub(super) fn html(&mut self, text: &str, at: usize) {
        for piece in html::pieces(text) {
            let point = if self.origin == Origin::Source {
                SourceOffset::Point(at)
            } else {
                SourceOffset::Nowhere
            };
            match piece {
                HtmlPiece::Text(words) => {
                    let letters = self.letters();
                    span::push(&mut self.spans, &words, letters, point);
                }
                HtmlPiece::Break => {
                    if self.spans.last().is_some_and(|span| !span.text.ends_with('\n')) {
                        let letters = self.letters();
                        span::push(&mut self.spans, "\n", letters, SourceOffset::Nowhere);
                    }
                }
                HtmlPiece::Picture { reference, words } => {
                    self.show_picture(&reference, &words, at);
                }
                HtmlPiece::Open(name) => self.open(name),
                HtmlPiece::Close(name) => self.close(&name),
                HtmlPiece::Script(name) => {
                    self.flow.left_out.push(LeftOut::new(Missing::Script, &name));
                }
                HtmlPiece::Tag(name) => {
                    self.flow.left_out.push(LeftOut::new(Missing::Foreign, &name));
                }
            }
        }
    }

    /// Starts an element that changes the style of text.
    fn open(&mut self, name: String) {
        let level = html::heading(&name).filter(|_| self.table.is_none() && self.heading.is_none());
        if let Some(level) = level {
            self.flush();
            self.heading = Some(level);
        } else if self.elements.len() < MAX_ELEMENTS {
            self.elements.push(name);
        }
    }

    /// Ends the last element of this name, with all elements inside.
    fn close(&mut self, name: &str) {
        if html::heading(name).is_some() && self.html.is_none() && self.table.is_none() {
            self.end_heading();
        } else if let Some(at) = self.elements.iter().rposition(|open| open == name) {
            self.elements.truncate(at);
        }
    }
}
