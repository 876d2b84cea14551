//! Every command and option that a page names is in the help of the binary.

use std::collections::{BTreeMap, BTreeSet};

use super::pages;
use crate::{run, stdout};

/// Options of other programs that pages name: of a benchmark, of Claude Code, of droid.
const FOREIGN: [&str; 4] = ["--allow-ffi", "--instructions", "--scope", "--settings"];

/// What ends a command in a line.
const ENDS: [&str; 8] = ["|", "&&", "||", ";", "--", "&", "#", ">"];

/// The options of each command, by its words: `""`, `run`, `session drop`.
pub(super) type Help = BTreeMap<String, BTreeSet<String>>;

#[test]
fn commands_and_options_of_the_pages_exist() {
    let help = help();
    let all: BTreeSet<&str> = help.values().flatten().map(String::as_str).collect();
    let mut complaints = Vec::new();
    for page in pages() {
        let mut complain = |line: usize, what: String| {
            complaints.push(format!("{}:{line}: {what}", page.path()));
        };
        for (line, text) in page.command_lines() {
            // What follows a wide gap is a remark.
            let command = text.split("   ").next().unwrap_or_default();
            for what in check(&help, command) {
                complain(line, what);
            }
        }
        // Decisions and the history name options as they were.
        if page.path().starts_with("docs/adr/") {
            continue;
        }
        for (line, text) in page.prose() {
            for span in text.split('`').skip(1).step_by(2) {
                for what in check(&help, span) {
                    complain(line, what);
                }
                let option = option(span.split([' ', '=']).next().unwrap_or_default());
                let known = |option: &str| all.contains(option) || FOREIGN.contains(&option);
                if let Some(option) = option.filter(|option| !known(option)) {
                    complain(line, format!("no command has the option `{option}`"));
                }
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// The options of every command of the binary.
pub(super) fn help() -> Help {
    let mut help = Help::new();
    read(&mut help, "");
    assert!(help.len() > 25, "the help is not understood: {:?}", help.keys());
    help
}

/// Reads the help of a command and of the commands below it.
fn read(help: &mut Help, command: &str) {
    let mut arguments: Vec<&str> = command.split_whitespace().collect();
    arguments.push("--help");
    let text = stdout(&run(&arguments));
    let options =
        text.split_whitespace().flat_map(|word| word.split(['[', ',', '='])).filter_map(option);
    help.insert(command.to_owned(), options.map(str::to_owned).collect());
    let Some((_, commands)) = text.split_once("\nCommands:\n") else { return };
    for line in commands.lines().take_while(|line| !line.is_empty()) {
        let name = line.strip_prefix("  ").and_then(|line| line.split_whitespace().next());
        let is_entry = line.strip_prefix("  ").is_some_and(|line| !line.starts_with(' '));
        if let Some(name) = name.filter(|name| is_entry && *name != "help") {
            read(help, format!("{command} {name}").trim());
        }
    }
}

/// Complaints about the commands `photic …` in a line.
fn check(help: &Help, line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut complaints = Vec::new();
    for (at, _) in words.iter().enumerate().filter(|(_, word)| bare(word) == "photic") {
        // `cargo test -p photic` names the crate.
        if at > 0 && matches!(words[at - 1], "-p" | "--package") {
            continue;
        }
        let mut command = String::new();
        let mut named = words[at + 1..].iter().peekable();
        while let Some(word) = named.peek() {
            let longer = format!("{command} {}", bare(word)).trim().to_owned();
            if !help.contains_key(&longer) {
                break;
            }
            command = longer;
            named.next();
        }
        let known = &help[&command];
        let is_first = words[..at].iter().all(|word| *word == "$" || word.contains('='));
        let next = named.peek().map_or("", |word| bare(word));
        let is_word = !next.is_empty() && next.chars().all(|c| c.is_ascii_lowercase());
        if command.is_empty() && is_first && is_word && next != "help" {
            complaints.push(format!("there is no `photic {next}`"));
        }
        for word in named.take_while(|word| !ENDS.contains(word)) {
            if let Some(option) = option(bare(word)).filter(|option| !known.contains(*option)) {
                complaints.push(format!("`photic {command}` has no option `{option}`"));
            }
        }
    }
    complaints
}

/// A word without what surrounds it.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| "\"'`()[],;:$".contains(c))
}

/// The long option that a word is.
fn option(word: &str) -> Option<&str> {
    let word = word.split('=').next()?;
    let word = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    let name = word.strip_prefix("--")?;
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (!name.is_empty() && !name.starts_with('-') && name.chars().all(is_name)).then_some(word)
}

#[test]
fn a_missing_option_is_found() {
    let options = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let help = Help::from([
        (String::new(), options(&["--version"])),
        ("run".to_owned(), options(&["--quiet"])),
    ]);
    assert!(check(&help, "$ A=b photic run --quiet -- ls --all").is_empty());
    assert!(check(&help, "photic is a gateway").len() == 1);
    assert!(check(&help, "the photic is a gateway").is_empty());
    assert!(check(&help, "cargo test -p photic --test it").is_empty());
    assert_eq!(check(&help, "photic run --loud").len(), 1);
    assert_eq!(check(&help, "photic walk --quiet")[0], "there is no `photic walk`");
}
