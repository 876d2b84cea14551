//! A turn goes through its stages in the order that ARCHITECTURE.md names, and through each once.

use std::path::Path;

/// The stages of a turn as ARCHITECTURE.md lists them: `1. **read** …` with the function in backticks,
/// as `module::function` or `Type::method`.
fn stages() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let section = text.split("## A turn in the gateway").nth(1).expect("a section about the turn");
    let section = section.split("\n## ").next().unwrap();
    let lines = section.lines().filter(|line| {
        line.split_once(". **").is_some_and(|(number, _)| number.parse::<u32>().is_ok())
    });
    let stage = |line: &str| {
        let name = line.split("**").nth(1).unwrap().to_owned();
        let function = line.split('`').nth(1).expect("a function in backticks").to_owned();
        (name, function)
    };
    lines.map(stage).collect()
}

fn source(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/turn").join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The body of a method, with the bodies of methods of `self` in the place of their calls, but for
/// the way that takes pixels.
fn body(source: &str, name: &str) -> String {
    let start = ["(", "<"].iter().find_map(|next| source.find(&format!("fn {name}{next}")));
    let start = start.unwrap_or_else(|| panic!("no method `{name}`"));
    let end = source[start..].find("\n    }\n").expect("the end of the method");
    let body = source[start..start + end].split_once('{').unwrap().1;
    // A request that only one upstream can answer is sent once.
    let mut body = body.replace("self.until_answered(", "self.attempt(");
    for inner in ["answer_read", "attempt", "repair", "recalled", "send"] {
        let call = format!("self.{inner}(");
        if inner != name && body.contains(&call) {
            body = body.replacen(&call, &format!("{}(", self::body(source, inner)), 1);
        }
    }
    body
}

/// The call of a function: `module::function` by its name, `Type::method` on a variable that is
/// called after the last word of the type.
fn call(function: &str) -> String {
    let (before, name) = function.split_once("::").expect("`module::function` or `Type::method`");
    if before.starts_with(char::is_lowercase) {
        return format!("{name}(");
    }
    let last = before.rfind(char::is_uppercase).unwrap();
    format!("{}.{name}(", before[last..].to_lowercase())
}

fn positions(text: &str, call: &str) -> Vec<usize> {
    let is_own = |at: &usize| {
        let before = text[..*at].chars().next_back().unwrap_or(' ');
        call.contains('.') || !(before.is_alphanumeric() || "_.:".contains(before))
    };
    text.match_indices(call).map(|(at, _)| at).filter(is_own).collect()
}

#[test]
fn a_turn_goes_through_its_stages_in_order_and_through_each_once() {
    let stages = stages();
    let names: Vec<&str> = stages.iter().map(|(name, _)| name.as_str()).collect();
    let expected =
        ["read", "recall", "plan", "fetch", "prepare", "lower", "send", "heal", "record", "reply"];
    assert_eq!(names, expected, "the stages that ARCHITECTURE.md lists");
    let turn = body(&source("turns.rs"), "answer");
    let mut last = 0;
    for (name, function) in &stages {
        let method = function.split_once("::").unwrap().1;
        let file = source(&format!("{name}.rs"));
        assert!(file.contains(&format!("fn {method}")), "`{function}` is not in turn/{name}.rs");
        let found = positions(&turn, &call(function));
        let [at] = found[..] else {
            panic!("`{}` is called {} times in a turn", call(function), found.len());
        };
        assert!(last < at, "`{function}` is called before the stage that precedes it");
        last = at;
    }
}
