//! Help, man pages and completions for every command.

use std::process::Command;

use super::Folder;
use crate::{run, stderr, stdout};

/// All commands with their subcommands, found by reading the help.
pub(super) fn commands() -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut open = vec![Vec::new()];
    while let Some(command) = open.pop() {
        let mut inner = subcommands(&command);
        inner.retain(|name| name != "help");
        for name in inner.into_iter().rev() {
            open.push([command.clone(), vec![name]].concat());
        }
        if !command.is_empty() {
            found.push(command);
        }
    }
    found
}

/// The subcommands that the help of a command lists.
fn subcommands(command: &[String]) -> Vec<String> {
    let text = help(command);
    let Some((_, list)) = text.split_once("\nCommands:\n") else { return Vec::new() };
    list.lines()
        .take_while(|line| !line.is_empty())
        // A continued line is indented further.
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .collect()
}

pub(super) fn help(command: &[String]) -> String {
    let arguments: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
    stdout(&run(&arguments))
}

#[test]
fn the_help_of_every_command_begins_with_examples_of_it() {
    let commands = commands();
    assert!(commands.len() > 35, "{commands:?}");
    for command in commands {
        let text = help(&command);
        let name = format!("photic {}", command.join(" "));
        assert!(text.starts_with("Examples:\n"), "{name}: {text}");
        let examples = text.split("\n\n").next().unwrap();
        assert!(examples.contains(&name), "{name}: {examples}");
    }
}

#[test]
fn help_is_a_command_too() {
    assert_eq!(stdout(&run(&["help"])), stdout(&run(&["--help"])));
    assert_eq!(stdout(&run(&["help", "check"])), stdout(&run(&["check", "--help"])));
    assert_eq!(
        stdout(&run(&["help", "session", "images"])),
        stdout(&run(&["session", "images", "--help"]))
    );
    assert_eq!(run(&["help", "chekc"]).status.code(), Some(2));
}

#[test]
fn every_command_has_a_man_page_with_its_options_and_examples() {
    let folder = Folder::new("man");
    let pages = folder.path("pages");
    let output = run(&["man", "-o", &pages]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for command in commands() {
        let name = format!("photic-{}.1", command.join("-"));
        let page = std::fs::read_to_string(format!("{pages}/{name}")).unwrap_or_default();
        assert!(page.contains(".TH "), "{name} is missing");
        assert!(page.contains("Examples:"), "{name}: {page}");
        let arguments: Vec<&str> =
            ["man"].into_iter().chain(command.iter().map(String::as_str)).collect();
        assert_eq!(stdout(&run(&arguments)), page, "{name}");
    }
    let main = stdout(&run(&["man"]));
    assert!(main.contains(".TH photic 1") && main.contains("photic\\-lower(1)"), "{main}");
    let lower = stdout(&run(&["man", "lower"]));
    assert!(lower.contains("\\-\\-explain"), "{lower}");
    let wrong = run(&["man", "lowwer"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("`photic lowwer` is no command"), "{}", stderr(&wrong));
}

#[test]
fn completions_name_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = stdout(&run(&["completions", shell]));
        for command in commands() {
            assert!(script.contains(command.last().unwrap().as_str()), "{shell}: {command:?}");
        }
    }
    // The shell that is there reads its script.
    let script = run(&["completions", "bash"]).stdout;
    let folder = Folder::new("bash");
    let path = folder.file("photic.bash", script);
    let read = Command::new("bash").args(["-n", &path]).output();
    if let Ok(read) = read {
        assert!(read.status.success(), "{}", stderr(&read));
    }
}
