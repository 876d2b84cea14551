//! The share of documentation in published crates.

use std::collections::BTreeMap;

use crate::sources::without_tests;
use crate::tidy::{report, root, sources};

/// Minimum number of documentation lines per thousand lines of a published crate, without empty
/// lines.
const LEAST: usize = 120;

/// Crates below that minimum, each with a minimum of its own. These numbers only rise.
const FLOORS: [(&str, usize); 3] =
    [("photic-fleet", 110), ("photic-inspector", 85), ("photic-testkit", 90)];

#[test]
fn published_crates_are_documented() {
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (path, text) in sources() {
        let is_test = path.ends_with("tests.rs") || path.contains("/tests/");
        let Some(name) = path.split('/').nth(1).filter(|_| !is_test) else { continue };
        let count = counts.entry(name.to_owned()).or_default();
        for line in without_tests(&text).lines().map(str::trim).filter(|line| !line.is_empty()) {
            count.0 += usize::from(line.starts_with("///") || line.starts_with("//!"));
            count.1 += 1;
        }
    }
    let mut complaints = Vec::new();
    for (name, (docs, lines)) in counts.into_iter().filter(|(name, _)| is_published(name)) {
        let floor = FLOORS.iter().find(|(known, _)| *known == name).map_or(LEAST, |known| known.1);
        let share = docs * 1000 / lines.max(1);
        if share < floor {
            complaints
                .push(format!("{name}: {docs} of {lines} lines, {share} of 1000, not {floor}"));
        }
    }
    report("enough lines of a published crate are documentation", &complaints);
}

fn is_published(name: &str) -> bool {
    let manifest = root().join("crates").join(name).join("Cargo.toml");
    let text = std::fs::read_to_string(manifest).expect("a crate has a manifest");
    !text.lines().any(|line| line.trim() == "publish = false")
}
