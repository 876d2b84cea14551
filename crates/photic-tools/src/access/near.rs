//! Finds files whose names are near to one that does not exist: spelled alike, or in another
//! folder.
//!
//! Only names are read, never files, and only beneath the roots. The search is bounded, does not
//! follow links, and gives the same candidates in the same order each time.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Component, Path, PathBuf};

use cap_std::fs::{Dir, FileType};

use super::names::folded;

/// Largest number of candidates.
const MAX_CANDIDATES: usize = 5;
/// Largest number of names that a search compares.
pub(super) const MAX_VISITED: usize = 20_000;
/// Largest number of folders below each other.
const MAX_DEPTH: usize = 8;
/// Largest number of characters of a name that is compared.
const MAX_CHARACTERS: usize = 120;

/// Returns the files, or folders, whose names are near to the last name of `way`: in its folder, and
/// below `base`.
pub(super) fn near(
    dir: &Dir,
    way: &Path,
    base: Option<&Path>,
    wanted: fn(FileType) -> bool,
) -> Vec<PathBuf> {
    let Some(Component::Normal(name)) = way.components().next_back() else { return Vec::new() };
    let Some(name) = name.to_str().filter(|name| name.chars().count() <= MAX_CHARACTERS) else {
        return Vec::new();
    };
    let folder = way.parent().unwrap_or(Path::new(""));
    let mut found = BTreeSet::new();
    let mut budget = MAX_VISITED;
    for (path, kind) in entries(dir, folder, &mut budget).unwrap_or_default() {
        if wanted(kind)
            && let Some(distance) = distance_of(name, &path)
        {
            found.insert((distance, 0, path));
        }
    }
    for (path, kind) in base.map(|base| below(dir, base, &mut budget)).unwrap_or_default() {
        // In another folder, one letter may differ: a longer list would only be noise.
        if wanted(kind) && path.parent() != Some(folder) {
            let distance = distance_of(name, &path).filter(|distance| *distance <= 1);
            found.extend(distance.map(|distance| (distance, 1, path)));
        }
    }
    found.into_iter().take(MAX_CANDIDATES).map(|(.., path)| path).collect()
}

/// Returns everything below a folder, level by level, each folder by name. Hidden folders and links
/// are not entered.
pub(super) fn below(dir: &Dir, base: &Path, budget: &mut usize) -> Vec<(PathBuf, FileType)> {
    let mut all = Vec::new();
    let mut folders = VecDeque::from([(base.to_owned(), 0)]);
    while let Some((folder, depth)) = folders.pop_front() {
        let Ok(here) = entries(dir, &folder, budget) else { continue };
        for (path, kind) in here {
            let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes()[0] == b'.');
            if kind.is_dir() && !hidden && depth < MAX_DEPTH {
                folders.push_back((path.clone(), depth + 1));
            }
            all.push((path, kind));
        }
    }
    all
}

/// Returns the entries of a folder by name, as paths from the root, at most `budget` of them.
pub(super) fn entries(
    dir: &Dir,
    folder: &Path,
    budget: &mut usize,
) -> std::io::Result<Vec<(PathBuf, FileType)>> {
    let opened = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = dir.read_dir(opened)?.take(*budget);
    let mut names: Vec<_> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            Some((folder.join(entry.file_name()), entry.file_type().ok()?))
        })
        .collect();
    *budget -= names.len();
    names.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(names)
}

/// Returns how far the name of a path is from the wanted one: 0 for a different case, `None` for a
/// different name.
fn distance_of(wanted: &str, path: &Path) -> Option<usize> {
    let name = path.file_name()?.to_str()?;
    let (wanted, name) = (folded(wanted).to_lowercase(), folded(name).to_lowercase());
    if wanted == name {
        return Some(0);
    }
    let (stem, other_stem) = (stem(&wanted), stem(&name));
    if stem == other_stem && !stem.is_empty() {
        return Some(1);
    }
    let (wanted, name): (Vec<char>, Vec<char>) = (wanted.chars().collect(), name.chars().collect());
    let length = stem.chars().count();
    // A short name with a letter changed is another name.
    let most = (wanted.len() / 4).clamp(1, 3).min(length.saturating_sub(1));
    let edits = edits(&wanted, &name, most);
    let extended = || (length >= 4 && other_stem.contains(stem)).then_some(most + 1);
    edits.or_else(extended)
}

/// Returns a name without its extension.
fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Counts the letters to insert, remove, replace or swap; `None` if there are more than `most`.
fn edits(one: &[char], other: &[char], most: usize) -> Option<usize> {
    if one.len().abs_diff(other.len()) > most || other.len() > MAX_CHARACTERS {
        return None;
    }
    // Three rows of the table of distances; swapped neighbors look two rows back.
    let mut before = vec![0; other.len() + 1];
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.iter().enumerate() {
        let mut next = vec![row + 1];
        for (column, against) in other.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != against);
            let mut least = replaced.min(last[column + 1] + 1).min(next[column] + 1);
            let swapped =
                row > 0 && column > 0 && *letter == other[column - 1] && one[row - 1] == *against;
            if swapped {
                least = least.min(before[column - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut last, next);
    }
    last.last().copied().filter(|distance| *distance <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(wanted: &str, name: &str) -> Option<usize> {
        distance_of(wanted, Path::new(name))
    }

    #[test]
    fn names_are_near_if_few_letters_differ() {
        for (wanted, name, expected) in [
            ("order.png", "orders.png", Some(1)),
            ("ordres.png", "orders.png", Some(1)),
            ("Orders.PNG", "orders.png", Some(0)),
            ("orders.jpg", "orders.png", Some(1)),
            ("screenshot.png", "screenshot-2026-11-19.png", Some(4)),
            ("b.png", "a.png", None),
            ("order.png", "photo.png", None),
            ("chart.png", "charge.json", None),
        ] {
            assert_eq!(distance(wanted, name), expected, "{wanted} and {name}");
        }
    }

    #[test]
    fn edits_count_swapped_neighbors_once() {
        let edits = |one: &str, other: &str| {
            let (one, other): (Vec<char>, Vec<char>) =
                (one.chars().collect(), other.chars().collect());
            edits(&one, &other, 9)
        };
        assert_eq!(edits("abcd", "abdc"), Some(1));
        assert_eq!(edits("kitten", "sitting"), Some(3));
        assert_eq!(edits("", "abc"), Some(3));
        assert_eq!(edits("same", "same"), Some(0));
    }
}
