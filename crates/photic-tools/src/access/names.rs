//! Matches file names that are spelled differently on disk and in a conversation.
//!
//! macOS writes a narrow no-break space before `PM`, decomposes accents and uses curly quotes;
//! shells escape spaces; models lose such details when they copy names. If a path component does
//! not exist, the only entry of its folder that differs in spelling alone is taken. Two such
//! entries are refused, because a guess could show the wrong picture. Folding never produces a dot
//! or slash.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use cap_std::fs::Dir;
use unicode_normalization::UnicodeNormalization as _;

use crate::refusal::{Refusal, RefusalCode};
use crate::source::shown;

/// Largest number of folder entries that are compared.
const MAX_ENTRIES: usize = 50_000;
/// Largest number of candidates in a refusal.
const MAX_CANDIDATES: usize = 20;

/// Reason why no single file matches.
pub(super) enum NoMatch {
    Absent,
    /// Position of the path component, counted from the end, and its matching entries.
    Ambiguous {
        from_end: usize,
        entries: Vec<String>,
    },
}

impl NoMatch {
    pub(super) fn refusal(self, source: &str, path: &Path) -> Refusal {
        let Self::Ambiguous { from_end, entries } = self else {
            return super::absent(source, Vec::new());
        };
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

/// Finds the only existing path that differs from `way` in spelling alone.
pub(super) fn only(dir: &Dir, way: &Path) -> Result<PathBuf, NoMatch> {
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
        let wanted = name.to_str().map(|name| folded(&unescaped(name))).ok_or(NoMatch::Absent)?;
        let mut entries = alike(dir, &found, &wanted);
        match entries.len() {
            0 => return Err(NoMatch::Absent),
            1 => found.extend(entries.pop()),
            _ => {
                entries.sort();
                entries.truncate(MAX_CANDIDATES);
                let entries = entries.iter().filter_map(|name| name.to_str()).map(str::to_owned);
                let from_end = steps.len() - 1 - index;
                return Err(NoMatch::Ambiguous { from_end, entries: entries.collect() });
            }
        }
    }
    Ok(found)
}

/// Returns the entries of a folder that match a folded name.
fn alike(dir: &Dir, folder: &Path, wanted: &str) -> Vec<OsString> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let Ok(entries) = dir.read_dir(folder) else { return Vec::new() };
    let names = entries.take(MAX_ENTRIES).filter_map(|entry| Some(entry.ok()?.file_name()));
    names.filter(|name| name.to_str().is_some_and(|name| folded(name) == wanted)).collect()
}

/// Folds a name: composed accents, plain spaces, straight quotes.
pub(super) fn folded(name: &str) -> String {
    let plain = |c: char| match c {
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        '\u{2018}' | '\u{2019}' | '\u{201b}' => '\'',
        '\u{201c}' | '\u{201d}' | '\u{201f}' => '"',
        other => other,
    };
    name.chars().map(plain).nfc().collect()
}

/// Removes the backslashes of shell escapes. A final backslash stays.
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
        // Checks every character.
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
