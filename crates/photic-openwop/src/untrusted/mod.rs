//! Marks around what nobody vouches for: `<UNTRUSTED …>` before it, `</UNTRUSTED>` behind it.
//!
//! What stands between them cannot end them, nor begin others: whatever a reader might take for a
//! mark loses its bracket first. Marks are never left out because a text already holds some.

mod defang;

use std::collections::BTreeMap;
use std::fmt::Write as _;

pub use defang::defang;

/// What ends a marked stretch.
pub const CLOSE: &str = "</UNTRUSTED>";

/// What a mark says about what it marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark<'a> {
    /// Where it came from.
    pub source: &'a str,
    /// What it is.
    pub kind: &'a str,
    /// Anything else, told in the order of its names.
    pub attributes: BTreeMap<String, String>,
}

impl<'a> Mark<'a> {
    /// A mark with nothing else to say.
    pub const fn new(source: &'a str, kind: &'a str) -> Self {
        Self { source, kind, attributes: BTreeMap::new() }
    }

    /// What begins a marked stretch.
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

    /// A text between marks.
    pub fn wrap(&self, text: &str) -> String {
        format!("{}\n{}\n{CLOSE}", self.open(), defang(text))
    }
}

/// Whether something can be the name of an attribute.
fn is_name(name: &str) -> bool {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
    begins && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

/// A value that stays inside its quotes and on its line.
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
