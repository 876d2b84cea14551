//! `explain` adds up, and the settings hold for every command that plans.

use serde_json::Value;

use super::{Folder, chat, data};
use crate::{photic, run, stderr, stdout};

fn number(value: &Value, name: &str) -> f64 {
    value[name].as_f64().unwrap_or_else(|| panic!("{name} in {value}"))
}

#[test]
fn tokens_and_dollars_add_up() {
    let folder = Folder::new("sums");
    let file = folder.file("body.json", chat("gpt-5.4", 8).to_string());
    for more in [&["--policy", "all"][..], &["--policy", "newest(3)"], &["--for", "gpt-4o"]] {
        let report = data(&run(&[&["explain", &file, "--json"], more].concat()));
        let media = report["media"].as_array().unwrap();
        assert_eq!(media.len(), 8);
        for name in ["tokens", "usd", "uncached_usd"] {
            let rows: f64 = media.iter().filter_map(|row| row[name].as_f64()).sum();
            let (rest, total) = (number(&report["rest"], name), number(&report["ledger"], name));
            assert!((rows + rest - total).abs() < 1e-9, "{more:?} {name}: {rows} + {rest} is not {total}");
            assert!(rest > 0.0, "{more:?} {name}: {rest}");
        }
        let ledger = &report["ledger"];
        assert!(number(ledger, "usd") < number(ledger, "uncached_usd"), "a cache saves: {ledger}");
    }
    let words = stdout(&run(&["explain", &file]));
    for line in ["rest", "total"] {
        assert!(words.lines().any(|shown| shown.trim_start().starts_with(line)), "{words}");
    }
    assert!(words.contains("uncached"), "{words}");
}

#[test]
fn the_settings_hold_and_options_override_them() {
    let folder = Folder::new("settings");
    let body = folder.file("body.json", chat("gpt-4o", 6).to_string());
    let settings = folder.file("photic.toml", "[policy]\nretention = 'newest(2)'\n");
    let hidden = |report: &Value| -> usize {
        let media = report["media"].as_array().unwrap();
        media.iter().filter(|row| row["fate"] == "elide").count()
    };
    let explain = |more: &[&str]| data(&run(&[&["explain", &body, "--json"], more].concat()));
    assert_eq!(hidden(&explain(&[])), 0);
    let with = explain(&["--config", &settings]);
    assert_eq!((&with["policy"], hidden(&with)), (&"newest(2)".into(), 4));
    assert_eq!(hidden(&explain(&["--config", &settings, "--policy", "all"])), 0);
    // By the variable, and for the other commands as well.
    for (command, count) in [("check", "retired"), ("lower", "retired")] {
        let arguments = [command, &body, "--json"];
        let output = photic().args(arguments).env("PHOTIC_CONFIG", &settings).output().unwrap();
        assert_eq!(data(&output)[count]["retired"], 4, "{command}");
    }
    let arguments = ["simulate", "--steps", "9", "--json", "--config", &settings];
    let rows = data(&run(&arguments))["policies"].clone();
    assert_eq!((&rows[0]["whose"], &rows[0]["name"]), (&"in_force".into(), &"newest(2) (in force)".into()));
}

#[test]
fn marks_of_the_settings_can_be_turned_off() {
    let folder = Folder::new("marks");
    let settings = folder.file("photic.toml", "[policy]\nmarks = true\n");
    let name = |more: &[&str]| {
        let common = ["simulate", "--steps", "9", "--json", "--config", &settings];
        data(&run(&[&common, more].concat()))["policies"][0]["name"].clone()
    };
    assert_eq!(name(&[]), "all, marks (in force)");
    assert_eq!(name(&["--marks=false"]), "all (in force)");
    assert_eq!(name(&["--policy", "priced"]), "priced, marks (in force)");
}

#[test]
fn the_policy_in_force_is_what_its_row_costs() {
    let row = |more: &[&str], name: &str| -> Value {
        let common = ["simulate", "--steps", "60", "--for", "claude-opus-5", "--json"];
        let report = data(&run(&[&common, more].concat()));
        let rows = report["policies"].as_array().unwrap().clone();
        rows.into_iter().find(|row| row["name"] == name).unwrap()["cost"].clone()
    };
    assert_eq!(row(&[], "all (in force)"), row(&[], "all (default)"));
    let marked = ["--policy", "priced", "--marks"];
    assert_eq!(row(&marked, "priced, marks (in force)"), row(&[], "priced"));
}

#[test]
fn settings_that_cannot_be_used_are_an_error() {
    let folder = Folder::new("broken");
    let settings = folder.file("photic.toml", "[policy]\nretention = 'some'\n");
    let output = run(&["explain", "examples/request.json", "--config", &settings]);
    assert_eq!(output.status.code(), Some(2));
    let says = stderr(&output);
    assert!(says.contains("unknown retention policy `some` in the settings"), "{says}");
    assert!(says.contains("hint: set `policy.retention`"), "{says}");
}
