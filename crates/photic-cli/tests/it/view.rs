//! `view`: facts, files, refusals.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Output, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic_testkit::image;
use serde_json::{Value, json};

use crate::{photic, run, stderr, stdout};

const PICTURE: &str = "captures/images/bars.png";

#[test]
fn the_facts_of_a_picture_are_told_in_words_and_as_json() {
    let output = run(&["view", PICTURE, "--for", "claude-sonnet-5"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let words = stdout(&output);
    assert!(words.contains("64x48"), "{words}");
    assert!(words.contains("tokens"), "{words}");

    let output = run(&["view", PICTURE, "--json", "--region", "8,8,16,16"]);
    let facts: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(facts["source_size"], json!([64, 48]));
    assert_eq!((&facts["pages"], &facts["media_type"]), (&json!(1), &json!("image/png")));
    assert!(facts["size"].is_array() && facts["bytes"].as_u64() > Some(0), "{facts}");
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
    let refusal: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(refusal["error"]["kind"], "bad_region");
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
    let facts = |arguments: &[&str]| -> Value {
        let output = run(&[&["view", THREE_FRAMES, "--json"], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let one = facts(&["--page", "2"]);
    assert_eq!(one["source_size"], json!([20, 20]));
    assert_eq!(one["pages"], 3);
    assert_eq!(facts(&["--frame", "2"]), one, "another name for it, from 1 as well");
    assert_eq!(one["warnings"][1]["code"], "more_frames");
    // Two in a row, one below, four pixels between them.
    let all = facts(&["--sheet"]);
    assert_eq!(all["source_size"], json!([44, 44]));
    assert_eq!(all["pages"], 3);
    let two = facts(&["--sheet", "2"]);
    assert_eq!(two["source_size"], json!([20, 44]));

    let output = run(&["view", THREE_FRAMES, "--page", "4"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("no page or frame 4"), "{}", stderr(&output));
}

/// A folder of one test, removed when it ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("photic-cli-view-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn piped(arguments: &[&str], bytes: &[u8]) -> Output {
    let mut command = photic();
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn a_region_of_a_picture_beyond_the_limit_is_shown_and_the_limit_has_a_flag() {
    let folder = Folder::new("large");
    let large = folder.file("large.png", &image::png_noise(1300, 1000, 4));
    let limited = ["view", &large, "--max-megapixels", "1"];
    let output = run(&limited);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    let says = stderr(&output);
    assert!(says.contains("1300x1000") && says.contains("1.3 megapixels"), "{says}");
    assert!(says.contains("`--max-megapixels 2`"), "the error names the flag: {says}");
    assert!(says.contains("ask for a region"), "{says}");
    let part = ["--region", "100,800,300,200", "--json"];
    let facts = |arguments: &[&str]| -> Value {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let limited_facts = facts(&[&limited[..], &part].concat());
    assert_eq!(limited_facts["source_size"], json!([1300, 1000]));
    assert_eq!(limited_facts, facts(&[&["view", large.as_str()][..], &part].concat()));
    assert_eq!(run(&["view", &large, "--max-megapixels", "2"]).status.code(), Some(0));
}

#[test]
fn the_type_of_the_output_follows_its_extension() {
    let folder = Folder::new("types");
    let picture = folder.file("page.png", &image::png_noise(400, 300, 3));
    let start = |name: &str| {
        let to = folder.0.join(name);
        let output = run(&["view", &picture, "-o", to.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        std::fs::read(to).unwrap()
    };
    assert!(start("out.png").starts_with(b"\x89PNG"));
    assert!(start("out.jpg").starts_with(b"\xff\xd8"));
    assert!(start("OUT.JPEG").starts_with(b"\xff\xd8"));
    let to = folder.0.join("out.tiff");
    let output = run(&["view", &picture, "-o", to.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("end the name in `.png`, `.jpg`"), "{}", stderr(&output));
    assert!(!to.exists());
}

#[test]
fn an_image_of_a_request_is_shown_by_its_number() {
    let folder = Folder::new("request");
    let url = |bytes: &[u8]| format!("data:image/png;base64,{}", STANDARD.encode(bytes));
    let part = |bytes: &[u8]| json!({"type": "image_url", "image_url": {"url": url(bytes)}});
    let body = json!({"model": "gpt-4o", "messages": [
        {"role": "user", "content": [part(&image::png_noise(210, 220, 1))]},
        {"role": "user", "content": [
            {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
            part(&image::png_noise(230, 240, 2)),
        ]},
    ]})
    .to_string();
    let request = folder.file("request.json", body.as_bytes());
    let facts = |output: &Output| -> Value {
        assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let third = facts(&run(&["view", &request, "--image", "3", "--json"]));
    assert_eq!(third["source_size"], json!([230, 240]));
    // The model is that of the body.
    let named = facts(&run(&["view", &request, "--image", "3", "--json", "--for", "gpt-4o"]));
    assert_eq!(third["tokens"], named["tokens"]);
    let first = facts(&piped(&["view", "-", "--image", "1", "--json"], body.as_bytes()));
    assert_eq!(first["source_size"], json!([210, 220]));
    for (number, words) in [("2", "is a URL"), ("4", "which has 3")] {
        let output = run(&["view", &request, "--image", number]);
        assert_eq!(output.status.code(), Some(2), "{number}");
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
    assert_eq!(run(&["view", &request, "--image", "0"]).status.code(), Some(2));
    let output = run(&["view", PICTURE, "--image", "1"]);
    assert_eq!(output.status.code(), Some(2), "a picture is no request");
}

#[test]
fn standard_input_is_a_picture_too() {
    let output = piped(&["view", "-", "--json"], &image::png_noise(210, 220, 1));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let facts: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(facts["source_size"], json!([210, 220]));
}

#[test]
fn a_model_that_reads_text_only_is_said_to() {
    let output = run(&["view", PICTURE, "--for", "gpt-3.5-turbo"]);
    assert!(stderr(&output).contains("`gpt-3.5-turbo` reads text only"), "{}", stderr(&output));
    assert!(!stderr(&run(&["view", PICTURE, "--for", "gpt-4o"])).contains("text only"));
}

#[test]
fn a_view_of_the_same_size_is_no_heavier_than_its_source() {
    let folder = Folder::new("weight");
    let picture = image::png_noise(600, 400, 9);
    let source = folder.file("page.png", &picture);
    let output = run(&["view", &source, "--json"]);
    let facts: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(facts["size"], facts["source_size"]);
    assert!(facts["bytes"].as_u64().unwrap() <= picture.len() as u64, "{facts}");
}
