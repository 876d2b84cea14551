//! Marks around untrusted content: `<UNTRUSTED …>` before it, `</UNTRUSTED>` after it.
//!
//! The content cannot end its mark or begin another, because everything that looks like a mark
//! loses its bracket first. Content that already contains marks is marked as well.

mod defang;

use std::collections::BTreeMap;
use std::fmt::Write as _;

pub use defang::defang;

/// End of marked content.
pub const CLOSE: &str = "</UNTRUSTED>";

/// Facts that a mark states about its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark<'a> {
    /// The origin.
    pub source: &'a str,
    /// The kind of content.
    pub kind: &'a str,
    /// Other attributes, in the order of their names.
    pub attributes: BTreeMap<String, String>,
}

impl<'a> Mark<'a> {
    /// Creates a mark without further attributes.
    pub const fn new(source: &'a str, kind: &'a str) -> Self {
        Self { source, kind, attributes: BTreeMap::new() }
    }

    /// Returns the beginning of marked content.
    pub fn open(&self) -> String {
        let mut tag = String::from("<UNTRUSTED");
        let own = [("source", self.source), ("type", self.kind)];
        let more = self.attributes.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let more = more.filter(|(name, _)| is_name(name) && !matches!(*name, "source" | "type"));
        for (name, value) in own.into_iter().chain(more) {
            // Writing to a string does not fail.
            let _ = write!(tag, " {name}=\"{}\"", escaped(value));
        }
        tag.push('>');
        tag
    }

    /// Puts a text between marks.
    pub fn wrap(&self, text: &str) -> String {
        format!("{}\n{}\n{CLOSE}", self.open(), defang(text))
    }
}

/// Returns whether a text can be the name of an attribute.
fn is_name(name: &str) -> bool {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
    begins && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

/// Escapes a value so that it stays inside its quotes and on its line.
fn escaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in defang(value).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_escaped_and_in_order() {
        let mut mark = Mark::new("a\"b", "x<y&z>\n");
        for (name, value) in [("tool", "search"), ("b", "2"), ("source", "no"), ("a b", "no")] {
            mark.attributes.insert(name.to_owned(), value.to_owned());
        }
        let open =
            "<UNTRUSTED source=\"a&quot;b\" type=\"x&lt;y&amp;z&gt; \" b=\"2\" tool=\"search\">";
        assert_eq!(mark.open(), open);
    }
}
