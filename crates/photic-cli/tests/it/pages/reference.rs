//! `docs/commands.md` is written from the help of the binary.

use std::fmt::Write as _;

use super::{blessing, names};
use crate::{root, run, stdout};

/// The head of the page.
const HEAD: &str = "\
# Commands

*Written by `crates/photic-cli/tests/it/pages/reference.rs` from the help of each command; do not edit.*

Data goes to standard output, and words about it to standard error. The exit code is 0 for yes, 1 for no (a finding, a refusal, a model that does not see), and 2 for an error.
";

#[test]
fn the_page_of_commands_is_the_help_of_the_binary() {
    let mut page = HEAD.to_owned();
    for command in names::help().keys() {
        let mut arguments: Vec<&str> = command.split_whitespace().collect();
        arguments.push("--help");
        let help = stdout(&run(&arguments));
        let title = format!("photic {command}");
        let level = if command.contains(' ') { "###" } else { "##" };
        let help: Vec<&str> = help.trim().lines().map(str::trim_end).collect();
        write!(page, "\n{level} `{}`\n\n```text\n{}\n```\n", title.trim(), help.join("\n"))
            .unwrap();
    }
    let path = root().join("docs/commands.md");
    if blessing() {
        std::fs::write(&path, &page).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == page, "docs/commands.md is out of date: PHOTIC_BLESS=1 writes it");
}
