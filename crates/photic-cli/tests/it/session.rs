//! `photic session`: a captured request becomes a session, is looked at, and decided about.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::{photic, stderr, stdout};

/// A store of its own, with the bodies it was made from.
struct Sessions {
    store: PathBuf,
}

impl Sessions {
    fn new(name: &str) -> Self {
        let store = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("sessions-{name}"));
        let _ = std::fs::remove_dir_all(&store);
        Self { store }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = photic();
        command.arg("session").args(arguments).arg("--store").arg(&self.store);
        command.stdin(Stdio::null()).output().unwrap()
    }

    /// Runs a command that must succeed and returns its standard output.
    fn text(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
        stdout(&output)
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let text = self.text(&[arguments, &["--json"]].concat());
        serde_json::from_str(&text).unwrap()
    }

    fn import(&self, body: &Value, arguments: &[&str]) -> Value {
        let path = self.store.with_extension("json");
        std::fs::write(&path, body.to_string()).unwrap();
        self.json(&[&["import", path.to_str().unwrap()], arguments].concat())
    }
}

/// A conversation with so many screenshots.
fn body(shots: u32) -> Value {
    let mut messages = vec![json!({"role": "user", "content": "Look at the \u{1b}[31mscreen"})];
    for shot in 0..shots {
        let id = format!("call_{shot}");
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": id, "type": "function", "function": {"name": "shot", "arguments": "{}"}}]}));
        let png = photic_testkit::image::png_noise(300 + shot, 200, u64::from(shot));
        let url = format!("data:image/png;base64,{}", STANDARD.encode(png));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": [
            {"type": "image_url", "image_url": {"url": url}}]}));
    }
    json!({"model": "gpt-4o", "messages": messages})
}

#[test]
fn a_captured_request_becomes_a_session_and_the_next_continues_it() {
    let sessions = Sessions::new("import");
    assert!(sessions.text(&["ls"]).contains("no sessions yet"));
    let first = sessions.import(&body(1), &[]);
    assert_eq!((&first["turn"], &first["new"]), (&json!(1), &json!(true)));
    let second = sessions.import(&body(2), &[]);
    assert_eq!((&second["session"], &second["turn"]), (&first["session"], &json!(2)));
    let id = first["session"].as_str().unwrap();
    let other = json!({"model": "gpt-4o", "messages": [{"role": "user", "content": "else"}]});
    let named = sessions.import(&other, &["--session", id]);
    assert_eq!((&named["session"], &named["turn"]), (&first["session"], &json!(3)));
    assert_ne!(
        sessions.import(
            &json!({"model": "gpt-4o",
        "messages": [{"role": "user", "content": "new"}]}),
            &[]
        )["session"],
        first["session"]
    );

    let listed = sessions.json(&["ls"]);
    assert_eq!(listed.as_array().unwrap().len(), 2);
    assert_eq!(listed[1]["id"], first["session"]);
    assert_eq!((&listed[1]["turns"], &listed[1]["images"]), (&json!(3), &json!(2)));
    assert_eq!(listed[1]["title"], "Look at the [31mscreen");
    let text = sessions.text(&["ls"]);
    assert!(text.contains(id) && text.contains("just now") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn bodies_come_back_byte_for_byte_on_both_sides() {
    let sessions = Sessions::new("export");
    let bodies = [body(1), body(2)];
    for body in &bodies {
        sessions.import(body, &[]);
    }
    for (turn, body) in ["1", "2"].iter().zip(&bodies) {
        assert_eq!(sessions.text(&["export", "last", "--turn", turn]), body.to_string());
    }
    // What `photic lower` makes of the same body for the same model.
    let path = sessions.store.with_extension("json");
    let mut lower = photic();
    lower.args(["lower", "--to", "openai-chat", "--for", "gpt-4o"]).arg(path);
    let lowered = stdout(&lower.output().unwrap());
    let sent = sessions.text(&["export", "last", "--as", "model"]);
    assert!(!sent.is_empty() && sent == lowered);
    let both = sessions.json(&["export", "last", "--as", "model"]);
    assert_eq!(both["body"], serde_json::from_str::<Value>(&sent).unwrap());
    assert_eq!((&both["turn"], &both["as"]), (&json!(2), &json!("model")));
}

#[test]
fn a_conversation_is_shown_with_images_as_references() {
    let sessions = Sessions::new("show");
    sessions.import(&body(2), &[]);
    let text = sessions.text(&["show", "last"]);
    assert!(text.contains("\nuser\n  Look at the [31mscreen\n"), "{text}");
    assert!(text.contains("  calls shot {}\n") && !text.contains('\u{1b}'), "{text}");
    let images = sessions.json(&["images", "last"]);
    for image in images["images"].as_array().unwrap() {
        let handle = image["handle"].as_str().unwrap();
        assert!(text.contains(&format!("[{handle} image/png ")), "{text}");
    }
    assert!(text.len() < 2000, "no bytes of images: {text}");
    let shown = sessions.json(&["show", "last", "--turn", "1"]);
    assert_eq!(shown["messages"].as_array().unwrap().len(), 5);
    assert_eq!(shown["messages"][2]["parts"][0]["image"], images["images"][0]["handle"]);
}

#[test]
fn every_image_has_its_price_and_its_fate_and_the_user_decides() {
    let sessions = Sessions::new("images");
    sessions.import(&body(4), &[]);
    let fates = || {
        let images = sessions.json(&["images", "last"])["images"].clone();
        let images = images.as_array().unwrap();
        images.iter().map(|one| one["fate"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let plain = fates();
    assert_eq!(plain, ["hoist"; 4]);
    let images = sessions.json(&["images", "last"]);
    let first = &images["images"][0];
    assert_eq!((&first["source_size"], &first["tool"]), (&json!([300, 200]), &json!("shot")));
    assert_eq!((&first["index"], &first["message_index"]), (&json!(1), &json!(3)));
    assert_eq!(first["media_type"], "image/png");
    assert!(first["tokens"].as_u64().unwrap() > 50 && first["usd"].as_f64().unwrap() > 0.0);
    assert!(first["bytes"].as_u64().unwrap() > 500, "{first}");

    let handle = first["handle"].as_str().unwrap();
    assert!(sessions.text(&["drop", "last", handle]).contains("is left out from the next"));
    sessions.text(&["shrink", "last", "2", "--edge", "100"]);
    sessions.text(&["pin", "last", "#3"]);
    assert_eq!(fates(), ["elide", "shrink", "hoist", "hoist"]);
    let text = sessions.text(&["images", "last"]);
    assert!(text.contains(handle) && text.contains("pinned by you"), "{text}");
    assert!(text.contains("limited by you to 100 px"), "{text}");

    // The record stays; the next request is another.
    let before = sessions.text(&["export", "last", "--as", "model"]);
    sessions.import(&body(4), &[]);
    let after = sessions.text(&["export", "last", "--as", "model"]);
    assert!(before != after);
    assert_eq!(sessions.text(&["export", "last", "--turn", "1", "--as", "model"]), before);
    assert_eq!(sessions.text(&["export", "last"]), body(4).to_string());

    sessions.text(&["drop", "last", "1", "--undo"]);
    assert_eq!(fates()[0], "hoist");
    let output = sessions.run(&["drop", "last", "9"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("hint: run `photic session images ID` to list them"));
}

#[test]
fn sessions_have_totals_and_say_their_ids() {
    let sessions = Sessions::new("totals");
    let first = sessions.import(&body(1), &[]);
    sessions.import(&body(2), &[]);
    let id = first["session"].as_str().unwrap();
    let shown = |turn: &str| sessions.json(&["show", "last", "--turn", turn])["sums"].clone();
    let (one, two) = (shown("1"), shown("2"));
    let sum = |name: &str| one[name].as_f64().unwrap() + two[name].as_f64().unwrap();
    let listed = sessions.json(&["ls"])[0].clone();
    assert!((listed["tokens"].as_f64().unwrap() - sum("tokens")).abs() < 0.5, "{listed}");
    assert!((listed["usd"].as_f64().unwrap() - sum("usd")).abs() < 1e-9, "{listed}");
    let session = &sessions.json(&["show", "last"])["session"];
    assert_eq!((&session["id"], &session["tokens"]), (&json!(id), &listed["tokens"]));
    let text = sessions.text(&["show", "last"]);
    assert!(text.contains("\nsession: 2 turns, 2 images, "), "{text}");
    assert!(sessions.text(&["images", "last"]).starts_with(&format!("{id}, turn 2\n")));

    // A second session: the last line sums them up.
    sessions
        .import(&json!({"model": "gpt-4o", "messages": [{"role": "user", "content": "x"}]}), &[]);
    let text = sessions.text(&["ls"]);
    let last = text.lines().last().unwrap();
    assert!(last.starts_with("2 sessions ") && last.contains(" 3 "), "{text}");
    assert!(text.lines().next().unwrap().contains("dollars"), "{text}");
}

#[test]
fn a_forgotten_session_takes_its_own_images_with_it() {
    let sessions = Sessions::new("forget");
    let first = sessions.import(&body(2), &[]);
    let mut other = body(3);
    other["messages"][0]["content"] = json!("another conversation");
    sessions.import(&other, &[]);
    let id = first["session"].as_str().unwrap();
    let collect = || sessions.json(&["gc", "--grace", "0", "--handles", "0"]);
    assert_eq!(collect()["removed"], 0);
    sessions.text(&["forget", "last"]);
    let collected = collect();
    assert_eq!((&collected["removed"], &collected["kept"]), (&json!(1), &json!(2)));
    let why = &collected["kept_because"];
    assert_eq!((&why["in_session"], &why["recent"]), (&json!(2), &json!(0)), "{collected}");
    assert_eq!(sessions.text(&["export", id]), body(2).to_string());
    let says = sessions.text(&["gc"]);
    assert!(says.starts_with("removed 0 files, 0 bytes; kept 2 files"), "{says}");
    assert!(says.contains("\n  2 in a session; `photic session forget ID`"), "{says}");
    assert!(!says.contains("perhaps in use"), "{says}");
    let output = sessions.run(&["show", "s_0123456789abcdef"]);
    assert_eq!(output.status.code(), Some(2));
    let says = stderr(&output);
    assert!(says.starts_with("error: session `s_0123456789abcdef` does not exist"), "{says}");
}

#[test]
fn sessions_are_kept_where_this_system_keeps_state() {
    let state = Path::new(env!("CARGO_TARGET_TMPDIR")).join("state-of-sessions");
    let _ = std::fs::remove_dir_all(&state);
    let output = photic().args(["session", "ls"]).env("XDG_STATE_HOME", &state).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(state.join("photic/record.db").exists());
}

/// The number of the format is in the header of the file. The record is the one of version 0.1.0.
#[test]
fn a_record_of_a_newer_version_is_refused_with_words() {
    let sessions = Sessions::new("newer");
    std::fs::create_dir_all(&sessions.store).unwrap();
    let old = "../photic-store/tests/records/0.1.0/record.db";
    let mut record = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(old)).unwrap();
    record[60..64].copy_from_slice(&99_u32.to_be_bytes());
    std::fs::write(sessions.store.join("record.db"), record).unwrap();
    let output = sessions.run(&["ls"]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("format 99") && said.contains("update photic"), "{said}");
}
