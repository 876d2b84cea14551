//! `list`: shows the files that may be read, with facts from their first bytes.
//!
//! It is how an agent that was told nothing finds a file. Paths are written as the other tools take
//! them: relative in the first root, absolute in the others.

use std::fmt::Write as _;

use serde::Serialize;

use crate::arguments::ListArguments;
use crate::refusal::{Refusal, RefusalCode};
use crate::source::visible;
use crate::tools::{Tools, blocking};

/// Entries of a folder, or of all roots.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Listing {
    /// The folders that were listed, as absolute paths.
    pub folders: Vec<String>,
    /// The entries, by folder and name, as many as one listing holds.
    pub entries: Vec<FolderEntry>,
    /// Number of entries that were found.
    pub total: usize,
    /// Set if every name was looked at; a search ends after 20,000.
    pub complete: bool,
}

/// An entry of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FolderEntry {
    /// The path as the tools take it. Paths of folders end with a slash.
    pub path: String,
    /// The kind: `folder`, or that of the content, such as `PNG` or `text`.
    pub kind: &'static str,
    /// Size in bytes, of files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub byte_size: Option<u64>,
    /// Width and height in pixels, of pictures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<(u32, u32)>,
    /// Number of pages or frames, of pictures that have several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<u32>,
}

impl Tools {
    /// Lists a folder beneath the roots, or the roots.
    pub async fn list(&self, arguments: &ListArguments) -> Result<Listing, Refusal> {
        let arguments = arguments.clone();
        if arguments.name.as_ref().is_some_and(|name| name.contains('/')) {
            return Err(Refusal::new(
                RefusalCode::BadArguments,
                "`name` is a part of a file name, and this one holds a slash",
                "pass the folder as `folder`, and the rest as `name`",
            ));
        }
        blocking(&self.inner, move |inner| {
            let pattern = arguments.name.as_deref().filter(|name| !name.is_empty());
            let pattern = pattern.map(NamePattern::of);
            let folder = arguments.folder.as_deref().filter(|folder| !folder.is_empty());
            inner.roots.list(folder, pattern.as_ref(), inner.bounds.sniff_bytes)
        })
        .await
    }

    /// Returns the paths of the roots, absolute, in their order.
    pub fn roots(&self) -> Vec<String> {
        self.inner.roots.paths()
    }
}

impl Listing {
    /// Returns the listing as text: the folder, then a line for each entry.
    pub fn words(&self) -> String {
        let shown = self.entries.len();
        let count = match (shown == self.total, self.complete) {
            (true, true) => format!("{shown} entries"),
            (_, false) => format!("{shown} entries; there are more: narrow it with `name`"),
            (false, true) => {
                format!("{shown} of {} entries; narrow it with `name`", self.total)
            }
        };
        let folders: Vec<String> = self.folders.iter().map(|folder| visible(folder)).collect();
        let mut words = format!("{}: {count}\n", folders.join(", "));
        for entry in &self.entries {
            let _ = writeln!(words, "{}", entry.words());
        }
        words
    }
}

impl FolderEntry {
    fn words(&self) -> String {
        let mut words = format!("{}  {}", visible(&self.path), self.kind);
        if let Some((width, height)) = self.size {
            let _ = write!(words, " {width}x{height}");
        }
        if let Some(pages) = self.pages {
            let _ = write!(words, ", {pages} pages");
        }
        if let Some(bytes) = self.byte_size {
            let _ = write!(words, ", {}", human(bytes));
        }
        words
    }
}

fn human(bytes: u64) -> String {
    match bytes {
        0..1000 => format!("{bytes} bytes"),
        1000..1_000_000 => format!("{} KB", bytes.div_ceil(1000)),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// A part of a name, or a whole name with `*` for any characters. Case does not matter.
#[derive(Debug)]
pub(crate) struct NamePattern {
    /// The parts between the stars.
    parts: Vec<String>,
}

impl NamePattern {
    fn of(text: &str) -> Self {
        let text = text.to_lowercase();
        // A part of a name may stand anywhere in it.
        let text = if text.contains('*') { text } else { format!("*{text}*") };
        Self { parts: text.split('*').map(str::to_owned).collect() }
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        let [first, middle @ .., last] = self.parts.as_slice() else { return false };
        let Some(mut rest) = name.strip_prefix(first.as_str()) else { return false };
        for part in middle {
            let Some((_, after)) = rest.split_once(part.as_str()) else { return false };
            rest = after;
        }
        rest.ends_with(last.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_a_part_of_a_name_or_a_name_with_stars() {
        for (pattern, name, right) in [
            ("order", "Orders-2026.png", true),
            ("*.png", "a.PNG", true),
            ("*.png", "a.png.txt", false),
            ("a*c*e", "abcde", true),
            ("a*c*e", "abcd", false),
            ("a*a", "a", false),
            ("*", "anything", true),
        ] {
            assert_eq!(NamePattern::of(pattern).matches(name), right, "{pattern} {name}");
        }
    }

    #[test]
    fn a_name_with_a_line_break_cannot_forge_a_line() {
        let path = "a\nsecret.png  PNG".to_owned();
        let entry = FolderEntry { path, kind: "text", ..FolderEntry::default() };
        let listing =
            Listing { entries: vec![entry], total: 1, complete: true, ..Listing::default() };
        assert_eq!(listing.words().lines().count(), 2);
    }
}
