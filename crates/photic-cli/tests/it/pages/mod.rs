//! The manual: every console block is run, and every command and option it names exists.
//!
//! A block that cannot be run says why in a comment above its fence:
//! `<!-- not run: it needs a key -->`. `PHOTIC_BLESS=1` writes what the commands print into the
//! pages, and the list of blocks that are not run.

mod blocks;
mod execute;
mod names;
mod output;
mod reference;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::root;
use blocks::Page;
use execute::Printed;

/// Pages whose commands are run, from the root: the README and everything below `docs/`.
fn pages() -> Vec<Page> {
    let mut paths = vec![PathBuf::from("README.md")];
    collect(&root().join("docs"), Path::new("docs"), &mut paths);
    paths.sort();
    assert!(paths.len() > 60, "the list of pages is broken: {paths:?}");
    paths.into_iter().map(|path| Page::read(&path)).collect()
}

/// Adds the Markdown files of a folder and its subfolders.
fn collect(folder: &Path, name: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = name.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            collect(&entry.path(), &name, paths);
        } else if name.extension().is_some_and(|extension| extension == "md") {
            paths.push(name);
        }
    }
}

fn blessing() -> bool {
    std::env::var_os("PHOTIC_BLESS").is_some()
}

/// The output of two runs, with wildcards where they differ.
fn steady(mut printed: Vec<Printed>, again: &[Printed]) -> Vec<Printed> {
    for (one, other) in printed.iter_mut().zip(again) {
        one.lines = output::steady(&one.lines, &other.lines);
    }
    printed
}

/// Runs the pages that `chosen` selects, and fails with all differences at once.
fn run_pages(chosen: impl Fn(&str) -> bool) {
    let mut differences = String::new();
    let mut commands = 0;
    for mut page in pages().into_iter().filter(|page| chosen(page.path())) {
        commands += page.commands();
        let printed = execute::run(&page);
        for difference in page.compare(&printed) {
            writeln!(differences, "{difference}\n").unwrap();
        }
        if blessing() {
            // What differs from run to run is written as a wildcard.
            let again = execute::run(&page);
            page.bless(&steady(printed, &again));
        }
    }
    assert!(commands > 0, "no page has a command");
    assert!(
        differences.is_empty() || blessing() && !differences.contains(blocks::BROKEN),
        "PHOTIC_BLESS=1 writes what was printed into the pages\n\n{differences}"
    );
}

#[test]
fn the_readme_prints_what_it_shows() {
    run_pages(|path| path == "README.md");
}

#[test]
fn the_tutorial_prints_what_it_shows() {
    run_pages(|path| path == "docs/tutorial.md");
}

#[test]
fn the_how_tos_print_what_they_show() {
    run_pages(|path| path.starts_with("docs/howto/"));
}

#[test]
fn all_other_pages_print_what_they_show() {
    let others = |path: &str| path != "README.md" && path != "docs/tutorial.md";
    run_pages(|path| others(path) && !path.starts_with("docs/howto/"));
}

/// The list of blocks that are not run, with the reason of each.
#[test]
fn blocks_that_are_not_run_are_listed() {
    let mut list = String::new();
    let mut complaints = String::new();
    let mut run = 0;
    for page in pages() {
        run += page.commands();
        for (line, reason) in page.not_run() {
            writeln!(list, "{}: {reason}", page.path()).unwrap();
            let words = reason.split_whitespace().count();
            if words < 3 {
                writeln!(complaints, "{}:{line}: a reason is a sentence", page.path()).unwrap();
            }
        }
        for complaint in page.unmarked() {
            writeln!(complaints, "{complaint}").unwrap();
        }
    }
    assert!(complaints.is_empty(), "{complaints}");
    assert!(run >= 40, "only {run} commands are run");
    let path = root().join("crates/photic-cli/tests/it/pages/not-run.txt");
    if blessing() {
        std::fs::write(&path, &list).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(kept, list, "PHOTIC_BLESS=1 writes the list of blocks that are not run");
}

/// The first page is read in two minutes.
#[test]
fn the_readme_has_at_most_150_lines() {
    let lines = std::fs::read_to_string(root().join("README.md")).unwrap().lines().count();
    assert!(lines <= 150, "README.md has {lines} lines");
}
