//! Conversations that frameworks stored, on the command line.

use serde_json::Value;

use crate::{run, stderr, stdout};

const STORED: &str = "crates/photic/tests/dumps/langchain-py-dict-v0.json";

#[test]
fn what_a_framework_stored_becomes_a_request_of_any_wire() {
    for wire in
        ["openai-chat", "openai-responses", "anthropic", "gemini", "bedrock-converse", "ollama"]
    {
        let output = run(&["lower", STORED, "--to", wire, "--json"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&report["from"], &report["to"]), (&"langchain".into(), &wire.into()));
        assert!(report["ledger"]["images"].as_u64().unwrap() >= 3, "{report}");
        assert!(report["body"].is_object());
    }
    let output = run(&["lower", STORED, "--to", "anthropic", "--explain"]);
    assert!(
        stderr(&output)
            .contains("langchain → anthropic, no model named, profile `anthropic`; 4 images seen"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn it_can_be_named_and_a_wrong_name_is_refused() {
    let named = run(&["lower", STORED, "--from", "langchain", "--to", "gemini"]);
    let found = run(&["lower", STORED, "--to", "gemini"]);
    assert_eq!(named.stdout, found.stdout);
    let output = run(&["lower", STORED, "--from", "langsmith", "--to", "gemini"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("pydantic-ai"), "{}", stderr(&output));
}

#[test]
fn its_images_are_explained_for_a_wire_and_checked_for_none() {
    let output = run(&["explain", STORED, "--to", "openai-chat"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("screenshot"), "{}", stdout(&output));
    for command in ["check", "explain"] {
        let output = run(&[command, STORED]);
        assert_eq!(output.status.code(), Some(2));
        let said = stderr(&output);
        assert!(said.contains("is a conversation stored by langchain, not a request"), "{said}");
        assert!(said.contains("hint: convert it to a request first: `photic lower"), "{said}");
    }
}
