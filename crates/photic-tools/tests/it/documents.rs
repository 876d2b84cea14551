//! The table of refusals is generated from the codes.

use photic_tools::RefusalCode;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/refusals.md");

fn page() -> String {
    let opening = "\
# Refusals

A refusal is a result, not an error: a stable code, a sentence that says what is wrong, a hint that says what to do, and, where a name could have meant several files, the candidates. The same codes come from the library (`photic_tools::Refusal`), from the command line (`--json`, exit status 1) and over MCP. The set is closed; a new code is a new row here.

This page is written from `crates/photic-tools/src/refusal.rs` (`PHOTIC_BLESS=1 cargo nextest run -p photic-tools`).

| code | from | what it means | what to do next |
|---|---|---|---|
";
    let row = |code: &RefusalCode| {
        let tools: Vec<String> = code.tools().split(", ").map(|tool| format!("`{tool}`")).collect();
        let (name, tools) = (code.name(), tools.join(", "));
        format!("| `{name}` | {tools} | {} | {} |\n", code.means(), code.next())
    };
    let rows: Vec<String> = RefusalCode::ALL.iter().map(row).collect();
    [opening, &rows.concat()].concat()
}

#[test]
fn the_table_of_refusals_is_true() {
    if std::env::var_os("PHOTIC_BLESS").is_some() {
        std::fs::write(PATH, page()).unwrap();
    }
    let there = std::fs::read_to_string(PATH).unwrap_or_default();
    assert!(there == page(), "docs/refusals.md is old; PHOTIC_BLESS=1 writes it anew");
}

#[test]
fn names_are_what_is_serialized_and_nobody_shares_one() {
    let mut names = std::collections::BTreeSet::new();
    for code in RefusalCode::ALL {
        assert_eq!(serde_json::to_value(code).unwrap(), code.name());
        assert!(names.insert(code.name()), "{}", code.name());
        assert!(code.means().ends_with('.') && code.next().ends_with('.'));
    }
}

/// The tools keep the codes of refusals of `photic-pixels`.
#[test]
fn the_codes_of_pixels_are_codes_of_tools() {
    use photic_pixels::RefusalCode as Pixels;
    for code in [
        Pixels::Empty,
        Pixels::NotAnImage,
        Pixels::UnsupportedFormat,
        Pixels::Corrupt,
        Pixels::TooLarge,
        Pixels::BadRegion,
        Pixels::CannotFit,
    ] {
        let refusal =
            photic_tools::Refusal::from(photic_pixels::Refusal::new(code, "says", "hint"));
        assert_eq!(serde_json::to_value(code).unwrap(), refusal.code.name());
        assert_eq!((refusal.says.as_str(), refusal.hint.as_str()), ("says", "hint"));
    }
}
