//! Lays out a table of records on pages, also side by side if there are many columns.
//!
//! Column widths come from the first records, heights from all records; only the records of one
//! page become strips.

use super::csv::{self, Dialect, Field, Record};
use super::flow::Flow;
use super::page_style::{Leading, PageStyle, SMALL};
use super::pages::ROOM;
use super::span::{self, SourceOffset, Span};
use super::strip::{Align, Cell, Content, Keep, Role, TableRow};
use super::table::{PAD, PAD_ABOVE, shorten, widths};
use super::wrap;
use crate::page::{LeftOut, Missing};
use crate::request::Request;
use crate::text::canvas::TextStyle;

/// Largest number of records.
const MAX_RECORDS: usize = 200_000;
/// Number of records that are examined for widths and numbers.
const SAMPLE: usize = 300;
/// Largest number of characters of a cell.
const MAX_CHARACTERS: usize = 600;
/// Largest number of rows of a cell.
const MAX_LINES: usize = 4;
/// Widest column if others need the room.
const MAX_COLUMN_WIDTH: f64 = 360.0;
/// Largest number of pages side by side.
const MAX_GROUPS: usize = 12;
/// Size of the caption.
const CAPTION_SIZE: f32 = 16.0;

/// A table cut into pages.
pub(super) struct RecordTable<'t> {
    text: &'t str,
    records: Vec<Record>,
    dialect: Dialect,
    /// `true` if the first record names the columns.
    named: bool,
    columns: Vec<Column>,
    /// The columns of each page from left to right.
    groups: Vec<std::ops::Range<usize>>,
    /// The records of each page from top to bottom.
    bands: Vec<std::ops::Range<usize>>,
    /// Width of the column of row numbers.
    numbers: f64,
    all_columns: usize,
    complete: bool,
}

/// A column.
#[derive(Clone, Copy)]
struct Column {
    width: f64,
    align: Align,
}

impl<'t> RecordTable<'t> {
    /// Reads the table and cuts it into pages.
    pub(super) fn new(text: &'t str, request: &Request<'_>, flow: &mut Flow<'_>) -> Self {
        let delimiter = csv::delimiter(text, request.wanted.name.as_deref());
        let (records, dialect, end) = csv::records(text, delimiter, MAX_RECORDS);
        let all_columns = records.iter().map(|record| record.fields).max().unwrap_or(0);
        let mut sheet = Self {
            text,
            records,
            dialect,
            named: false,
            columns: Vec::new(),
            groups: Vec::new(),
            bands: Vec::new(),
            numbers: 0.0,
            all_columns,
            complete: end >= text.len(),
        };
        sheet.find_columns(flow);
        sheet.find_bands(flow);
        sheet
    }

    /// The number of pages.
    pub(super) fn pages(&self) -> usize {
        self.bands.len() * self.groups.len()
    }

    /// The fields of a record.
    fn fields(&self, record: &Record) -> Vec<Field<'t>> {
        csv::fields(self.text, record, self.dialect)
    }

    /// Finds the widths of columns, their alignment, and their pages.
    fn find_columns(&mut self, flow: &mut Flow<'_>) {
        let letters = flow.style.letters(SMALL);
        let bold = TextStyle { bold: true, ..letters };
        // No more columns than could fit on all pages.
        let most = self.all_columns.min(MAX_GROUPS * 20);
        let mut wishes = vec![(0.0_f64, 0.0_f64); most];
        let mut numbers = vec![(0_usize, 0_usize); most];
        let sample: Vec<Vec<Field<'_>>> =
            self.records.iter().take(SAMPLE).map(|record| self.fields(record)).collect();
        let head = sample.first().map_or(&[][..], Vec::as_slice);
        self.named = sample.len() > 1
            && head.iter().all(|field| !csv::is_number(&field.text))
            && head.iter().any(|field| !field.text.trim().is_empty());
        for (index, fields) in sample.iter().enumerate() {
            let is_head = self.named && index == 0;
            for (column, field) in fields.iter().enumerate().take(most) {
                let spans = cell(field, if is_head { bold } else { letters });
                let (line, word) = wrap::widths(&spans, &mut flow.measure);
                wishes[column].0 = wishes[column].0.max(line);
                wishes[column].1 = wishes[column].1.max(word.min(MAX_COLUMN_WIDTH));
                if !is_head && !field.text.trim().is_empty() {
                    numbers[column].0 += usize::from(csv::is_number(&field.text));
                    numbers[column].1 += 1;
                }
            }
        }
        let digits = self.records.len().to_string();
        let faint = flow.style.letters(CAPTION_SIZE);
        self.numbers = flow.measure.text(&digits, &faint).max(24.0) + 2.0 * PAD;
        let room = flow.right - flow.left - self.numbers;
        let widths = self.group(&wishes, room);
        let align = |(numbers, all): &(usize, usize)| {
            if *numbers * 5 >= *all * 4 && *numbers > 0 { Align::Right } else { Align::Left }
        };
        let columns = widths.into_iter().zip(&numbers);
        self.columns = columns.map(|(width, n)| Column { width, align: align(n) }).collect();
    }

    /// Puts columns on one page if their words fit, otherwise on several.
    fn group(&mut self, wishes: &[(f64, f64)], room: f64) -> Vec<f64> {
        let words: f64 = wishes.iter().map(|(_, word)| word + 2.0 * PAD + 1.0).sum();
        if words <= room && wishes.len() == self.all_columns {
            self.groups.push(0..wishes.len());
            return widths(wishes, room);
        }
        let single = |(line, word): &(f64, f64)| {
            (line.min(MAX_COLUMN_WIDTH).max(*word) + 2.0 * PAD + 1.0).clamp(52.0, room)
        };
        let widths: Vec<f64> = wishes.iter().map(single).collect();
        let (mut start, mut taken) = (0, 0.0);
        for (column, width) in widths.iter().enumerate() {
            if taken + width > room && column > start {
                self.groups.push(start..column);
                (start, taken) = (column, 0.0);
            }
            taken += width;
        }
        self.groups.push(start..widths.len());
        self.groups.truncate(MAX_GROUPS);
        widths
    }

    /// Finds the records of each page.
    fn find_bands(&mut self, flow: &mut Flow<'_>) {
        let shown = self.groups.last().map_or(0, |group| group.end);
        let leading = Leading::of(SMALL);
        let high = |lines: usize| lines as f64 * leading.height + 2.0 * PAD_ABOVE;
        let first = usize::from(self.named);
        let head = match self.records.first() {
            Some(record) if self.named => high(self.lines(record, shown, flow)),
            _ => 0.0,
        };
        let room = ROOM - Leading::of(CAPTION_SIZE).height - 6.0 - head;
        let (mut start, mut taken) = (first, 0.0);
        for index in first..self.records.len() {
            let height = high(self.lines(&self.records[index], shown, flow));
            if taken + height > room && index > start {
                self.bands.push(start..index);
                (start, taken) = (index, 0.0);
            }
            taken += height;
        }
        if start < self.records.len() || self.bands.is_empty() {
            self.bands.push(start..self.records.len());
        }
    }

    /// The number of rows of the highest cell of a record.
    fn lines(&self, record: &Record, shown: usize, flow: &mut Flow<'_>) -> usize {
        let letters = flow.style.letters(SMALL);
        let mut most = 1;
        for (field, column) in self.fields(record).iter().zip(&self.columns).take(shown) {
            let width = column.width - 2.0 * PAD;
            let short = field.text.len() <= MAX_CHARACTERS && !field.text.contains('\n');
            if short && flow.measure.text(&field.text, &letters) <= width {
                continue;
            }
            let lines = wrap::lines(&cell(field, letters), width, &mut flow.measure);
            most = most.max(lines.len().min(MAX_LINES));
        }
        most
    }

    /// Lays out a page, from 0.
    pub(super) fn flow(&self, page: usize, flow: &mut Flow<'_>) {
        let band = self.bands[page / self.groups.len()].clone();
        let group = self.groups[page % self.groups.len()].clone();
        self.caption(&band, &group, flow);
        if self.named {
            self.row(0, &group, Role::Head, flow);
        }
        for index in band {
            self.row(index, &group, Role::Body, flow);
        }
        let end = self.groups.last().map_or(0, |group| group.end);
        if end < self.all_columns {
            let says = format!("columns {} to {}", end + 1, self.all_columns);
            flow.left_out.push(LeftOut::new(Missing::Rest, &says));
        }
        if !self.complete {
            let says = format!("the records after the first {}", self.records.len());
            flow.left_out.push(LeftOut::new(Missing::Rest, &says));
        }
    }

    /// Adds a caption that tells which part of the table is shown.
    fn caption(
        &self,
        band: &std::ops::Range<usize>,
        group: &std::ops::Range<usize>,
        flow: &mut Flow<'_>,
    ) {
        let first = usize::from(self.named);
        let count = self.records.len() - first;
        let more = if self.complete { "" } else { "more than " };
        let rows = match band.len() {
            0 => "no rows".to_owned(),
            _ => format!("rows {}–{} of {more}{count}", band.start + 1 - first, band.end - first),
        };
        let columns = self.all_columns;
        let says = if self.groups.len() > 1 || group.end < columns {
            format!("{rows} · columns {}–{} of {columns}", group.start + 1, group.end)
        } else {
            rows
        };
        let letters = PageStyle::colored(flow.style.letters(CAPTION_SIZE), flow.style.faint);
        flow.paragraph(&[Span::new(says, letters)], Align::Left, Keep::WithNext);
        flow.gap(6.0);
    }

    /// Adds a row.
    fn row(&self, index: usize, group: &std::ops::Range<usize>, role: Role, flow: &mut Flow<'_>) {
        let Some(record) = self.records.get(index) else { return };
        let letters = flow.style.letters(SMALL);
        let letters = TextStyle { bold: role == Role::Head, ..letters };
        let faint = PageStyle::colored(flow.style.letters(CAPTION_SIZE), flow.style.faint);
        let number = match role {
            Role::Head => String::new(),
            Role::Body => (index + 1 - usize::from(self.named)).to_string(),
        };
        let left = flow.left;
        let mut edge = left + self.numbers;
        let mut cells = vec![Cell {
            left: left + PAD,
            right: edge - PAD,
            align: Align::Right,
            lines: vec![vec![Span::new(number, faint)]],
        }];
        let fields = self.fields(record);
        let shown = self.groups.last().map_or(0, |group| group.end);
        let highest = self.lines(record, shown, flow);
        for column in group.clone() {
            let Column { width, align } = self.columns[column];
            let (from, to) = (edge + PAD, edge + width - PAD);
            edge += width;
            let spans = fields.get(column).map(|field| cell(field, letters)).unwrap_or_default();
            let mut lines = wrap::lines(&spans, to - from, &mut flow.measure);
            if shorten(&mut lines, MAX_LINES, to - from, &mut flow.measure) {
                flow.left_out.push(LeftOut::new(Missing::Rest, "the ends of long cells"));
            }
            cells.push(Cell { left: from, right: to, align, lines });
        }
        let leading = Leading::of(SMALL);
        let height = highest as f64 * leading.height + 2.0 * PAD_ABOVE;
        let row = TableRow { cells, left, right: edge, leading, role };
        flow.push(height, Keep::Free, Content::Row(row));
    }
}

/// The text of a cell; a very long one is cut first.
fn cell(field: &Field<'_>, letters: TextStyle) -> Vec<Span> {
    let text = field.text.as_ref();
    let end = text.char_indices().nth(MAX_CHARACTERS).map_or(text.len(), |(at, _)| at);
    let mut spans = Vec::new();
    span::push(&mut spans, text[..end].trim_end(), letters, SourceOffset::Verbatim(field.at));
    spans
}
