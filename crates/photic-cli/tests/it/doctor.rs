//! `photic doctor`: words, exit codes, what is written and what is not.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use photic_testkit::image;
use serde_json::{Value, json};

use crate::{photic, stderr, stdout};

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("photic-cli-doctor-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// A session of pi with one picture.
    fn session(&self, name: &str, picture: &[u8]) -> PathBuf {
        self.crowd(name, picture, 1)
    }

    /// A session of pi with the same picture many times.
    fn crowd(&self, name: &str, picture: &[u8], count: usize) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let part =
            json!({"type": "image", "data": image::base64(picture), "mimeType": "image/png"});
        let lines = [
            json!({"type": "session", "version": 3, "id": "s", "timestamp": "t", "cwd": "/"}),
            json!({"type": "model_change", "id": "a", "parentId": null, "modelId": "claude-sonnet-4-5"}),
            json!({"type": "message", "id": "b", "parentId": "a", "message": {"role": "user", "content": vec![part; count]}}),
        ];
        std::fs::write(&path, lines.map(|line| format!("{line}\n")).concat()).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn long() -> Vec<u8> {
    image::png(8100, 4, [9, 9, 9])
}

fn doctor(file: &Path, more: &[&str]) -> Output {
    photic().arg("doctor").arg(file).args(more).output().unwrap()
}

/// Without a file, in a home of its own.
fn at_home(home: &Path) -> Command {
    let mut command = photic();
    command.arg("doctor").env("HOME", home);
    for variable in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR", "XDG_DATA_HOME"] {
        command.env_remove(variable);
    }
    command
}

#[test]
fn a_sick_session_is_explained_and_only_read() {
    let folder = Folder::new("explained");
    let path = folder.session("sick.jsonl", &long());
    let before = std::fs::read(&path).unwrap();
    let output = doctor(&path, &[]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let words = stdout(&output);
    assert!(words.starts_with("image_over_limit at line 3 /message/content/0\n"), "{words}");
    assert!(words.contains("8100x4 px; the longest side may be 8000"), "{words}");
    assert!(words.contains("--fix` to write a repaired copy"), "{words}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 1);
    let report: Value = serde_json::from_slice(&doctor(&path, &["--json"]).stdout).unwrap();
    assert_eq!(report["format"], "pi");
    assert_eq!(report["media"][0]["ailment"]["code"], "image_over_limit");
    // For a model that takes it, it is well.
    assert_eq!(doctor(&path, &["--for", "gpt-5.1"]).status.code(), Some(0));
}

#[test]
fn what_is_wrong_a_hundred_times_is_told_a_few_times() {
    let folder = Folder::new("crowd");
    let path = folder.crowd("sick.jsonl", &image::png(8, 8, [1; 3]), 120);
    let words = stdout(&doctor(&path, &[]));
    assert_eq!(words.matches("too_many_images at ").count(), 5, "{words}");
    assert!(
        words.contains("too_many_images 15 more times; pass `--json` to list them all"),
        "{words}"
    );
    assert!(words.contains("120 images are sent, 100 are accepted"), "{words}");
    let report: Value = serde_json::from_slice(&doctor(&path, &["--json"]).stdout).unwrap();
    let sick = report["media"].as_array().unwrap().iter().filter(|one| one["ailment"].is_object());
    assert_eq!(sick.count(), 20);
}

#[test]
fn the_hint_asks_the_same_question() {
    let folder = Folder::new("hint");
    let path = folder.session("my session.jsonl", &long());
    let words = stdout(&doctor(&path, &["--for", "claude-opus-5"]));
    let command =
        format!("`photic doctor '{}' --for claude-opus-5 --fix` to write", path.display());
    assert!(words.contains(&command), "{words}");
}

#[test]
fn a_repair_is_a_copy_unless_the_place_is_asked_for() {
    let folder = Folder::new("repair");
    let path = folder.session("sick.jsonl", &long());
    let before = std::fs::read(&path).unwrap();
    let output = doctor(&path, &["--fix"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert!(stdout(&output).starts_with("repaired: 1 image made again\n"), "{}", stdout(&output));
    let copy = folder.0.join("sick.repaired.jsonl");
    assert_eq!(doctor(&copy, &[]).status.code(), Some(0));
    let repaired = std::fs::read(&copy).unwrap();

    let output = doctor(&path, &["--fix", "--in-place"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(std::fs::read(&path).unwrap(), repaired, "the same repair gives the same bytes");
    assert_eq!(std::fs::read(folder.0.join("sick.jsonl.backup")).unwrap(), before);
    let output = doctor(&path, &["--fix", "--in-place"]);
    assert!(stdout(&output).contains("nothing to repair"), "{}", stdout(&output));
    assert!(!folder.0.join("sick.jsonl.backup1").exists());
}

/// A session of pi whose last line was cut off.
fn cut_session(folder: &Folder) -> (PathBuf, Vec<u8>) {
    let path = folder.session("cut.jsonl", &image::png(8, 8, [1; 3]));
    let whole = std::fs::read(&path).unwrap();
    let torn = b"{\"type\":\"message\",\"id\":\"c\",\"par";
    std::fs::write(&path, [whole.as_slice(), torn].concat()).unwrap();
    (path, whole)
}

#[test]
fn a_cut_last_line_is_told_and_left_out_by_a_repair() {
    let folder = Folder::new("cut");
    let (path, whole) = cut_session(&folder);
    let output = doctor(&path, &[]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let words = stdout(&output);
    assert!(words.starts_with("cut_line at line 4\n"), "{words}");
    assert!(words.contains("the record of type `message` ends after 31 bytes"), "{words}");
    assert!(words.contains("leaves this line out and keeps the 3 lines before it"), "{words}");
    let report: Value = serde_json::from_slice(&doctor(&path, &["--json"]).stdout).unwrap();
    assert_eq!(
        (&report["cut_line"]["record"], &report["cut_line"]["kept"]),
        (&json!(4), &json!(3))
    );
    let words = stdout(&doctor(&path, &["--fix"]));
    assert!(
        words.starts_with("repaired: the cut line 4 left out, the 3 lines before it kept\n"),
        "{words}"
    );
    assert_eq!(std::fs::read(folder.0.join("cut.repaired.jsonl")).unwrap(), whole);
}

#[test]
fn what_it_wrote_itself_is_well_and_its_hints_lose_nothing() {
    let folder = Folder::new("own");
    let path = folder.session("well.jsonl", &image::png_noise(64, 64, 5));
    let store = folder.0.join("store");
    let store = ["--store", store.to_str().unwrap()];
    let words = stdout(&doctor(&path, &[&["--externalize"][..], &store].concat()));
    let small = folder.0.join("well.small.jsonl");
    let restore = format!("photic doctor {} --restore --store ", small.display());
    assert!(words.contains(&restore), "{words}");
    let output = doctor(&small, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    let words = stdout(&output);
    assert!(words.starts_with("healthy: "), "{words}");
    assert!(words.contains("1 media are in the blob store"), "{words}");
    assert!(!words.contains("resume it with"), "not before the media are back: {words}");
    let report: Value = serde_json::from_slice(&doctor(&small, &["--json"]).stdout).unwrap();
    assert_eq!((&report["moved"], &report["media"][0]["is_moved"]), (&json!(1), &json!(true)));
    // A repair changes nothing, whatever the model.
    let output = doctor(&small, &["--fix", "--for", "gpt-3.5-turbo"]);
    assert!(stdout(&output).contains("nothing to repair"), "{}", stdout(&output));
    doctor(&small, &[&["--restore"][..], &store].concat());
    let back = folder.0.join("well.small.restored.jsonl");
    assert_eq!(std::fs::read(back).unwrap(), std::fs::read(&path).unwrap());
}

#[test]
fn it_says_how_the_agent_resumes_the_session() {
    let folder = Folder::new("resume");
    let path = folder.session("well.jsonl", &image::png(8, 8, [1; 3]));
    let words = stdout(&doctor(&path, &[]));
    let command = format!("resume it with `cd / && pi --session {}`", path.display());
    assert!(words.contains(&command), "{words}");
    let report: Value = serde_json::from_slice(&doctor(&path, &["--json"]).stdout).unwrap();
    assert_eq!(report["resume"]["folder"], "/");

    let line = json!({"type": "user", "uuid": "u", "sessionId": "my-session", "cwd": "/my work",
        "message": {"role": "user", "content": "hello"}});
    let claude = folder.0.join("claude.jsonl");
    std::fs::write(&claude, format!("{line}\n{{\"type\":\"us")).unwrap();
    let words = stdout(&doctor(&claude, &[]));
    let command =
        "once it is repaired, resume it with `cd '/my work' && claude --resume my-session`";
    assert!(words.contains(command), "{words}");
    let words = stdout(&doctor(&claude, &["--fix"]));
    assert!(words.contains("in the place of the original"), "{words}");
    let words = stdout(&doctor(&claude, &["--fix", "--in-place"]));
    assert!(words.contains("  resume it with `cd '/my work' && claude --resume"), "{words}");
}

#[test]
fn the_model_decides_by_which_profile_it_is_judged() {
    let folder = Folder::new("judged");
    let line = json!({"type": "user", "uuid": "u", "sessionId": "s", "cwd": "/",
        "message": {"role": "user", "content": [{"type": "image", "source": {"type": "base64",
            "media_type": "image/png", "data": image::base64(&image::png(8, 8, [1; 3]))}}]}});
    let path = folder.0.join("claude.jsonl");
    std::fs::write(&path, format!("{line}\n")).unwrap();
    assert_eq!(doctor(&path, &[]).status.code(), Some(0));
    let output = doctor(&path, &["--for", "gpt-3.5-turbo"]);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert!(stdout(&output).starts_with("image_to_text_only_model at line 1 "));
    assert!(!stdout(&output).contains("profile `anthropic`"), "{}", stdout(&output));
    let output = doctor(&path, &["--for", "no-such-model"]);
    assert!(stderr(&output).contains("unknown model `no-such-model`"), "{}", stderr(&output));
}

#[test]
fn standard_input_is_a_session_too() {
    use std::io::Write as _;
    use std::process::Stdio;
    let folder = Folder::new("pipe");
    let (path, whole) = cut_session(&folder);
    let bytes = std::fs::read(path).unwrap();
    let piped = |arguments: &[&str], bytes: &[u8]| {
        let mut command = photic();
        command.args(["doctor", "-"]).args(arguments).env("TMPDIR", &folder.0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A command that is misused ends without reading.
        let _ = child.stdin.take().unwrap().write_all(bytes);
        child.wait_with_output().unwrap()
    };
    let output = piped(&[], &bytes);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let words = stdout(&output);
    assert!(words.contains("broken: standard input (pi, "), "{words}");
    assert!(words.contains("`photic doctor - --fix`"), "{words}");
    let output = piped(&["--fix"], &bytes);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(output.stdout, whole);
    assert!(stderr(&output).starts_with("repaired: the cut line 4"), "{}", stderr(&output));
    // What is well comes out as it went in.
    assert_eq!(piped(&["--fix"], &whole).stdout, whole);
    let to = folder.0.join("named.jsonl");
    piped(&["--fix", "-o", to.to_str().unwrap()], &bytes);
    assert_eq!(std::fs::read(&to).unwrap(), whole);
    let output = piped(&["--fix", "--in-place"], &bytes);
    assert_eq!(output.status.code(), Some(2));
    let output = piped(&[], b"not a session");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).starts_with("error: standard input is not a session"));
    // Nothing is left behind.
    let mut left: Vec<String> = std::fs::read_dir(&folder.0)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    left.sort();
    assert_eq!(left, ["cut.jsonl", "named.jsonl"]);
}

#[test]
fn media_go_out_and_come_back() {
    let folder = Folder::new("apart");
    let path = folder.session("s.jsonl", &image::png_noise(64, 64, 1));
    let store = folder.0.join("store");
    let store = store.to_str().unwrap();
    let output = doctor(&path, &["--externalize", "--store", store]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let small = folder.0.join("s.small.jsonl");
    assert!(std::fs::metadata(&small).unwrap().len() < 1000);
    let back = folder.0.join("back.jsonl");
    let output = doctor(&small, &["--restore", "--store", store, "-o", back.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(std::fs::read(&back).unwrap(), std::fs::read(&path).unwrap());
}

#[test]
fn folders_are_searched_and_the_usual_ones_without_a_name() {
    let folder = Folder::new("folders");
    folder.session(".pi/agent/sessions/x/sick.jsonl", &long());
    folder.session(".pi/agent/sessions/x/well.jsonl", &image::png(8, 8, [1; 3]));
    std::fs::write(folder.0.join(".pi/agent/sessions/x/notes.json"), "{}").unwrap();
    let output = at_home(&folder.0).output().unwrap();
    let words = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{words}");
    assert!(words.contains("sick.jsonl\n  pi: image_over_limit; "), "{words}");
    assert!(words.contains("1 of 2 sessions in the default folders"), "{words}");
    assert_eq!(stdout(&doctor(&folder.0, &[])).lines().count(), words.lines().count());
    let empty = Folder::new("empty");
    let output = at_home(&empty.0).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let moved = folder.0.join(".pi/agent");
    let output = at_home(&empty.0).env("PI_CODING_AGENT_DIR", &moved).output().unwrap();
    assert_eq!((output.status.code(), stdout(&output)), (Some(1), words), "kept elsewhere");
}

#[test]
fn what_is_no_session_is_refused() {
    let folder = Folder::new("refused");
    let path = folder.0.join("x.json");
    std::fs::write(&path, "{\"hello\":1}").unwrap();
    let output = doctor(&path, &[]);
    assert_eq!(output.status.code(), Some(2));
    let words = stderr(&output);
    assert!(
        words.contains(
            "is not a session that photic knows; supported are sessions of claude-code, codex"
        ),
        "{words}"
    );
    assert_eq!(doctor(&folder.0, &["--fix"]).status.code(), Some(2));
    assert_eq!(doctor(&path, &["--in-place"]).status.code(), Some(2));
}

#[test]
fn the_set_up_is_looked_at_and_no_secret_is_told() {
    let mock = photic_mock::Mock::start(photic_mock::Options::default()).unwrap();
    let address = mock.url().replace("http://", "http://me:hidden@");
    let look = |address: &str, model: &str| {
        photic()
            .args(["doctor", "--endpoint", address, "--model", model, "--json"])
            .env("OPENAI_API_KEY", "sk-hidden")
            .output()
            .unwrap()
    };
    let output = look(&format!("{address}/v1?key=hidden"), "gpt-5.1");
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    let words = stdout(&output);
    assert!(!words.contains("hidden") && words.contains("OPENAI_API_KEY"), "{words}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((report["checks"].as_array().unwrap().len(), &report["is_well"]), (8, &json!(true)));
    assert_eq!(look(&address, "claude-2.1").status.code(), Some(1), "a model without sight");
    drop(mock);
    assert_eq!(look("nonsense", "gpt-5.1").status.code(), Some(2));
    let output = look("me:hidden@host/v1", "gpt-5.1");
    assert_eq!(output.status.code(), Some(2));
    let words = stdout(&output) + &stderr(&output);
    assert!(words.contains("`host` is not a URL") && !words.contains("hidden"), "{words}");
    assert_eq!(look("http://127.0.0.1:9/", "gpt-5.1").status.code(), Some(1), "nobody there");
}
