//! The pages that describe the project: short enough to read, with links and paths that exist.

use std::path::Path;

use crate::tidy::{listed, report, root, rust};

/// Maximum number of lines of ARCHITECTURE.md.
const MAX_MAP_LINES: usize = 200;

/// Pages with instructions: every path they name in backticks has to exist.
const GUIDES: [&str; 4] =
    ["ARCHITECTURE.md", "CONTRIBUTING.md", "tests/e2e/README.md", "docs/dependencies.md"];

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).expect("pages are UTF-8")
}

fn is_page(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "md")
}

#[test]
fn the_map_is_short_and_each_invariant_names_a_test_that_exists() {
    let map = read("ARCHITECTURE.md");
    assert!(
        map.lines().count() <= MAX_MAP_LINES,
        "ARCHITECTURE.md has more than {MAX_MAP_LINES} lines"
    );
    let (_, invariants) = map.split_once("## Invariants").expect("it has invariants");
    let (invariants, _) = invariants.split_once("\n## ").expect("more follows");
    let files = listed();
    let sources: String = files.iter().filter(|path| rust(path)).map(|path| read(path)).collect();
    let mut complaints = Vec::new();
    for line in invariants.lines().filter(|line| line.starts_with("- ")) {
        let proofs = line.rsplit_once('(').map_or("", |(_, proofs)| proofs);
        let names: Vec<&str> = proofs.split('`').skip(1).step_by(2).collect();
        if names.is_empty() {
            complaints.push(format!("no test holds: {line}"));
        }
        for name in names {
            let exists = files.iter().any(|path| path.ends_with(name))
                || sources.contains(&format!("fn {name}("))
                || read("Cargo.toml").contains(&format!("{name} = "));
            if !exists {
                complaints.push(format!("`{name}` does not exist"));
            }
        }
    }
    report("each invariant of ARCHITECTURE.md names its test", &complaints);
}

#[test]
fn links_between_pages_lead_to_files() {
    let mut complaints = Vec::new();
    let pages = listed().into_iter().filter(|path| is_page(path) && !path.contains("/sources/"));
    for page in pages.filter(|path| !path.starts_with("bench/")) {
        let folder = Path::new(&page).parent().expect("a file has a folder").to_path_buf();
        for link in read(&page).split("](").skip(1).filter_map(|rest| rest.split_once(')')) {
            let target = link.0.split('#').next().unwrap_or_default();
            if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            if !root().join(&folder).join(target).exists() {
                complaints.push(format!("{page}: `{target}` does not exist"));
            }
        }
    }
    report("links between pages lead to files", &complaints);
}

#[test]
fn paths_in_the_guides_exist() {
    let starts =
        ["crates/", "tests/", "docs/", ".ci/", "captures/", "bench/", "fuzz/", "examples/"];
    let mut complaints = Vec::new();
    for guide in GUIDES {
        for quoted in read(guide).split('`').skip(1).step_by(2) {
            let path = quoted.split([' ', '\n']).next().unwrap_or_default();
            let placeholder = path.contains(['<', '*', '$', '{', '…']) || path.contains("NN");
            if starts.iter().any(|start| path.starts_with(start))
                && !placeholder
                && !root().join(path).exists()
            {
                complaints.push(format!("{guide}: `{path}` does not exist"));
            }
        }
    }
    report("paths in the guides exist", &complaints);
}
