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
    let output = run(&["view", "crates/photic-cli/tests/data/no-picture.bin"]);
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
    let output = run(&["view", PICTURE, "--region", "-1,2,3,4"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("four whole numbers"), "{}", stderr(&output));
    let output = run(&["view", "no-such-picture.png"]);
    assert_eq!(output.status.code(), Some(2));
    let output = run(&["view", "https://example.com/a.png"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).starts_with("error: cannot read"), "{}", stderr(&output));
    assert!(stderr(&output).contains("hint: photic does not fetch"), "{}", stderr(&output));
}

#[test]
fn a_model_nobody_knows_is_named() {
    let output = run(&["view", PICTURE, "--for", "sees-all-9000"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("unknown model `sees-all-9000`"));
    assert!(!stderr(&run(&["view", PICTURE, "--for", "gpt-4o"])).contains("nothing is known"));
}

/// A GIF of three 20 by 20 frames, each all of one color.
const THREE_FRAMES: &str = "crates/photic-cli/tests/data/three-frames.gif";

#[test]
fn frames_are_shown_one_by_one_or_side_by_side() {
    let facts = |arguments: &[&str]| -> serde_json::Value {
        let output = run(&[&["view", THREE_FRAMES, "--json"], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let one = facts(&["--frame", "1"]);
    assert_eq!(one["source"], serde_json::json!([20, 20]));
    assert_eq!(one["frames"], 3);
    assert_eq!(one["warnings"][1]["code"], "more_frames");
    // Two in a row, one below, four pixels between them.
    let all = facts(&["--sheet"]);
    assert_eq!(all["source"], serde_json::json!([44, 44]));
    assert_eq!(all["frames"], 3);
    let two = facts(&["--sheet", "2"]);
    assert_eq!(two["source"], serde_json::json!([20, 44]));

    let output = run(&["view", THREE_FRAMES, "--frame", "3"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("no frame 3"), "{}", stderr(&output));
}
