//! Rules about source text: length, openings, and names that the pure crate must not use.

use crate::tidy::{report, sources};

/// The aim for the number of lines of a file, without its tests.
const AIM: usize = 400;
/// The maximum number of lines of a file, without its tests.
const LIMIT: usize = 800;

/// Names that would give `photic` I/O or make its answers random, with the reason.
const BANNED: [(&str, &str); 14] = [
    ("std::fs", "no file system"),
    ("std::net", "no network"),
    ("std::process", "no processes"),
    ("std::env", "no environment"),
    ("std::time", "no clock"),
    ("std::thread", "no threads"),
    ("SystemTime", "no clock"),
    ("Instant", "no clock"),
    ("println!", "no output"),
    ("eprintln!", "no output"),
    ("print!", "no output"),
    ("eprint!", "no output"),
    ("HashMap", "its order differs from run to run; use BTreeMap"),
    ("HashSet", "its order differs from run to run; use BTreeSet"),
];

/// The planner reads profiles. A provider's name in it would be a fact outside of them.
const PROVIDERS: [&str; 26] = [
    "anthropic",
    "azure",
    "bedrock",
    "claude",
    "cohere",
    "deepseek",
    "fireworks",
    "gemini",
    "gemma",
    "gpt",
    "grok",
    "groq",
    "kimi",
    "llama",
    "llamacpp",
    "mistral",
    "moonshot",
    "nova",
    "ollama",
    "openai",
    "openrouter",
    "pixtral",
    "qwen",
    "sglang",
    "vllm",
    "xai",
];

#[test]
fn files_stay_short() {
    let mut complaints = Vec::new();
    for (path, text) in sources() {
        let lines = without_tests(&text).lines().count();
        if lines > LIMIT {
            complaints.push(format!("{path}: {lines} lines"));
        } else if lines > AIM {
            println!("{path}: {lines} lines, {AIM} would be better");
        }
    }
    report("a file is at most 800 lines without its tests", &complaints);
}

#[test]
fn modules_say_what_they_own() {
    let silent = |(path, text): (String, String)| (!text.starts_with("//!")).then_some(path);
    let complaints: Vec<String> = sources().into_iter().filter_map(silent).collect();
    report("a module opens with `//!`", &complaints);
}

#[test]
fn photic_does_nothing_but_think() {
    let mut complaints = Vec::new();
    for (path, code) in code_below("crates/photic/src/") {
        for (number, line) in code.lines().enumerate() {
            for (word, reason) in BANNED.iter().filter(|(word, _)| says(line, word)) {
                complaints.push(format!("{path}:{}: `{word}`: {reason}", number + 1));
            }
        }
        // `use std::{fmt, fs}` counts, too.
        let flat: String = code.split_whitespace().collect();
        for group in flat.split("std::{").skip(1) {
            let group = &group[..close(group)];
            let banned = BANNED.iter().filter_map(|(word, _)| word.strip_prefix("std::"));
            for word in banned.filter(|word| opens(group, word)) {
                complaints.push(format!("{path}: `std::{{{word}}}`"));
            }
        }
    }
    report("`photic` does no I/O, reads no clock, and is deterministic", &complaints);
}

#[test]
fn the_planner_names_no_provider() {
    let mut complaints = Vec::new();
    for (path, code) in code_below("crates/photic/src/plan") {
        for (number, line) in code.to_ascii_lowercase().lines().enumerate() {
            let mut words = line.split(|c: char| !c.is_ascii_alphabetic());
            if let Some(word) = words.find(|word| PROVIDERS.contains(word)) {
                complaints.push(format!("{path}:{}: `{word}`", number + 1));
            }
        }
    }
    report("the planner knows profiles, not providers", &complaints);
}

/// The mock takes facts from `photic`, but the judge of the planner must not use the planner.
#[test]
fn the_mock_never_asks_the_accused() {
    let words =
        ["photic::lift", "photic::lower", "photic::plan", "photic::survey", "photic::check"];
    let mut complaints = Vec::new();
    for (path, code) in code_below("crates/photic-mock/src/") {
        for word in words.iter().filter(|word| code.lines().any(|line| says(line, word))) {
            complaints.push(format!("{path}: `{word}`"));
        }
    }
    report("the mock uses profiles and token rules of `photic`, nothing else", &complaints);
}

/// Returns the code of every source whose path begins so, without comments and tests.
fn code_below(start: &str) -> Vec<(String, String)> {
    let inside = |(path, _): &(String, String)| {
        let test = path.ends_with("/tests.rs") || path.ends_with("_tests.rs");
        path.starts_with(start) && !test && !path.contains("/tests/")
    };
    let code = |(path, text): (String, String)| (path, code_of(&text));
    sources().into_iter().filter(inside).map(code).collect()
}

/// Returns the text without comments and without a test module at its end. Lines keep their
/// numbers.
pub(crate) fn code_of(text: &str) -> String {
    let blank = |line: &str| {
        let comment = line.trim_start().starts_with("//");
        if comment { String::new() } else { line.to_owned() }
    };
    let lines: Vec<String> = without_tests(text).lines().map(blank).collect();
    lines.join("\n")
}

/// Returns the text up to a test module that ends the file.
pub(crate) fn without_tests(text: &str) -> &str {
    let start = text.rfind("\n#[cfg(test)]\nmod tests {").map_or(text.len(), |start| start + 1);
    let (code, tests) = text.split_at(start);
    // Only if nothing comes after its closing brace.
    let ends = tests.find("\n}\n").is_none_or(|end| tests[end + 3..].trim().is_empty());
    if ends { code } else { text }
}

/// Returns `true` if the word is in the line as a whole word (or a whole path).
fn says(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(part) && !line[at + word.len()..].starts_with(part))
}

/// Returns the position at which the brace that is already open closes.
fn close(group: &str) -> usize {
    let mut depth = 1;
    let end = group.char_indices().find(|(_, c)| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    end.map_or(group.len(), |(at, _)| at)
}

/// Returns `true` if the module is named at the top level of a `use` group.
fn opens(group: &str, module: &str) -> bool {
    let mut depth = 0;
    let flat: String = group
        .chars()
        .filter(|c| {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            depth == 0
        })
        .collect();
    flat.split(',').any(|item| item.split("::").next() == Some(module))
}

#[test]
fn the_rules_of_this_file_work() {
    assert!(says("use std::fs::File;", "std::fs") && !says("use std::fsx;", "std::fs"));
    assert!(says("println!()", "println!") && !says("eprintln!()", "println!"));
    assert!(opens("fmt,fs::File,collections::{BTreeMap,fs}", "fs"));
    assert!(!opens("fmt,collections::{BTreeMap,fs}", "fs"));
    assert_eq!(close("a,b::{c}};rest"), 8);
    let file = "a\n#[cfg(test)]\nmod tests {\n    b\n}\n";
    assert_eq!(without_tests(file), "a\n");
    let longer = format!("{file}fn c() {{}}\n");
    assert_eq!(without_tests(&longer), longer);
}
