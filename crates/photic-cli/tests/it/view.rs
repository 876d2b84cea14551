//! `view`: facts, files, refusals.

use crate::{run, stderr, stdout};

const PICTURE: &str = "captures/images/bars.png";

#[test]
fn the_facts_of_a_picture_are_told_in_words_and_as_json() {
    let output = run(&["view", PICTURE, "--for", "claude-sonnet-5"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let words = stdout(&output);
    assert!(words.contains("64x48"), "{words}");
    assert!(words.contains("tokens"), "{words}");

    let output = run(&["view", PICTURE, "--json", "--region", "8,8,16,16"]);
    let facts: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(facts["source"], serde_json::json!([64, 48]));
    assert_eq!(facts["region"]["width"], 16);
    assert!(facts["tokens"].as_u64().unwrap() > 0);
}

#[test]
fn what_the_model_gets_is_written_to_a_file() {
    let path = std::env::temp_dir().join(format!("photic-view-{}.png", std::process::id()));
    let output = run(&["view", PICTURE, "-o", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let written = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(written.starts_with(b"\x89PNG") || written.starts_with(b"\xff\xd8"));
}

#[test]
fn what_is_no_picture_is_refused_with_a_hint_and_exit_1() {
    let output = run(&["view", "README.md"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).starts_with("refused: "), "{}", stderr(&output));
    assert!(stderr(&output).contains("hint: "), "{}", stderr(&output));

    let output = run(&["view", PICTURE, "--region", "500,500,10,10", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let refusal: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(refusal["refusal"]["code"], "bad_region");
}

#[test]
fn misuse_says_what_is_wanted() {
    let output = run(&["view", PICTURE, "--region", "1,2,3"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("four whole numbers"), "{}", stderr(&output));
    let output = run(&["view", "no-such-picture.png"]);
    assert_eq!(output.status.code(), Some(2));
}
