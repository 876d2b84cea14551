//! The README's commands, run as a new user would, with the output it shows.

use std::process::Command;

use crate::root;

/// Every console block of the README: lines that begin with a dollar, and what they print. A line
/// that is `…` stands for any lines.
#[test]
fn every_command_in_the_readme_prints_what_it_shows() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let mut commands = 0;
    for block in readme.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap();
        for entry in block.split("$ ").skip(1) {
            let (command, shown) = entry.split_once('\n').unwrap();
            // Installing is the build that made this test.
            if command.starts_with("cargo install") {
                continue;
            }
            let photic = std::path::Path::new(env!("CARGO_BIN_EXE_photic"));
            let path = format!(
                "{}:{}",
                photic.parent().unwrap().display(),
                std::env::var("PATH").unwrap()
            );
            let output = Command::new("bash")
                .args(["-c", command])
                .current_dir(root())
                .env("PATH", path)
                .env("NO_COLOR", "1")
                .output()
                .unwrap();
            let printed = [output.stdout, output.stderr].concat();
            let printed = String::from_utf8_lossy(&printed);
            assert!(
                matches(shown, &printed),
                "$ {command}\n--- README\n{shown}\n--- printed\n{printed}"
            );
            commands += 1;
        }
    }
    assert!(commands >= 3, "the README shows only {commands} commands");
}

fn matches(shown: &str, printed: &str) -> bool {
    let mut printed = printed.lines();
    let mut anything = false;
    for line in shown.lines().filter(|line| !line.is_empty()) {
        if line == "…" {
            anything = true;
            continue;
        }
        let mut candidates = printed.by_ref().filter(|line| !line.is_empty());
        let found = if anything {
            candidates.any(|candidate| candidate.starts_with(line.trim_end_matches('…')))
        } else {
            candidates
                .next()
                .is_some_and(|candidate| candidate.starts_with(line.trim_end_matches('…')))
        };
        if !found {
            return false;
        }
        anything = false;
    }
    true
}
