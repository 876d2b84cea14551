//! Failures with `--json`: one object on standard output, and the exit code stays.

use super::{Folder, data};
use crate::{run, stderr};

#[test]
fn a_failure_is_one_object_with_kind_message_and_hint() {
    let folder = Folder::new("failures");
    let toml = folder.file("broken.toml", "lissten = 1\n");
    for (arguments, kind, says) in [
        (
            &["check", "no-such-file.json", "--json"][..],
            "not_found",
            "cannot read `no-such-file.json`",
        ),
        (&["lower", "Cargo.toml", "--json"], "unknown_format", "`Cargo.toml` is not JSON"),
        (&["explain", "captures/ai6/package.json", "--json"], "unknown_format", "known format"),
        (&["check", "--json", "--bogus"], "usage", "unexpected argument '--bogus'"),
        (&["simulate", "--json", "--steps", "0"], "usage", "0 is not in 1..=2000"),
        (&["config", "--json", "--config", &toml], "settings", "did you mean `listen`?"),
        (
            &["view", "no-such-picture.png", "--json"],
            "not_found",
            "cannot read `no-such-picture.png`",
        ),
        (&["doctor", "no-such-session.jsonl", "--json"], "not_found", "no-such-session.jsonl"),
        (
            &["session", "show", "last", "--json", "--store", &folder.path("store")],
            "failed",
            "there are no sessions yet",
        ),
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let report = data(&output);
        let error = &report["error"];
        assert_eq!(error["kind"], kind, "{arguments:?}: {report}");
        assert!(error["message"].as_str().unwrap().contains(says), "{arguments:?}: {report}");
        assert!(stderr(&output).is_empty(), "{arguments:?}: {}", stderr(&output));
    }
    let hint = data(&run(&["lower", "Cargo.toml", "--json"]))["error"]["hint"].clone();
    assert_eq!(hint, "pass the body of one request, as it is sent to the API");
}

#[test]
fn a_refusal_is_an_error_with_its_code() {
    let output = run(&["view", "captures/images/bars.png", "--region", "500,500,10,10", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let report = data(&output);
    assert_eq!(report["error"]["kind"], "bad_region");
    assert!(report["error"]["hint"].is_string(), "{report}");
    assert_eq!(report.as_object().unwrap().len(), 1, "a refusal is said once: {report}");
}

#[test]
fn the_arguments_of_a_command_that_is_run_are_its_own() {
    let output = run(&["run", "--no-such-option", "--", "true", "--json"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).starts_with("error: "), "{}", stderr(&output));
    let output = run(&["run", "no-such-command-here", "--json"]);
    assert!(stderr(&output).contains("no-such-command-here"), "{}", stderr(&output));
    assert!(output.stdout.is_empty());
}
