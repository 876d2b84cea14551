//! Input lists and output records of `photic batch`.

use std::io::Write as _;
use std::process::Stdio;

use photic_mock::Options;
use serde_json::{Value, json};

use super::BatchTest;
use crate::{stderr, stdout};

#[test]
fn a_list_of_json_has_its_own_questions_and_names_and_keeps_its_order() {
    let place = BatchTest::new(2, Options::default());
    let list = [
        json!({"image": "1.png", "id": {"row": 1}}),
        json!({"image": "missing.png", "id": 2}),
        json!({"image": "notes.zip", "question": "What?"}),
        json!({"image": "0.png", "question": "Which ones?"}),
    ];
    place.write("notes.zip", include_bytes!("../../data/no-picture.bin"));
    let list: Vec<String> = list.iter().map(Value::to_string).collect();
    let mut command = place.command("-", &["--out", "lines.jsonl"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(list.join("\n").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let words = stderr(&output);
    assert_eq!((output.status.code(), stdout(&output)), (Some(1), String::new()), "{words}");
    assert!(words.contains("of 4: 2 answered, 2 refused · 2 asked here"), "{words}");
    let lines = std::fs::read_to_string(place.folder.join("lines.jsonl")).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["id"], &lines[0]["image"]), (&json!({"row": 1}), &json!("1.png")));
    assert!(lines[0]["answer"].as_str().unwrap().contains(&place.charts[1].words()));
    assert_eq!(lines[0]["model"], "openai/gpt-4o");
    assert!(lines[0]["tokens"]["input"].as_u64().unwrap() > 50);
    assert_eq!((&lines[1]["id"], &lines[1]["refused"]["code"]), (&json!(2), &json!("absent")));
    assert!(lines[2]["refused"]["code"].is_string(), "{}", lines[2]);
    assert!(lines[3]["answer"].as_str().unwrap().contains(&place.charts[0].words()));
    let left = std::fs::read_dir(&place.folder).unwrap();
    let left = left
        .filter(|file| file.as_ref().unwrap().file_name().to_string_lossy().contains("unfinished"));
    assert_eq!(left.count(), 0);
}

#[test]
fn the_same_picture_many_times_is_asked_about_once() {
    let place = BatchTest::new(1, Options::default());
    place.write("same.txt", ["0.png"; 30].join("\n"));
    let output = place.command("same.txt", &["--chunk", "10"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!((stdout(&output).lines().count(), place.asked()), (30, 1));
}

#[test]
fn misuse_is_named() {
    let place = BatchTest::new(1, Options::default());
    for (list, more, says) in [
        ("nowhere.txt", &[][..], "cannot read the list `nowhere.txt`"),
        ("/dev/null", &[], "the list `/dev/null` is empty"),
        ("list.txt", &["--chunk", "0"], "--chunk"),
        ("list.txt", &["--fleet", "photic.toml"], "cannot be used with"),
        ("list.txt", &["picture.png"], "cannot be used with"),
        ("list.txt", &["--json"], "cannot be used with"),
    ] {
        let output = place.command(list, more).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{list} {more:?}");
        let words = stdout(&output) + &stderr(&output);
        assert!(words.contains(says), "{list} {more:?}: {words}");
    }
    let output = place.run(&["--job", "mine"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("job mine"), "{}", stderr(&output));
    place.write("other.txt", "0.png\n0.png\n");
    let output = place.command("other.txt", &["--job", "mine"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let words = stderr(&output);
    assert!(words.contains("the job `mine` is of another list, question or model"), "{words}");
}
