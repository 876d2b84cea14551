//! `explain` adds up, and the settings hold for every command that plans.

use serde_json::Value;

use super::{Folder, chat, data};
use crate::{photic, run, stderr, stdout};

fn number(value: &Value, name: &str) -> f64 {
    value[name].as_f64().unwrap()
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
            assert!(
                (rows + rest - total).abs() < 1e-9,
                "{more:?} {name}: {rows} + {rest} is not {total}"
            );
            assert!(rest > 0.0, "{more:?} {name}: {rest}");
        }
        let ledger = &report["ledger"];
        let (actual, uncached) = (number(ledger, "usd"), number(ledger, "uncached_usd"));
        assert!(actual <= uncached, "{ledger}");
        // The endpoint caches by itself, and the prefix did not change.
        assert!(actual < uncached || more[0] != "--for", "a cache saves: {ledger}");
    }
    let words = stdout(&run(&["explain", &file]));
    for line in ["rest", "total"] {
        assert!(words.lines().any(|shown| shown.trim_start().starts_with(line)), "{words}");
    }
    assert!(words.contains("without a prompt cache") && words.contains("uncached)"), "{words}");
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
    assert_eq!((&rows[0]["whose"], &rows[0]["name"]), (&"in_force".into(), &"newest(2)".into()));
    assert_eq!(rows[0]["in_force"], true);
}

#[test]
fn the_row_in_force_follows_settings_and_options() {
    let folder = Folder::new("marks");
    let settings = folder.file("photic.toml", "[policy]\nmarks = true\n");
    let in_force = |more: &[&str]| -> String {
        let common = ["simulate", "--steps", "60", "--for", "claude-opus-5", "--json"];
        let report = data(&run(&[&common, more].concat()));
        let rows = report["policies"].as_array().unwrap();
        let found: Vec<&Value> = rows.iter().filter(|row| row["in_force"] == true).collect();
        assert_eq!(found.len(), 1, "{report}");
        format!("{} of {}", found[0]["name"], found[0]["whose"]).replace('"', "")
    };
    let with = ["--config", settings.as_str()];
    assert_eq!(in_force(&[]), "all (default) of photic_without_marks");
    assert_eq!(in_force(&["--policy", "priced"]), "priced, no marks of photic_without_marks");
    assert_eq!(in_force(&["--policy", "priced", "--marks"]), "priced of photic");
    assert_eq!(in_force(&["--policy", "newest(9)"]), "newest(9) of in_force");
    assert_eq!(in_force(&["--policy", "newest(9)", "--marks"]), "newest(9), marks of in_force");
    assert_eq!(in_force(&with), "all of photic");
    assert_eq!(
        in_force(&[&with[..], &["--marks=false"]].concat()),
        "all (default) of photic_without_marks"
    );
    let table = stdout(&run(&["simulate", "--policy", "priced", "--marks"]));
    let marked: Vec<&str> = table.lines().filter(|line| line.ends_with("  in force")).collect();
    assert!(marked.len() == 1 && marked[0].starts_with("  priced  "), "{table}");
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
