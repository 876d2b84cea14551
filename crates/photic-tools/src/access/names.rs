//! Names that are written another way on the disk than in a conversation.
//!
//! macOS writes a narrow no-break space before `PM`, decomposes accents and curls quotes; shells
//! escape spaces; models copy names and lose all of it. Where a step of a path is not there, the
//! one entry of the same folder that differs only in such spelling is meant. Two such entries are
//! a refusal: a guess could show the wrong picture. Must never fold anything into a dot or slash.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use cap_std::fs::Dir;
use unicode_normalization::UnicodeNormalization as _;

use crate::refusal::{Refusal, RefusalCode};
use crate::source::shown;

/// Entries of a folder that are looked at.
const MOST_ENTRIES: usize = 50_000;
/// Candidates that are named.
const MOST_CANDIDATES: usize = 20;

/// Why no one file was meant.
pub(super) enum Missed {
    Absent,
    /// The step of the path, counted from its end, and the entries it could be.
    Ambiguous {
        from_end: usize,
        entries: Vec<String>,
    },
}

impl Missed {
    pub(super) fn refusal(self, source: &str, path: &Path) -> Refusal {
        let Self::Ambiguous { from_end, entries } = self else { return super::absent(source) };
        let steps: Vec<Component<'_>> = path.components().collect();
        let at = steps.len().saturating_sub(from_end + 1);
        let candidate = |entry: &String| {
            let mut candidate: PathBuf = steps[..at].iter().collect();
            candidate.push(entry);
            candidate.extend(&steps[(at + 1).min(steps.len())..]);
            candidate.to_string_lossy().into_owned()
        };
        let candidates = entries.iter().map(candidate).collect();
        Refusal::new(
            RefusalCode::Ambiguous,
            format!("{} files could be meant by `{}`", entries.len(), shown(source)),
            "pass one of the candidates exactly as it is written",
        )
        .with_candidates(candidates)
    }
}

/// The only existing path that is the same as `way` but for its spelling.
pub(super) fn only(dir: &Dir, way: &Path) -> Result<PathBuf, Missed> {
    let steps: Vec<Component<'_>> = way.components().collect();
    let mut found = PathBuf::new();
    for (index, step) in steps.iter().enumerate() {
        let Component::Normal(name) = step else {
            found.push(step);
            continue;
        };
        let exact = found.join(name);
        if dir.symlink_metadata(&exact).is_ok() {
            found = exact;
            continue;
        }
        let wanted = name.to_str().map(|name| folded(&unescaped(name))).ok_or(Missed::Absent)?;
        let mut entries = alike(dir, &found, &wanted);
        match entries.len() {
            0 => return Err(Missed::Absent),
            1 => found.extend(entries.pop()),
            _ => {
                entries.sort();
                entries.truncate(MOST_CANDIDATES);
                let entries = entries.iter().filter_map(|name| name.to_str()).map(str::to_owned);
                let from_end = steps.len() - 1 - index;
                return Err(Missed::Ambiguous { from_end, entries: entries.collect() });
            }
        }
    }
    Ok(found)
}

/// The entries of a folder whose names are that name once spelling is taken away.
fn alike(dir: &Dir, folder: &Path, wanted: &str) -> Vec<OsString> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let Ok(entries) = dir.read_dir(folder) else { return Vec::new() };
    let names = entries.take(MOST_ENTRIES).filter_map(|entry| Some(entry.ok()?.file_name()));
    names.filter(|name| name.to_str().is_some_and(|name| folded(name) == wanted)).collect()
}

/// A name without what gets lost on its way: composed, plain spaces, straight quotes.
fn folded(name: &str) -> String {
    let plain = |c: char| match c {
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        '\u{2018}' | '\u{2019}' | '\u{201b}' => '\'',
        '\u{201c}' | '\u{201d}' | '\u{201f}' => '"',
        other => other,
    };
    name.chars().map(plain).nfc().collect()
}

/// A name without the backslashes a shell wants; one at the end escapes nothing.
fn unescaped(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    let mut characters = name.chars().peekable();
    while let Some(c) = characters.next() {
        match characters.peek() {
            Some(&next) if c == '\\' => {
                plain.push(next);
                characters.next();
            }
            _ => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_becomes_a_dot_or_a_slash() {
        // Of all characters, only those that are these already.
        for c in '\0'..=char::MAX {
            let folded = folded(&c.to_string());
            for special in ['.', '/', '\\', '\0'] {
                assert!(!folded.contains(special) || c == special, "{c:?} becomes {folded:?}");
            }
        }
    }

    #[test]
    fn escapes_go_and_a_last_backslash_stays() {
        assert_eq!(unescaped(r"a\ b\'c"), "a b'c");
        assert_eq!(unescaped(r"a\"), r"a\");
        assert_eq!(unescaped(r"a\\b"), r"a\b");
    }
}
