//! Lays out Markdown in GitHub's dialect.
//!
//! HTML is never run: its text is shown, and its tags are listed as left out.

use std::ops::Range;

use pulldown_cmark::{
    Alignment, BlockQuoteKind, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd,
};

use super::flow::Flow;
use super::page_style::PageStyle;
use super::span::Span;
use super::strip::{Align, Code, Keep};
use super::table::{self, Table};
use crate::request::Request;
use crate::text::canvas::TextStyle;

/// Width of a list marker.
const ITEM: f64 = 34.0;
/// Space between paragraphs.
const GAP: f64 = 14.0;
/// Space between items of a tight list.
pub(super) const TIGHT_GAP: f64 = 4.0;

/// Lays out a text.
pub(super) fn flow<'a>(source: &str, request: &Request<'a>) -> Flow<'a> {
    let mut flow = Flow::new(request);
    add(source, &mut flow, Origin::Source);
    flow
}

/// Tells whether a text is part of the source.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    Source,
    Elsewhere,
}

/// Adds a text to a layout.
pub(super) fn add(text: &str, flow: &mut Flow<'_>, origin: Origin) {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_MATH
        | Options::ENABLE_GFM
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut writer = Writer {
        text,
        origin,
        flow,
        spans: Vec::new(),
        heading: None,
        depth: Depth::default(),
        lists: Vec::new(),
        table: None,
        code: None,
        html: None,
        elements: Vec::new(),
        picture: None,
    };
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        writer.event(event, &range);
        if writer.flow.is_full() {
            break;
        }
    }
    writer.flush();
}

/// Numbers of open elements.
#[derive(Default)]
pub(super) struct Depth {
    pub(super) strong: usize,
    pub(super) emphasis: usize,
    pub(super) strike: usize,
    pub(super) link: usize,
    pub(super) header: usize,
}

/// Converts events of the parser to blocks.
pub(super) struct Writer<'w, 'f, 'a> {
    pub(super) text: &'w str,
    pub(super) origin: Origin,
    pub(super) flow: &'f mut Flow<'a>,
    /// The current paragraph.
    pub(super) spans: Vec<Span>,
    pub(super) heading: Option<usize>,
    pub(super) depth: Depth,
    /// The next number of each open list, if it is numbered.
    pub(super) lists: Vec<Option<u64>>,
    pub(super) table: Option<Table>,
    pub(super) code: Option<Code>,
    /// The current HTML block and its offset.
    pub(super) html: Option<(String, usize)>,
    /// Open HTML elements that change the style of text.
    pub(super) elements: Vec<String>,
    /// The current picture: reference, alternative text and offset.
    pub(super) picture: Option<(String, String, usize)>,
}

impl Writer<'_, '_, '_> {
    /// Handles an event.
    fn event(&mut self, event: Event<'_>, range: &Range<usize>) {
        if let Some((_, words, _)) = &mut self.picture {
            match &event {
                Event::Text(text) | Event::Code(text) | Event::InlineMath(text) => {
                    words.push_str(text);
                    return;
                }
                Event::End(TagEnd::Image) => {}
                _ => return,
            }
        }
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.words(&text, range),
            Event::Code(text) => {
                let letters = self.flow.style.code(self.letters());
                self.put(&text, letters, range);
            }
            Event::InlineMath(tex) => self.formula(&tex, range),
            Event::DisplayMath(tex) => {
                self.flush();
                self.formula(tex.trim(), range);
                let spans = std::mem::take(&mut self.spans);
                self.flow.gap(GAP);
                self.flow.paragraph(&spans, Align::Center, Keep::Free);
                self.flow.gap(GAP);
            }
            Event::Html(text) => match &mut self.html {
                Some((html, _)) => html.push_str(&text),
                None => self.html(&text, range.start),
            },
            Event::InlineHtml(text) => self.html(&text, range.start),
            Event::FootnoteReference(label) => {
                let letters = self.letters();
                let letters = PageStyle::colored(letters, self.flow.style.link);
                let letters = TextStyle { size: (letters.size * 0.8).round(), ..letters };
                self.put(&format!("[{label}]"), letters, range);
            }
            Event::SoftBreak => self.put(" ", self.letters(), range),
            Event::HardBreak => self.put("\n", self.letters(), range),
            Event::Rule => {
                self.flush();
                self.flow.rule();
            }
            Event::TaskListMarker(done) => {
                let letters = self.flow.style.body();
                let mark = if done { "☑" } else { "☐" };
                self.flow.mark(vec![Span::new(mark, letters)]);
            }
        }
    }

    /// Handles the start of an element.
    fn start(&mut self, tag: Tag<'_>, range: &Range<usize>) {
        match tag {
            Tag::Paragraph => {
                self.flush();
                if !self.flow.is_marked() {
                    self.flow.gap(GAP);
                }
            }
            Tag::Heading { level, .. } => {
                self.flush();
                self.heading = Some(rank(level));
            }
            Tag::BlockQuote(kind) => {
                self.flush();
                self.flow.gap(GAP);
                self.quote(kind);
            }
            Tag::CodeBlock(kind) => {
                self.flush();
                self.flow.gap(GAP);
                let language = match kind {
                    CodeBlockKind::Indented => None,
                    CodeBlockKind::Fenced(info) => language(&info),
                };
                self.code = Some(Code { text: String::new(), language, places: Vec::new() });
            }
            Tag::MetadataBlock(_) => {
                let language = Some("yaml".to_owned());
                self.code = Some(Code { text: String::new(), language, places: Vec::new() });
            }
            Tag::HtmlBlock => {
                self.flush();
                self.html = Some((String::new(), range.start));
            }
            Tag::List(first) => {
                self.flush();
                let gap = if self.lists.is_empty() { GAP } else { TIGHT_GAP };
                self.flow.gap(gap);
                self.lists.push(first);
                // Numbers need more room than bullets.
                self.flow.indent(if first.is_some() { ITEM + 8.0 } else { ITEM });
            }
            Tag::Item => {
                self.flush();
                self.flow.gap(TIGHT_GAP);
                self.mark_item();
            }
            Tag::FootnoteDefinition(label) => {
                self.flush();
                self.flow.gap(GAP);
                self.flow.indent(ITEM + 26.0);
                let letters =
                    PageStyle::colored(self.flow.style.letters(16.0), self.flow.style.link);
                self.flow.mark(vec![Span::new(format!("[{label}]"), letters)]);
            }
            Tag::Table(aligns) => {
                self.flush();
                let aligns = aligns.into_iter().map(align).collect();
                self.table = Some(Table { aligns, ..Table::default() });
            }
            Tag::TableHead => self.depth.header += 1,
            Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.rows.push(Vec::new());
                }
            }
            Tag::Emphasis => self.depth.emphasis += 1,
            Tag::Strong => self.depth.strong += 1,
            Tag::Strikethrough => self.depth.strike += 1,
            Tag::Link { .. } => self.depth.link += 1,
            Tag::Image { dest_url, .. } => {
                self.picture = Some((dest_url.into_string(), String::new(), range.start));
            }
            _ => {}
        }
    }

    /// Handles the end of an element.
    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => {
                // HTML may have started one that it never ends.
                self.end_heading();
                self.flush();
                self.elements.clear();
                self.flow.gap(GAP);
            }
            TagEnd::Heading(_) => self.end_heading(),
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.flow.end_quote();
                self.flow.gap(GAP);
            }
            TagEnd::CodeBlock | TagEnd::MetadataBlock(_) => {
                if let Some(code) = self.code.take() {
                    self.flow.code(code);
                }
                self.flow.gap(GAP);
            }
            TagEnd::HtmlBlock => {
                if let Some((html, at)) = self.html.take() {
                    self.flow.gap(GAP);
                    self.html(&html, at);
                    self.end_heading();
                    self.flush();
                    self.elements.clear();
                    self.flow.gap(GAP);
                }
            }
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
                self.flow.outdent();
                self.flow.gap(if self.lists.is_empty() { GAP } else { TIGHT_GAP });
            }
            TagEnd::Item => {
                self.end_heading();
                self.flush();
                self.elements.clear();
                // An empty item still shows its marker.
                if self.flow.is_marked() {
                    self.flow.paragraph(&[], Align::Left, Keep::Free);
                }
            }
            TagEnd::FootnoteDefinition => {
                self.flush();
                self.flow.outdent();
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    self.flow.gap(GAP);
                    table::flow(&table, self.flow);
                    self.flow.gap(GAP);
                }
            }
            TagEnd::TableHead => self.depth.header = self.depth.header.saturating_sub(1),
            TagEnd::TableCell => self.end_cell(),
            TagEnd::Emphasis => self.depth.emphasis = self.depth.emphasis.saturating_sub(1),
            TagEnd::Strong => self.depth.strong = self.depth.strong.saturating_sub(1),
            TagEnd::Strikethrough => self.depth.strike = self.depth.strike.saturating_sub(1),
            TagEnd::Link => self.depth.link = self.depth.link.saturating_sub(1),
            TagEnd::Image => self.end_picture(),
            _ => {}
        }
    }

    /// Ends a heading, if one is open.
    pub(super) fn end_heading(&mut self) {
        if let Some(level) = self.heading.take() {
            let spans = std::mem::take(&mut self.spans);
            self.flow.heading(level, &spans);
        }
    }

    /// Ends a cell.
    fn end_cell(&mut self) {
        let spans = std::mem::take(&mut self.spans);
        let Some(table) = &mut self.table else { return };
        match table.rows.last_mut() {
            Some(row) if self.depth.header == 0 => row.push(spans),
            _ => table.head.push(spans),
        }
    }

    /// Starts a quote or alert.
    fn quote(&mut self, kind: Option<BlockQuoteKind>) {
        let [red, green, yellow, blue, magenta, _] = self.flow.style.hues;
        let (title, color) = match kind {
            None => return self.flow.quote(self.flow.style.rule),
            Some(BlockQuoteKind::Note) => ("Note", blue),
            Some(BlockQuoteKind::Tip) => ("Tip", green),
            Some(BlockQuoteKind::Important) => ("Important", magenta),
            Some(BlockQuoteKind::Warning) => ("Warning", yellow),
            Some(BlockQuoteKind::Caution) => ("Caution", red),
        };
        self.flow.quote(color);
        let letters = TextStyle { bold: true, ..self.flow.style.body() };
        let title = Span::new(title, PageStyle::colored(letters, color));
        self.flow.paragraph(&[title], Align::Left, Keep::WithNext);
        self.flow.gap(TIGHT_GAP);
    }

    /// Sets the marker of a list item.
    fn mark_item(&mut self) {
        let letters = self.flow.style.body();
        let depth = self.lists.len();
        let mark = match self.lists.last_mut() {
            Some(Some(number)) => {
                *number = number.saturating_add(1);
                format!("{}.", *number - 1)
            }
            _ => ["•", "◦", "▪"][depth.saturating_sub(1) % 3].to_owned(),
        };
        self.flow.mark(vec![Span::new(mark, letters)]);
    }

    /// Ends the current paragraph.
    pub(super) fn flush(&mut self) {
        let spans = std::mem::take(&mut self.spans);
        if self.table.is_some() || self.heading.is_some() {
            // Cells and headings are not split.
            self.spans = spans;
        } else if spans.iter().any(|span| !span.text.trim().is_empty()) {
            self.flow.paragraph(&spans, Align::Left, Keep::Free);
        }
    }
}

/// The language in the info string of a code fence.
fn language(info: &str) -> Option<String> {
    let first = info.split([' ', ',', '{', '\t', ':']).find(|word| !word.is_empty())?;
    Some(first.trim_start_matches('.').trim_end_matches('}').to_owned())
}

/// The level of a heading as a number.
fn rank(level: HeadingLevel) -> usize {
    level as usize
}

/// The alignment of a column.
fn align(alignment: Alignment) -> Align {
    match alignment {
        Alignment::None | Alignment::Left => Align::Left,
        Alignment::Center => Align::Center,
        Alignment::Right => Align::Right,
    }
}
