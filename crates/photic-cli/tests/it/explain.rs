//! `explain`, and what `lower` does with pixels.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::{run, stderr, stdout};

/// A real PNG of one color, with a number in it so that no two are alike.
fn png(width: u32, height: u32, number: usize) -> String {
    let bytes = photic_testkit::image::png_with_text(
        width,
        height,
        [40, 90, 200],
        &[("number", &number.to_string())],
    );
    STANDARD.encode(bytes)
}

/// A session on the Messages wire, one screenshot a turn, in a file of its own.
fn session(name: &str, turns: usize, (width, height): (u32, u32)) -> String {
    let mut messages = vec![json!({"role": "user", "content": "Go."})];
    for turn in 0..turns {
        messages.push(json!({"role": "assistant", "content": [
            {"type": "text", "text": "y".repeat(1000)},
            {"type": "tool_use", "id": format!("c{turn}"), "name": "screenshot", "input": {}},
        ]}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": format!("c{turn}"), "content": [
                {"type": "image", "source": {"type": "base64", "media_type": "image/png",
                    "data": png(width, height, turn)}},
            ]},
        ]}));
    }
    let body = json!({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": messages});
    let path = std::env::temp_dir().join(format!("photic-{}-{name}.json", std::process::id()));
    std::fs::write(&path, body.to_string()).unwrap();
    path.display().to_string()
}

fn media(file: &str, arguments: &[&str]) -> Vec<Value> {
    let output =
        run(&[&["explain", file, "--for", "claude-sonnet-4-5", "--json"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    report["media"].as_array().unwrap().clone()
}

#[test]
fn explain_tells_every_fate_its_reason_and_its_price() {
    let file = session("fates", 14, (160, 100));
    // The default keeps everything that fits.
    assert!(media(&file, &[]).iter().all(|one| one["fate"] == "keep"));
    let rows = media(&file, &["--policy", "newest(4)"]);
    assert_eq!(rows.len(), 14);
    for (index, row) in rows.iter().enumerate() {
        let is_shown = index >= 10;
        assert_eq!(row["fate"], if is_shown { "keep" } else { "elide" }, "{row}");
        assert_eq!(row["reason"], if is_shown { "fits" } else { "retired" }, "{row}");
        assert_eq!(row["usd"].is_null(), !is_shown, "{row}");
        assert_eq!(row["tool"], "screenshot");
        assert_eq!(row["index"], index + 1);
    }
    let output = run(&["explain", &file, "--for", "claude-sonnet-4-5", "--policy", "newest(4)"]);
    let words = stdout(&output);
    assert!(words.contains("elide   it was left out to save cost"), "{words}");
    assert!(words.contains("4 images shown"), "{words}");
    assert!(words.contains("prompt cache: prefix changes at message 21"), "{words}");
    std::fs::remove_file(file).unwrap();
}

/// Nine screenshots for an endpoint that takes eight.
#[test]
fn check_lower_and_explain_say_what_a_limit_retires() {
    let file = session("limit", 9, (160, 100));
    let model = ["--for", "mistral-medium-3", "--from", "anthropic"];
    let arguments = |command: &'static str, more: &'static [&str]| {
        run(&[&[command, &file][..], &model, more].concat())
    };
    let lowered = arguments("lower", &["--to", "openai-chat"]);
    let says = "not shown: 8 pictures or documents: this endpoint accepts no more of them in one \
                request (over_count 8)";
    assert!(stderr(&lowered).contains(says), "{}", stderr(&lowered));
    let fits = run(&["lower", &file, "--to", "anthropic"]);
    assert!(!stderr(&fits).contains("not shown"), "{}", stderr(&fits));
    let explained = arguments("explain", &["--to", "openai-chat"]);
    assert!(stdout(&explained).contains(says), "{}", stdout(&explained));
    let retired = |output: &std::process::Output| {
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["retired"].clone()
    };
    let lowered = arguments("lower", &["--to", "openai-chat", "--json"]);
    assert_eq!(retired(&lowered), json!({"over_count": 8}));
    std::fs::remove_file(file).unwrap();
}

#[test]
fn check_says_what_lower_does() {
    let file = session("same", 12, (1280, 800));
    for policy in ["all", "newest(4)", "priced", "turns(1)"] {
        let report = |arguments: &[&str]| -> Value {
            let common = ["--for", "claude-sonnet-4-5", "--policy", policy, "--json"];
            serde_json::from_slice(&run(&[arguments, &common].concat()).stdout).unwrap()
        };
        let check = report(&["check", &file]);
        let lower = report(&["lower", &file, "--to", "anthropic"]);
        assert_eq!(check["retired"], lower["retired"], "{policy}");
        assert_eq!(check["images"], lower["ledger"]["images"], "{policy}");
    }
    let words = stdout(&run(&["check", &file, "--policy", "newest(4)"]));
    assert!(words.contains("not shown: `photic lower` leaves out 8 pictures"), "{words}");
    std::fs::remove_file(file).unwrap();
}

#[test]
fn marks_are_set_where_they_are_wanted() {
    let file = session("marks", 6, (1280, 800));
    let lower = ["lower", &file, "--to", "anthropic", "--for", "claude-sonnet-4-5"];
    assert!(!stdout(&run(&lower)).contains("cache_control"));
    assert!(stdout(&run(&[&lower[..], &["--marks"]].concat())).contains("cache_control"));
    std::fs::remove_file(file).unwrap();
}

#[test]
fn lower_shrinks_what_a_crowd_forbids() {
    let file = session("crowd", 21, (2004, 40));
    let output = run(&[
        "lower",
        &file,
        "--to",
        "anthropic",
        "--for",
        "claude-sonnet-4-5",
        "--policy",
        "all",
    ]);
    let body: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut shown = 0;
    for message in body["messages"].as_array().unwrap() {
        let data = message["content"][0]["content"][0]["source"]["data"].as_str();
        if let Some(data) = data {
            let bytes = STANDARD.decode(data).unwrap();
            let width = u32::from_be_bytes(bytes[16..20].try_into().unwrap());
            assert!(width <= 2000, "{width}");
            shown += 1;
        }
    }
    assert_eq!(shown, 21);
    std::fs::remove_file(file).unwrap();
}

#[test]
fn a_policy_that_does_not_exist_is_misuse() {
    let output = run(&["explain", "examples/request.json", "--policy", "newest"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("priced, turns(K), newest(N), all"), "{}", stderr(&output));
}

#[test]
fn a_summary_carries_no_pixels() {
    let output = run(&["lower", "examples/request.json", "--to", "anthropic", "--summary"]);
    let body = stdout(&output);
    assert!(body.contains("pictures are left out of a summary"), "{body}");
    assert!(!body.contains("iVBOR") && !body.contains("/9j/"), "{body}");
}
