//! `check` and `lower`: exit codes, words, JSON.

use std::io::Write as _;
use std::process::Stdio;

use crate::{photic, root, run, stderr, stdout};

const BLIND: &str = "crates/photic/tests/captured/ai6-openai-compatible-one.json";
const CLEAN: &str = "crates/photic/tests/captured/ai6-anthropic-one.json";

#[test]
fn check_says_what_blinds_the_model_and_exits_with_1() {
    let output = run(&["check", BLIND, "--for", "gpt-4o"]);
    assert_eq!(output.status.code(), Some(1));
    let words = stdout(&output);
    assert!(words.starts_with("image_as_text at /messages/2/content#/1/data\n"), "{words}");
    assert!(words.contains("tokens as text, 255 as an image"), "{words}");
    assert!(words.contains("hint: `photic lower`"), "{words}");
    assert!(words.contains("1 finding in"), "{words}");
    assert!(stderr(&output).is_empty());
}

#[test]
fn check_of_a_clean_body_exits_with_0() {
    let output = run(&["check", CLEAN]);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    assert!(stdout(&output).starts_with("clean: "));
}

#[test]
fn misuse_exits_with_2_and_says_what_to_do_next() {
    for (arguments, says) in [
        (vec!["check", "no-such-file.json"], "error: cannot read `no-such-file.json`"),
        (vec!["check", "Cargo.toml"], "hint: pass the body of one request"),
        (vec!["check", "captures/ai6/package.json"], "hint: pass the format with `--from"),
        (vec!["check", BLIND, "--from", "gemini"], "is not a request of gemini; it looks like"),
        (vec!["lower", BLIND, "--to", "carrier-pigeon"], "possible values: openai-chat"),
    ] {
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(says), "{arguments:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn json_is_json_and_names_the_same_findings() {
    let output = run(&["check", BLIND, "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["findings"][0]["code"], "image_as_text");
    assert_eq!(report["wire"], "openai-chat");

    let output = run(&["lower", BLIND, "--to", "anthropic", "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["ledger"]["images"], 1);
    assert_eq!(report["body"]["messages"][0]["role"], "user");
    assert_eq!(report["decisions"][0]["did"], "rewrote");
}

#[test]
fn lower_reads_standard_input_and_explains_on_standard_error() {
    let body = std::fs::read(root().join(BLIND)).unwrap();
    let mut child = photic()
        .args(["lower", "-", "--to", "openai-chat", "--explain"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&body).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("moved into the user turn"), "{}", stderr(&output));
    let again = serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap();
    assert_eq!(again["messages"].as_array().unwrap().last().unwrap()["role"], "user");
}

#[test]
fn a_clean_body_passes_through_byte_for_byte() {
    let output = run(&["lower", CLEAN, "--to", "anthropic"]);
    assert_eq!(output.stdout, std::fs::read(root().join(CLEAN)).unwrap());
}

#[test]
fn replies_are_lowered_too() {
    let reply = "crates/photic/tests/wires/reply-anthropic-calls/reply.json";
    let output = run(&["lower", reply, "--to", "openai-chat"]);
    let reply: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(reply["choices"][0]["finish_reason"], "tool_calls");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = photic()
        .args(["lower", BLIND, "--to", "anthropic"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn help_begins_with_examples_and_every_shell_gets_completions() {
    for arguments in
        [vec!["--help"], vec!["check", "--help"], vec!["lower", "--help"], vec!["view", "--help"]]
    {
        assert!(stdout(&run(&arguments)).starts_with("Examples:\n"), "{arguments:?}");
    }
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(stdout(&run(&["completions", shell])).contains("photic"), "{shell}");
    }
}

/// A body with a picture, for a model.
fn body_for(model: &str) -> String {
    let url = photic_testkit::image::data_url(
        "image/png",
        &photic_testkit::image::png(64, 64, [1, 2, 3]),
    );
    let part = serde_json::json!({"type": "image_url", "image_url": {"url": url}});
    let body =
        serde_json::json!({"model": model, "messages": [{"role": "user", "content": [part]}]});
    let path = std::env::temp_dir().join(format!("photic-{}-{model}.json", std::process::id()));
    std::fs::write(&path, body.to_string()).unwrap();
    path.display().to_string()
}

#[test]
fn the_model_is_taken_from_the_body_and_said() {
    // This one sees nothing.
    let blind = body_for("gpt-3.5-turbo");
    let output = run(&["check", &blind]);
    let words = stdout(&output);
    let says = "model `gpt-3.5-turbo` from the body, profile `openai-text-only@openai-chat`";
    assert!(words.contains(says) && words.contains("no images"), "{words}");
    let output = run(&["explain", &blind]);
    assert!(stdout(&output).contains("this model cannot take it in"), "{}", stdout(&output));
    let output = run(&["lower", &blind, "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&report["model"], &report["model_from"]),
        (&"gpt-3.5-turbo".into(), &"body".into())
    );
    assert_eq!((&report["to"], &report["ledger"]["images"]), (&"openai-chat".into(), &0.into()));
    // An argument goes before it.
    let output = run(&["check", &blind, "--for", "gpt-4o"]);
    assert!(stdout(&output).contains("(openai-chat, model `gpt-4o`, profile"));
}

#[test]
fn a_model_that_nobody_knows_is_said_to_be_unknown() {
    let unknown = body_for("gtp-4o");
    for command in ["check", "lower", "explain"] {
        let output = run(&[command, &unknown]);
        let note = "note: unknown model `gtp-4o` on openai-chat; using the generic profile";
        assert!(stderr(&output).contains(note), "{command}: {}", stderr(&output));
    }
}

#[test]
fn a_body_for_another_wire_names_the_model_that_was_asked_for() {
    let body = body_for("gpt-4o");
    let output = run(&["lower", &body, "--to", "anthropic", "--for", "claude-opus-5"]);
    let lowered: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(lowered["model"], "claude-opus-5");
    // On its own wire, too, and nothing else changes.
    let output = run(&["lower", &body, "--for", "gpt-4.1"]);
    let former = std::fs::read_to_string(&body).unwrap();
    assert_eq!(stdout(&output), former.replace("gpt-4o", "gpt-4.1"));
}

#[test]
fn a_conversation_that_the_provider_keeps_is_a_note_and_no_problem() {
    let file = "crates/photic/tests/wires/responses-previous-id/in.json";
    for command in ["check", "explain"] {
        let output = run(&[command, file]);
        assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
        let words = stdout(&output);
        let note = "note: `previous_response_id` at /previous_response_id: the provider keeps";
        assert!(words.contains(note), "{command}: {words}");
        let output = run(&[command, file, "--json"]);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["notes"][0]["effect"], "continues", "{report}");
    }
    let warned = run(&["lower", file, "--to", "anthropic"]);
    assert!(stderr(&warned).contains("warning: `previous_response_id`"), "{}", stderr(&warned));
    assert!(stderr(&run(&["lower", file])).is_empty());
}

#[test]
fn lower_says_that_it_left_something_out() {
    let file = "crates/photic/tests/wires/responses-codex-tools/in.json";
    let output = run(&["lower", file, "--to", "openai-chat"]);
    let body: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(body["tools"].as_array().unwrap().len(), 2, "{body}");
    let says = stderr(&output);
    assert!(says.contains("left out: ") && says.contains("`--explain` lists them"), "{says}");
}
