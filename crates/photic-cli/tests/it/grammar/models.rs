//! The model comes from the body, an option overrides it, and what is special about it is said.

use super::{Folder, chat, data};
use crate::{run, stderr, stdout};

/// The commands that read a body and plan for its model.
const COMMANDS: [&[&str]; 5] =
    [&["check"], &["lower"], &["explain"], &["simulate"], &["session", "import"]];

/// Runs a command on a file, with a store of its own for sessions.
fn on(command: &[&str], file: &str, folder: &Folder, more: &[&str]) -> std::process::Output {
    let store = folder.path("store");
    let store: &[&str] = if command[0] == "session" { &["--store", &store] } else { &[] };
    run(&[command, &[file], more, store].concat())
}

#[test]
fn an_unknown_model_of_the_body_is_said_with_the_nearest_known_one() {
    let folder = Folder::new("nearest");
    let file = folder.file("body.json", chat("gtp-4o", 1).to_string());
    for command in COMMANDS {
        let output = on(command, &file, &folder, &[]);
        let says = stderr(&output);
        assert!(says.contains("unknown model `gtp-4o`"), "{command:?}: {says}");
        assert!(says.contains("Did you mean `gpt-4o`?"), "{command:?}: {says}");
    }
}

#[test]
fn a_text_only_model_is_said_to_be_one() {
    let folder = Folder::new("blind");
    let file = folder.file("body.json", chat("gpt-3.5-turbo", 1).to_string());
    for command in COMMANDS {
        let output = on(command, &file, &folder, &[]);
        let says = stderr(&output);
        assert!(says.contains("model `gpt-3.5-turbo` reads text only"), "{command:?}: {says}");
    }
}

#[test]
fn an_option_overrides_the_model_of_the_body() {
    let folder = Folder::new("override");
    let file = folder.file("body.json", chat("gtp-4o", 1).to_string());
    for command in COMMANDS {
        let output = on(command, &file, &folder, &["--for", "gpt-4o"]);
        assert!(!stderr(&output).contains("unknown"), "{command:?}: {}", stderr(&output));
    }
    for command in ["check", "lower", "explain", "simulate"] {
        let report = data(&run(&[command, &file, "--for", "gpt-4o", "--json"]));
        assert_eq!(
            (&report["model"], &report["model_from"]),
            (&"gpt-4o".into(), &"argument".into())
        );
        let report = data(&run(&[command, &file, "--json"]));
        assert_eq!((&report["model"], &report["model_from"]), (&"gtp-4o".into(), &"body".into()));
    }
}

#[test]
fn commands_without_a_body_say_the_same_of_a_model() {
    let output = run(&["simulate", "--steps", "5", "--for", "gtp-4o"]);
    assert!(stderr(&output).contains("Did you mean `gpt-4o`?"), "{}", stderr(&output));
    for command in [&["profiles", "--for", "gtp-4o"][..], &["profiles", "show", "gtp-4o"]] {
        let output = run(command);
        assert!(stderr(&output).contains("Did you mean `gpt-4o`?"), "{}", stderr(&output));
    }
}

#[test]
fn a_view_for_a_text_only_model_says_so() {
    for command in [
        &["view", "captures/images/bars.png", "--for", "gpt-3.5-turbo"][..],
        &["simulate", "--steps", "5", "--for", "gpt-3.5-turbo"],
    ] {
        let says = stderr(&run(command));
        assert!(says.contains("model `gpt-3.5-turbo` reads text only"), "{command:?}: {says}");
    }
}

#[test]
fn a_model_of_another_wire_is_said_to_be_known_there() {
    let folder = Folder::new("elsewhere");
    let file = folder.file("body.json", chat("gpt-4o", 1).to_string());
    let says = stderr(&run(&["explain", &file, "--to", "anthropic"]));
    assert!(says.contains("It is known on openai-chat"), "{says}");
}

#[test]
fn the_body_on_its_own_wire_names_the_model_that_was_asked_for() {
    let folder = Folder::new("rename");
    let body = chat("gpt-4o", 0).to_string();
    let file = folder.file("body.json", &body);
    let lowered = stdout(&run(&["lower", &file, "--for", "gpt-4.1"]));
    assert_eq!(lowered, body.replace("gpt-4o", "gpt-4.1"), "nothing else changes");
    assert_eq!(stdout(&run(&["lower", &file])), body);
    let other = data(&run(&["lower", &file, "--to", "anthropic", "--for", "claude-opus-5"]));
    assert_eq!(other["model"], "claude-opus-5");
}

#[test]
fn a_session_is_simulated_for_the_model_and_images_of_a_body() {
    let folder = Folder::new("simulate");
    let file = folder.file("body.json", chat("gpt-4o", 3).to_string());
    let report = data(&run(&["simulate", &file, "--json"]));
    assert_eq!(report["size"], serde_json::json!([640, 400]));
    assert_eq!(report["profile"], "gpt-4o@openai-chat");
    let report = data(&run(&["simulate", &file, "--image", "100x100", "--json"]));
    assert_eq!(report["size"], serde_json::json!([100, 100]));
}
