//! Splits tables in text form into records and fields.

use std::borrow::Cow;
use std::ops::Range;

/// Longest quoted field; a longer quote was not meant as one.
const MAX_QUOTED: usize = 1 << 20;
/// Bytes that are examined to find the delimiter.
const SAMPLE: usize = 64 << 10;

/// The syntax of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    /// The separator of fields.
    pub(super) delimiter: u8,
    pub(super) quotes: Quotes,
}

/// The meaning of quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quotes {
    /// They enclose fields.
    Hold,
    /// They are plain characters, since one of them never ends.
    Literal,
}

/// A record: its bytes without the line end, and its number of fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) bytes: Range<usize>,
    pub(super) fields: usize,
}

/// A field: its text and its offset.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Field<'t> {
    pub(super) text: Cow<'t, str>,
    pub(super) at: usize,
}

/// Finds the delimiter: the one that gives most records the same number of fields.
pub(super) fn delimiter(text: &str, name: Option<&str>) -> u8 {
    if name.is_some_and(|name| name.to_ascii_lowercase().ends_with("tsv")) {
        return b'\t';
    }
    let mut end = text.len().min(SAMPLE);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let sample = &text[..end];
    let score = |delimiter: u8| {
        let mut counts: Vec<usize> =
            records(sample, delimiter, 100).0.iter().map(|record| record.fields).collect();
        counts.sort_unstable();
        let same = counts.chunk_by(|one, other| one == other);
        let same = same.filter(|same| same.first().is_some_and(|fields| *fields > 1));
        same.map(|same| (same.len(), same.first().copied().unwrap_or(0))).max().unwrap_or((0, 0))
    };
    // The best candidates come last, since `max_by_key` returns the last of equals.
    let candidates = [b'|', b'\t', b';', b','];
    candidates.into_iter().max_by_key(|delimiter| score(*delimiter)).unwrap_or(b',')
}

/// The records up to a limit, their syntax, and the end of the last one.
pub(super) fn records(text: &str, delimiter: u8, most: usize) -> (Vec<Record>, Dialect, usize) {
    let mut dialect = Dialect { delimiter, quotes: Quotes::Hold };
    let mut records = Vec::new();
    let mut start = 0;
    while start < text.len() && records.len() < most {
        let Some((end, next, fields)) = record(text.as_bytes(), start, dialect) else {
            dialect.quotes = Quotes::Literal;
            continue;
        };
        if end > start {
            records.push(Record { bytes: start..end, fields });
        }
        start = next;
    }
    (records, dialect, start)
}

/// The end of a record, the start of the next, and the number of fields; `None` for an unclosed
/// quote.
fn record(bytes: &[u8], start: usize, dialect: Dialect) -> Option<(usize, usize, usize)> {
    let mut fields = 1;
    let mut at = start;
    let mut begins = true;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' if begins && dialect.quotes == Quotes::Hold => at = quote_end(bytes, at)?,
            b'\n' => {
                let end = if at > start && bytes[at - 1] == b'\r' { at - 1 } else { at };
                return Some((end, at + 1, fields));
            }
            byte if *byte == dialect.delimiter => {
                fields += 1;
                begins = true;
                at += 1;
                continue;
            }
            _ => {}
        }
        begins = false;
        at += 1;
    }
    Some((bytes.len(), bytes.len(), fields))
}

/// The closing quote of a field.
fn quote_end(bytes: &[u8], open: usize) -> Option<usize> {
    let mut at = open + 1;
    let most = bytes.len().min(open + MAX_QUOTED);
    while at < most {
        match (bytes[at], bytes.get(at + 1)) {
            (b'"', Some(b'"')) => at += 2,
            (b'"', _) => return Some(at),
            _ => at += 1,
        }
    }
    None
}

/// The fields of a record.
pub(super) fn fields<'t>(text: &'t str, record: &Record, dialect: Dialect) -> Vec<Field<'t>> {
    let bytes = text.as_bytes();
    let mut fields = Vec::new();
    let mut at = record.bytes.start;
    loop {
        let start = at;
        let quoted = dialect.quotes == Quotes::Hold && bytes.get(at) == Some(&b'"');
        let closed = if quoted && at < record.bytes.end { quote_end(bytes, at) } else { None };
        if let Some(close) = closed {
            at = close + 1;
        }
        while at < record.bytes.end && bytes[at] != dialect.delimiter {
            at += 1;
        }
        let field = match closed {
            Some(close) if close < record.bytes.end => {
                let inside = &text[start + 1..close];
                let rest = &text[close + 1..at];
                let text = match (inside.contains('"'), rest.is_empty()) {
                    (false, true) => Cow::Borrowed(inside),
                    _ => Cow::Owned(inside.replace("\"\"", "\"") + rest),
                };
                Field { text, at: start + 1 }
            }
            _ => Field { text: Cow::Borrowed(&text[start..at]), at: start },
        };
        fields.push(field);
        if at >= record.bytes.end {
            return fields;
        }
        at += 1;
    }
}

/// Returns `true` if a cell is a number, with or without a unit.
pub(super) fn is_number(cell: &str) -> bool {
    let cell = cell.trim();
    let bare: String =
        cell.chars().filter(|c| !matches!(c, ',' | ' ' | '\u{a0}' | '\'' | '_')).collect();
    let bare = bare.trim_start_matches(['$', '€', '£', '¥', '+']).trim_end_matches(['%', '€', '$']);
    bare.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.')
        && bare.replace('−', "-").parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(text: &str) -> Vec<Vec<String>> {
        let (records, dialect, _) = records(text, delimiter(text, None), usize::MAX);
        let of = |record| fields(text, record, dialect).into_iter().map(|f| f.text.into_owned());
        let cells: Vec<Vec<String>> = records.iter().map(|record| of(record).collect()).collect();
        for (record, cells) in records.iter().zip(&cells) {
            assert_eq!(record.fields, cells.len(), "{text:?}");
        }
        cells
    }

    #[test]
    fn records_and_fields_are_found() {
        assert_eq!(cells("a,b\r\n1,2\r\n"), [["a", "b"], ["1", "2"]]);
        assert_eq!(cells("a;b\n1,5;2"), [["a", "b"], ["1,5", "2"]]);
        assert_eq!(cells("a\tb\n1\t2"), [["a", "b"], ["1", "2"]]);
        assert_eq!(
            cells("\"x, y\",\"say \"\"hi\"\"\"\n\"two\nlines\",z"),
            [["x, y", "say \"hi\""], ["two\nlines", "z"],]
        );
        assert_eq!(cells("a,b,\n\n,,"), [["a", "b", ""], ["", "", ""]]);
        assert_eq!(cells("a,\"never closed\nb,c"), [["a", "\"never closed"], ["b", "c"]]);
        assert_eq!(cells("5\" pipe,b\n6\",c"), [["5\" pipe", "b"], ["6\"", "c"]]);
    }

    #[test]
    fn places_lead_to_the_text() {
        let text = "ab,\"cd\"";
        let (records, dialect, _) = records(text, b',', 9);
        let places: Vec<usize> =
            fields(text, &records[0], dialect).iter().map(|field| field.at).collect();
        assert_eq!(places, [0, 4]);
    }

    #[test]
    fn numbers_are_known() {
        for cell in ["1", "-2.5", "1,234.00", "$9.99", "12%", "1e-9", " 7 ", ".5"] {
            assert!(is_number(cell), "{cell}");
        }
        for cell in ["", "a", "2024-01-02", "1.2.3", "inf", "nan", "-"] {
            assert!(!is_number(cell), "{cell}");
        }
    }
}
