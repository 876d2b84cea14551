//! `check`: groups, order, other formats.

use std::fmt::Write as _;

use serde_json::json;

use super::{Folder, chat, data};
use crate::{run, stderr, stdout};

#[test]
fn findings_that_repeat_are_told_once() {
    let folder = Folder::new("groups");
    let file = folder.file("body.json", chat("gpt-4o", 12).to_string());
    let words = stdout(&run(&["check", &file]));
    let heads = words.lines().filter(|line| line.starts_with("image_in_forbidden_role"));
    let heads: Vec<&str> = heads.collect();
    let expected = "image_in_forbidden_role 12 like this: /messages/2/content/0/image_url/url … /messages/24/content/0/image_url/url";
    assert_eq!(heads, [expected], "{words}");
    assert!(words.contains("12 findings in"), "{words}");
}

#[test]
fn findings_are_in_the_order_of_the_request() {
    let folder = Folder::new("order");
    let file = folder.file("body.json", chat("gpt-4o", 12).to_string());
    let report = data(&run(&["check", &file, "--json"]));
    let found = report["findings"].as_array().unwrap();
    let numbers: Vec<u32> = found
        .iter()
        .map(|one| one["at"].as_str().unwrap().split('/').nth(2).unwrap().parse().unwrap())
        .collect();
    let expected: Vec<u32> = (1..=12).map(|turn| turn * 2).collect();
    assert_eq!(numbers, expected);
    let indices: Vec<u64> = found.iter().map(|one| one["index"].as_u64().unwrap()).collect();
    assert_eq!(indices, (1..=12).collect::<Vec<u64>>(), "images count from 1");
}

#[test]
fn a_wrong_wire_is_found_out() {
    let folder = Folder::new("wire");
    let file = folder.file("body.json", chat("gpt-4o", 1).to_string());
    let picture = photic_testkit::image::data_url(
        "image/png",
        &photic_testkit::image::png(64, 64, [1, 2, 3]),
    );
    let plain = json!({"model": "gpt-4o", "messages": [{"role": "user", "content": [
        {"type": "image_url", "image_url": {"url": picture}}]}]});
    let plain = folder.file("plain.json", plain.to_string());
    let gemini = json!({"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]});
    let gemini = folder.file("gemini.json", gemini.to_string());
    for (file, from, likely) in [
        (&file, "anthropic", "openai-chat"),
        (&file, "gemini", "openai-chat"),
        (&gemini, "openai-chat", "gemini"),
        (&plain, "ollama", "openai-chat"),
    ] {
        for command in ["check", "lower", "explain"] {
            let output = run(&[command, file, "--from", from]);
            assert_eq!(output.status.code(), Some(2), "{command} {from}");
            let says = stderr(&output);
            let expected = format!("is not a request of {from}; it looks like {likely}");
            assert!(says.contains(&expected), "{command}: {says}");
            assert!(says.contains("hint: name its format with `--from`"), "{command}: {says}");
        }
    }
    assert_eq!(run(&["check", &gemini, "--from", "gemini"]).status.code(), Some(0));
}

#[test]
fn the_session_of_an_agent_is_a_case_for_the_doctor() {
    let folder = Folder::new("session");
    let mut lines = String::new();
    for (index, text) in ["Hello", "Hi"].iter().enumerate() {
        let record = json!({"parentUuid": null, "isSidechain": false, "userType": "external",
            "cwd": "/", "sessionId": "s", "version": "2.0.0", "type": "user",
            "message": {"role": "user", "content": text}, "uuid": format!("u{index}"),
            "timestamp": "2026-11-01T00:00:00Z"});
        let _ = writeln!(lines, "{record}");
    }
    let file = folder.file("session.jsonl", &lines);
    for command in ["check", "explain", "lower"] {
        let output = run(&[command, &file]);
        assert_eq!(output.status.code(), Some(2), "{command}");
        let says = stderr(&output);
        assert!(says.contains("is a session of claude-code"), "{command}: {says}");
        assert!(says.contains("hint: run `photic doctor FILE`"), "{command}: {says}");
    }
}
