//! Scans JSON text in one pass and records the start and end of every value.
//!
//! It reads two levels of quoting: a plain body, and JSON inside a JSON string (every quote
//! written `\"`). So an image in a stringified tool result is found without unescaping megabytes.
//! The scan never allocates per byte and never recurses.

use memchr::{memchr, memchr2};

use super::base64_run::base64_run;

/// The kind of a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A string.
    String,
    /// A list.
    Array,
    /// An object.
    Object,
}

/// One value: its span, and the index of the node that follows its subtree.
///
/// Children of an object alternate key, value, key, value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) next: u32,
    pub(crate) kind: Kind,
    pub(crate) flags: u8,
}

/// The string holds at least one escape sequence.
pub(crate) const ESCAPED: u8 = 1;
/// Past its first [`PROBE`] bytes the string is base64 to its end, padding included.
pub(crate) const BASE64_TAIL: u8 = 2;

/// Number of bytes of a string that are searched for its end before it is suspected to be base64.
pub(crate) const PROBE: usize = 256;

/// Number of bytes of a string that are looked at one by one.
const SHORT: usize = 12;

/// The way a text quotes its strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quoting {
    /// Plain JSON: a quote is `"`.
    Plain,
    /// JSON inside a JSON string: a quote is `\"`.
    Escaped,
}

impl Quoting {
    /// Returns the number of bytes of one quotation mark.
    pub(crate) const fn quote_len(self) -> usize {
        match self {
            Self::Plain => 1,
            Self::Escaped => 2,
        }
    }
}

/// The position and the reason at which the text stopped being JSON that can be indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stop {
    pub(crate) at: usize,
    pub(crate) why: &'static str,
}

impl Stop {
    const TOO_MANY: &'static str = "more values than its length allows";
    const TOO_LONG: &'static str = "longer than 4 GiB";

    /// Returns `true` if the text may be JSON but exceeds a limit of the scan.
    pub(crate) fn is_too_much(self) -> bool {
        self.why == Self::TOO_MANY || self.why == Self::TOO_LONG
    }
}

/// The long runs of base64 that a scan met in a text, each with its start and end.
///
/// JSON within a string is scanned a second time. With this list, the second scan skips the
/// megabytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Runs<'r> {
    /// The runs, in order.
    pub(crate) list: &'r [(u32, u32)],
    /// Offset of the scanned text within the text that the list belongs to.
    pub(crate) base: usize,
}

/// The result of a scan.
#[derive(Debug)]
pub(crate) struct Scanned {
    pub(crate) nodes: Vec<Node>,
    pub(crate) runs: Vec<(u32, u32)>,
}

/// Minimum length of a run that is recorded.
pub(crate) const LONG_RUN: usize = 4096;

/// Returns the maximum number of values, keys included, in a text of a length.
///
/// A body may be all punctuation, and its index must stay within a few times its own size. A node
/// takes sixteen bytes, so this is at most 6.4 bytes of index for each byte of text. Bytes spelled
/// as lists of numbers, which some SDKs send, take a node for every three or four bytes of text.
pub(crate) fn most_values(length: usize) -> usize {
    (length / 5 * 2).max(1 << 16)
}

/// Scans one JSON value that must fill the whole text.
pub(crate) fn scan(text: &[u8], quoting: Quoting, known: Runs<'_>) -> Result<Scanned, Stop> {
    if text.len() >= u32::MAX as usize {
        return Err(Stop { at: 0, why: Stop::TOO_LONG });
    }
    let mut scanner = Scanner {
        text,
        at: 0,
        quoting,
        // Enough for most bodies of words. Bodies of megabytes are mostly pictures.
        nodes: Vec::with_capacity(((text.len() - known.covered(text.len())) / 24).min(1 << 14)),
        open: Vec::new(),
        runs: Vec::new(),
        known,
        most_nodes: most_values(text.len()),
    };
    scanner.document()?;
    Ok(Scanned { nodes: scanner.nodes, runs: scanner.runs })
}

struct Scanner<'t> {
    text: &'t [u8],
    at: usize,
    quoting: Quoting,
    nodes: Vec<Node>,
    /// Containers that are still open, innermost last.
    open: Vec<u32>,
    runs: Vec<(u32, u32)>,
    known: Runs<'t>,
    most_nodes: usize,
}

/// The tokens that the grammar allows next.
#[derive(Clone, Copy)]
enum Expect {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    CommaOrEnd,
}

impl Scanner<'_> {
    fn document(&mut self) -> Result<(), Stop> {
        let mut expect = Expect::Value;
        loop {
            self.skip_space();
            let Some(&byte) = self.text.get(self.at) else {
                return Err(self.stop("ends too early"));
            };
            expect = match (expect, byte) {
                (Expect::ValueOrEnd | Expect::CommaOrEnd, b']') => self.close(Kind::Array)?,
                (Expect::KeyOrEnd | Expect::CommaOrEnd, b'}') => self.close(Kind::Object)?,
                (Expect::CommaOrEnd, b',') => {
                    self.at += 1;
                    if self.innermost() == Some(Kind::Object) { Expect::Key } else { Expect::Value }
                }
                (Expect::CommaOrEnd, _) => return Err(self.stop("expected a comma or an end")),
                (Expect::Key | Expect::KeyOrEnd, _) => {
                    self.string()?;
                    self.skip_space();
                    if self.text.get(self.at) != Some(&b':') {
                        return Err(self.stop("expected a colon"));
                    }
                    self.at += 1;
                    Expect::Value
                }
                (Expect::Value | Expect::ValueOrEnd, _) => self.value(byte)?,
            };
            if self.open.is_empty() {
                break;
            }
        }
        self.skip_space();
        if self.at == self.text.len() { Ok(()) } else { Err(self.stop("text after the value")) }
    }

    fn value(&mut self, first: u8) -> Result<Expect, Stop> {
        match first {
            b'{' => self.open(Kind::Object, Expect::KeyOrEnd),
            b'[' => self.open(Kind::Array, Expect::ValueOrEnd),
            b'"' | b'\\' => {
                self.string()?;
                Ok(Expect::CommaOrEnd)
            }
            b'-' | b'0'..=b'9' => {
                let digits = self.text[self.at..]
                    .iter()
                    .take_while(|b| matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))
                    .count();
                self.leaf(Kind::Number, digits)
            }
            b't' => self.literal(b"true", Kind::Bool),
            b'f' => self.literal(b"false", Kind::Bool),
            b'n' => self.literal(b"null", Kind::Null),
            _ => Err(self.stop("expected a value")),
        }
    }

    fn literal(&mut self, word: &[u8], kind: Kind) -> Result<Expect, Stop> {
        if self.text[self.at..].starts_with(word) {
            self.leaf(kind, word.len())
        } else {
            Err(self.stop("expected a value"))
        }
    }

    fn leaf(&mut self, kind: Kind, length: usize) -> Result<Expect, Stop> {
        let start = self.at;
        self.at += length;
        self.push(kind, start, self.at, 0)?;
        Ok(Expect::CommaOrEnd)
    }

    fn open(&mut self, kind: Kind, then: Expect) -> Result<Expect, Stop> {
        self.open.push(self.nodes.len() as u32);
        self.push(kind, self.at, 0, 0)?;
        self.at += 1;
        Ok(then)
    }

    fn close(&mut self, kind: Kind) -> Result<Expect, Stop> {
        match self.open.pop() {
            Some(index) if self.nodes[index as usize].kind == kind => {
                self.at += 1;
                let next = self.nodes.len() as u32;
                let node = &mut self.nodes[index as usize];
                node.end = self.at as u32;
                node.next = next;
                Ok(Expect::CommaOrEnd)
            }
            _ => Err(self.stop("closes what is not open")),
        }
    }

    fn innermost(&self) -> Option<Kind> {
        self.open.last().map(|&index| self.nodes[index as usize].kind)
    }

    fn push(&mut self, kind: Kind, start: usize, end: usize, flags: u8) -> Result<(), Stop> {
        if self.nodes.len() >= self.most_nodes {
            return Err(self.stop(Stop::TOO_MANY));
        }
        let next = self.nodes.len() as u32 + 1;
        self.nodes.push(Node { start: start as u32, end: end as u32, next, kind, flags });
        Ok(())
    }

    fn string(&mut self) -> Result<(), Stop> {
        let start = self.at;
        let opens = match self.quoting {
            Quoting::Plain => self.text[start..].starts_with(b"\""),
            Quoting::Escaped => self.text[start..].starts_with(b"\\\""),
        };
        if !opens {
            return Err(self.stop("expected a string"));
        }
        let inside = start + self.quoting.quote_len();
        let (end, flags) = match self.quoting {
            Quoting::Plain => self.plain_string_end(inside),
            Quoting::Escaped => self.escaped_string_end(inside),
        }
        .ok_or(Stop { at: start, why: "a string that does not end" })?;
        self.at = end;
        self.push(Kind::String, start, end, flags)
    }

    fn skip_space(&mut self) {
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                // Pretty-printed JSON inside a string has its line breaks escaped.
                b'\\' if self.quoting == Quoting::Escaped => match self.text.get(self.at + 1) {
                    Some(b'n' | b'r' | b't') => self.at += 2,
                    _ => return,
                },
                _ => return,
            }
        }
    }

    const fn stop(&self, why: &'static str) -> Stop {
        Stop { at: self.at, why }
    }

    /// Finds the end of a string (past the quote) whose contents begin at `inside`. Returns it
    /// with the string's flags.
    fn plain_string_end(&mut self, inside: usize) -> Option<(usize, u8)> {
        let text = self.text;
        // Keys, roles and types are short: a search by vectors takes longer to begin than these take.
        let short = text[inside..].iter().take(SHORT).position(|byte| matches!(byte, b'"' | b'\\'));
        if let Some(length) = short.filter(|length| text[inside + length] == b'"') {
            return Some((inside + length + 1, 0));
        }
        let mut at = inside;
        let mut flags = 0;
        let mut window = PROBE;
        loop {
            let stop = (at + window).min(text.len());
            match memchr2(b'"', b'\\', &text[at..stop]) {
                Some(found) if text[at + found] == b'"' => return Some((at + found + 1, flags)),
                Some(found) => {
                    flags |= ESCAPED;
                    at += found + 2;
                    if at > text.len() {
                        return None;
                    }
                }
                None if stop == text.len() => return None,
                None => {
                    let (run, padding) = self.padded_run(stop);
                    at = stop + run + padding;
                    if text.get(at) == Some(&b'"') {
                        if stop == inside + PROBE {
                            flags |= BASE64_TAIL;
                        }
                        return Some((at + 1, flags));
                    }
                    // Prose: look further before suspecting base64 again.
                    window = (window * 2).min(1 << 20);
                }
            }
        }
    }

    /// Works like [`Self::plain_string_end`], for text where the closing quote reads `\"` and
    /// every inner escape begins with `\\`.
    fn escaped_string_end(&mut self, inside: usize) -> Option<(usize, u8)> {
        let text = self.text;
        let mut at = inside;
        let mut flags = 0;
        let mut window = PROBE;
        loop {
            let stop = (at + window).min(text.len());
            match memchr(b'\\', &text[at..stop]) {
                Some(found) => {
                    at += found;
                    match text.get(at + 1)? {
                        b'"' => return Some((at + 2, flags)),
                        // An inner escape: the backslash pair, then one inner character.
                        b'\\' => at += if text.get(at + 2)? == &b'\\' { 4 } else { 3 },
                        // `\u` could spell a quote or a backslash. The caller unescapes the text
                        // and scans it again.
                        b'u' => return None,
                        _ => at += 2,
                    }
                    flags |= ESCAPED;
                    if at > text.len() {
                        return None;
                    }
                }
                None if stop == text.len() => return None,
                None => {
                    let (run, padding) = self.padded_run(stop);
                    at = stop + run + padding;
                    if text[at..].starts_with(b"\\\"") {
                        if stop == inside + PROBE {
                            flags |= BASE64_TAIL;
                        }
                        return Some((at + 2, flags));
                    }
                    window = (window * 2).min(1 << 20);
                }
            }
        }
    }

    /// Returns the length of the base64 run that begins at `at`, and of the padding behind it (at
    /// most two).
    fn padded_run(&mut self, at: usize) -> (usize, usize) {
        let run = self.known.length_at(at).unwrap_or_else(|| base64_run(&self.text[at..]));
        if run >= LONG_RUN {
            self.runs.push((at as u32, (at + run) as u32));
        }
        let after = &self.text[at + run..];
        (run, after.iter().take(2).take_while(|&&byte| byte == b'=').count())
    }
}

impl Runs<'_> {
    /// Returns the length of the rest of the known run that covers `at`.
    fn length_at(&self, at: usize) -> Option<usize> {
        let at = (self.base + at) as u32;
        let index = self.list.partition_point(|&(_, end)| end <= at);
        let &(start, end) = self.list.get(index)?;
        (start <= at).then_some((end - at) as usize)
    }

    /// Returns how many of the first `length` bytes of the scanned text are in known runs.
    fn covered(&self, length: usize) -> usize {
        let (from, to) = (self.base as u32, (self.base + length) as u32);
        let first = self.list.partition_point(|&(_, end)| end <= from);
        let within = self.list[first..].iter().take_while(|&&(start, _)| start < to);
        within.map(|&(start, end)| (end.min(to) - start.max(from)) as usize).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str, quoting: Quoting) -> Result<Vec<Kind>, Stop> {
        scan(text.as_bytes(), quoting, Runs::default())
            .map(|scanned| scanned.nodes.iter().map(|node| node.kind).collect())
    }

    #[test]
    fn known_runs_are_counted_where_they_overlap_the_text() {
        let list = [(0, 10), (20, 30), (40, 50)];
        let covered = |base, length| Runs { list: &list, base }.covered(length);
        assert_eq!(
            [covered(0, 60), covered(5, 20), covered(10, 10), covered(45, 3)],
            [30, 10, 0, 3]
        );
        assert_eq!(Runs::default().covered(100), 0);
    }

    #[test]
    fn indexes_nested_values_in_document_order() {
        use Kind::{Array, Bool, Null, Number, Object, String};
        assert_eq!(
            kinds(r#" {"a":[1,-2.5e3,true],"b":{"c":null}} "#, Quoting::Plain),
            Ok(vec![Object, String, Array, Number, Number, Bool, String, Object, String, Null])
        );
    }

    #[test]
    fn agrees_with_serde_on_what_is_json() {
        for text in [
            "",
            " ",
            "{",
            "}",
            "[",
            "[]",
            "{}",
            "[1,]",
            "[,1]",
            r#"{"a"}"#,
            r#"{"a":}"#,
            "nul",
            r#"{"a":1,}"#,
            r#"{"a":1 "b":2}"#,
            r#""abc"#,
            r#""a\"#,
            r#""a\""#,
            "[1]]",
            "[}",
            "{]",
            r#"[{"a":[]}]"#,
            "1 2",
            r#""\\""#,
            r#"["\"",""]"#,
            "[true,false,null]",
            "{\"a\":1}\n",
        ] {
            assert_eq!(
                scan(text.as_bytes(), Quoting::Plain, Runs::default()).is_ok(),
                serde_json::from_str::<serde_json::Value>(text).is_ok(),
                "{text}"
            );
        }
    }

    #[test]
    fn reads_json_inside_a_string_as_it_stands() {
        let inner =
            serde_json::json!([{"type": "image", "data": "QUJD".repeat(300), "t": "a\"b\\"}]);
        for inner in [inner.to_string(), serde_json::to_string_pretty(&inner).unwrap()] {
            let outer = serde_json::to_string(&inner).unwrap();
            let nodes =
                scan(&outer.as_bytes()[1..outer.len() - 1], Quoting::Escaped, Runs::default())
                    .unwrap()
                    .nodes;
            let plain = scan(inner.as_bytes(), Quoting::Plain, Runs::default()).unwrap().nodes;
            assert_eq!(
                nodes.iter().map(|n| (n.kind, n.next, n.flags)).collect::<Vec<_>>(),
                plain.iter().map(|n| (n.kind, n.next, n.flags)).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn flags_a_base64_tail_only_when_it_reaches_the_end() {
        let flags = |string: &str| {
            scan(serde_json::to_string(string).unwrap().as_bytes(), Quoting::Plain, Runs::default())
                .unwrap()
                .nodes[0]
                .flags
        };
        assert_eq!(flags(&"QUJD".repeat(500)), BASE64_TAIL);
        assert_eq!(flags(&format!("data:image/png;base64,{}==", "QUJD".repeat(500))), BASE64_TAIL);
        assert_eq!(flags(&format!("{} and more", "QUJD".repeat(500))), 0);
        assert_eq!(flags(&format!("{}===", "QUJD".repeat(500))), 0);
        assert_eq!(flags(&"QUJD".repeat(10)), 0);
        assert_eq!(flags(&format!("{}\n", "QUJD".repeat(500))) & BASE64_TAIL, 0);
    }

    #[test]
    fn deep_nesting_neither_recurses_nor_explodes() {
        let deep = "[".repeat(2_000_000);
        assert!(scan(deep.as_bytes(), Quoting::Plain, Runs::default()).is_err());
        let deep = "[".repeat(200_000) + &"]".repeat(200_000);
        assert!(
            scan(deep.as_bytes(), Quoting::Plain, Runs::default()).is_err(),
            "more nodes than allowed"
        );
        let fits = "[".repeat(60_000) + &"]".repeat(60_000);
        assert!(scan(fits.as_bytes(), Quoting::Plain, Runs::default()).is_ok());
    }
}
