//! The places that output goes to: `-o`, types by extension, and no megabytes in a terminal.

use super::{Folder, chat, data, piped};
use crate::{run, stderr, stdout};

#[test]
fn lower_writes_the_file_that_it_is_told_to() {
    let folder = Folder::new("output");
    let file = folder.file("body.json", chat("gpt-4o", 2).to_string());
    let out = folder.path("out.json");
    let output = run(&["lower", &file, "-o", &out]);
    assert_eq!(
        (output.status.code(), stdout(&output)),
        (Some(0), String::new()),
        "{}",
        stderr(&output)
    );
    let written = std::fs::read(&out).unwrap();
    assert_eq!(written, run(&["lower", &file]).stdout);
    assert_eq!(written, run(&["lower", &file, "--output", "-"]).stdout, "`-` is standard output");
    let json = folder.path("report.json");
    run(&["lower", &file, "--json", "-o", &json]);
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    assert_eq!(report["ledger"]["images"], 2);
    let nowhere = run(&["lower", &file, "-o", "/no/such/folder/out.json"]);
    assert_eq!(nowhere.status.code(), Some(2));
    assert!(stderr(&nowhere).contains("cannot write `/no/such/folder/out.json`"));
}

#[cfg(unix)]
#[test]
fn a_large_body_is_not_written_to_a_terminal() {
    let folder = Folder::new("terminal");
    let mut body = chat("gpt-4o", 1);
    body["messages"][0]["content"] = "word ".repeat(20_000).into();
    let file = folder.file("body.json", body.to_string());
    let (shown, is_success) = crate::preview::in_terminal_with_status(&[], &["lower", &file]);
    assert!(!is_success && shown.contains("too many for a terminal"), "{shown:.300}");
    assert!(shown.contains("`-o repaired.json`") && shown.len() < 1000, "{shown:.300}");
    let small = folder.file("small.json", chat("gpt-4o", 0).to_string());
    let (shown, is_success) = crate::preview::in_terminal_with_status(&[], &["lower", &small]);
    assert!(is_success && shown.contains("Look."), "{shown}");
}

#[test]
fn what_lower_dropped_is_said() {
    let folder = Folder::new("dropped");
    let mut body = chat("gpt-4o", 6);
    body["logit_bias"] = serde_json::json!({"50256": -100});
    let file = folder.file("body.json", body.to_string());
    let says = stderr(&run(&[
        "lower",
        &file,
        "--policy",
        "newest(2)",
        "--to",
        "anthropic",
        "--for",
        "claude-opus-5",
    ]));
    assert!(says.contains("not shown: 4 pictures or documents"), "{says}");
    assert!(says.contains("left out: 1 value that anthropic has no field for"), "{says}");
}

#[test]
fn standard_input_is_a_dash_everywhere() {
    let body = chat("gpt-4o", 1).to_string();
    for command in ["check", "lower", "explain", "simulate"] {
        let output = piped(&[command, "-", "--json"], body.as_bytes());
        assert_eq!(data(&output)["model"], "gpt-4o", "{command}");
    }
}

#[test]
fn the_comparison_is_written_by_the_extension() {
    let folder = Folder::new("extension");
    let write = |name: &str, flag: &str| {
        let path = folder.path(name);
        let output = run(&["simulate", "--steps", "9", flag, &path]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        std::fs::read_to_string(path).unwrap()
    };
    assert!(write("a.svg", "-o").starts_with("<svg "));
    assert!(write("a.svg", "--svg").starts_with("<svg "), "its old name");
    let json: serde_json::Value = serde_json::from_str(&write("a.json", "-o")).unwrap();
    assert_eq!(json["steps"], 9);
    let table = write("a.txt", "-o");
    assert!(table.contains("9 steps") && !table.contains('\u{1b}'), "{table}");
}

#[test]
fn old_names_of_options_still_work() {
    let keep = ["simulate", "--steps", "9", "--json"];
    let new = run(&[&keep[..], &["--keep", "5"]].concat()).stdout;
    assert_eq!(run(&[&keep[..], &["--floor", "5"]].concat()).stdout, new);
    for arguments in [
        &["inspect", "--batch", "/no/list", "--question", "?", "--out", "x", "--record", "y"][..],
        &["inspect", "--batch", "/no/list", "--question", "?", "-o", "x", "--store", "y"],
    ] {
        let says = stderr(&run(arguments));
        assert!(!says.contains("unexpected argument"), "{arguments:?}: {says}");
    }
}

#[cfg(unix)]
#[test]
fn a_folder_after_record_is_not_run() {
    let folder = Folder::new("record");
    let output = run(&["run", "--record", &folder.path(""), "true"]);
    assert_eq!(output.status.code(), Some(2));
    let says = stderr(&output);
    assert!(says.contains("is a folder and no command"), "{says}");
    assert!(
        says.contains("hint: name a directory for recordings with `--record --store DIR"),
        "{says}"
    );
    let store = folder.path("store");
    let output = run(&["run", "--quiet", "--record", "--store", &store, "--", "true"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(std::path::Path::new(&store).is_dir(), "the store is there");
}
