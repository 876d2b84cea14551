//! `photic probe`: verdicts in words, what is learned from them, and what is spent.

use std::path::PathBuf;
use std::process::{Output, Stdio};

use photic::Wire;
use photic_mock::{Misbehavior, Mock, Options};
use serde_json::Value;

use crate::{photic, run, stderr, stdout};

/// A name for a file of this test, which is not there.
fn file(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("probe-{name}.json"));
    let _ = std::fs::remove_file(&path);
    path
}

fn provider(misbehave: &[Misbehavior]) -> Mock {
    Mock::start(Options { misbehave: misbehave.to_vec(), ..Options::default() }).unwrap()
}

/// Probes a provider, and learns into a file.
fn probe(mock: &Mock, model: &str, learned: &str, more: &[&str]) -> Output {
    let base = format!("{}/v1", mock.url());
    let arguments =
        ["probe", "--base-url", &base, "--model", model, "--seed", "7", "--file", learned];
    let mut command = photic();
    command.env("OPENAI_API_KEY", "sk-secret").env("ANTHROPIC_API_KEY", "sk-secret");
    command.args(arguments).args(more).stdin(Stdio::null()).output().unwrap()
}

/// A text whose columns are one space apart.
fn narrow(text: &str) -> String {
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect()
}

fn host(mock: &Mock) -> String {
    mock.address().to_string()
}

#[test]
fn verdicts_are_said_and_learned() {
    let mock = provider(&[]);
    let learned = file("learned");
    let learned = learned.to_str().unwrap();
    let output = probe(&mock, "gpt-5.4", learned, &["--wire", "openai-chat"]);
    let text = narrow(&stdout(&output));
    assert_eq!(output.status.code(), Some(0), "{text}{}", stderr(&output));
    for line in [
        "user message sees 28 of 28 ",
        "tool result rejects\n",
        "role_not_allowed, status 400: ",
        "hoisted, parallel sees 28 of 28 ",
        "notice that an older picture is no longer shown: 0 of 4 answers claim to see it",
        "notice that a picture is not shown: 0 of 4 answers claim to see it",
        "learned: images are seen on openai-chat",
        "learned: images are not accepted in tool results on openai-chat",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let said = stderr(&output);
    assert!(said.starts_with("photic: at most 64 requests, about "), "{said}");
    assert!(!text.contains("sk-secret") && !said.contains("sk-secret"));
    let for_it = ["--for", "gpt-5.4", "--host", &host(&mock), "--wire", "openai-chat"];
    let known = stdout(&run(&[&["profiles", "--file", learned], &for_it[..]].concat()));
    assert!(known.contains("probe: user message sees, 28 of 28 named, "), "{known}");
    assert!(known.contains("images are not accepted in tool results on openai-chat"), "{known}");
}

#[test]
fn who_is_blind_is_said_to_be_and_known_as_such() {
    let mock = provider(&[Misbehavior::DropImages]);
    let learned = file("blind");
    let learned = learned.to_str().unwrap();
    let output = probe(&mock, "claude-sonnet-5", learned, &["--paths", "user,tool"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let text = narrow(&stdout(&output));
    assert!(text.contains("user message blind 0 of 28 1.00 0 of 28 nothing"), "{text}");
    let for_it = ["--for", "claude-sonnet-5", "--host", &host(&mock)];
    let known = stdout(&run(&[&["profiles", "--file", learned], &for_it[..]].concat()));
    assert!(known.contains("images = \"no\"\n    learned, "), "{known}");
}

#[test]
fn a_table_is_exported_and_imported() {
    let mock = provider(&[]);
    let (first, table, second) = (file("first"), file("table"), file("second"));
    let [first, table, second] = [&first, &table, &second].map(|path| path.to_str().unwrap());
    let more = ["--paths", "user,tool", "--formats", "webp", "--export", table, "--json"];
    let output = probe(&mock, "claude-sonnet-5", first, &more);
    let printed: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let written: Value = serde_json::from_slice(&std::fs::read(table).unwrap()).unwrap();
    assert_eq!(printed, written);
    let report = &written["reports"][0];
    assert_eq!(report["host"], host(&mock).as_str());
    assert_eq!(report["as_of"].as_str().map(str::len), Some(10));
    assert_eq!(report["findings"][1]["verdict"], "sees");
    assert_eq!(report["findings"][2]["format"], "webp");
    let imported = run(&["profiles", "--file", second, "--import", table]);
    assert_eq!(stdout(&imported), "3 lessons learned\n");
    let entries =
        |path| -> Value { serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap() };
    assert_eq!(entries(first), entries(second));
    let none = run(&["profiles", "--file", second, "--import", "README.md"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(stderr(&none).contains("`README.md` is not a table of"), "{}", stderr(&none));
}

#[test]
fn nothing_is_sent_before_its_price_is_known_and_allowed() {
    let mock = provider(&[]);
    let learned = file("price");
    let name = learned.to_str().unwrap();
    let dry = probe(&mock, "gpt-5.4", name, &["--dry-run"]);
    assert_eq!((dry.status.code(), stdout(&dry)), (Some(0), String::new()));
    assert!(stderr(&dry).contains(" dollars of input, cap 1.00"), "{}", stderr(&dry));
    let over = probe(&mock, "gpt-5.4", name, &["--cap", "0.0001"]);
    assert_eq!(over.status.code(), Some(2));
    assert!(stderr(&over).contains("hint: raise `--cap`"), "{}", stderr(&over));
    assert!(mock.journal().is_empty() && !learned.exists());
    let paths = ["--cap", "0.0001", "--yes", "--paths", "user", "--no-learn"];
    let paid = probe(&mock, "gpt-5.4", name, &paths);
    assert_eq!(paid.status.code(), Some(0), "{}", stderr(&paid));
    assert!(mock.journal().len() == 8 && !learned.exists());
}

#[test]
fn nobody_there_is_an_error() {
    let gone = provider(&[]);
    let base = format!("{}/v1", gone.url());
    drop(gone);
    std::thread::sleep(std::time::Duration::from_millis(100));
    let output = photic()
        .args(["probe", "--model", "m", "--base-url", &base, "--no-learn"])
        .env_remove("OPENAI_API_KEY")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("error: cannot ask `m`\ncause: cannot connect"),
        "{}",
        stderr(&output)
    );
}

#[cfg(unix)]
#[test]
fn a_python_without_the_server_is_told_how_to_get_it() {
    let output =
        photic().args(["probe", "--offline"]).env("PHOTIC_PYTHON", "false").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("error: `false` has no package `xllamacpp`"), "{said}");
    assert!(said.contains("hint: run `pip install xllamacpp`"), "{said}");
}

/// A Python that is none: it leads to a provider of ours, and leaves a note when it ends.
#[cfg(unix)]
fn stand_in(name: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let path = file(name).with_extension("sh");
    let script = "#!/bin/sh\n[ \"$1\" = -c ] && exit 0\nls \"$2.gguf\" \"$2-mmproj.gguf\" >&2 || exit 1\n\
                  echo \"listening $STAND_IN\"\ncat >/dev/null\necho gone >\"$STAND_IN_NOTE\"\n";
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[cfg(unix)]
#[test]
fn a_server_of_our_own_is_probed_through_each_of_its_apis() {
    let mock = provider(&[]);
    let output = photic()
        .args(["probe", "--offline", "--paths", "user,previous", "--seed", "3"])
        .env("PHOTIC_PYTHON", stand_in("apis"))
        .env("STAND_IN", mock.url())
        .env("STAND_IN_NOTE", file("apis-note"))
        .output()
        .unwrap();
    let text = narrow(&stdout(&output));
    assert_eq!(output.status.code(), Some(0), "{text}{}", stderr(&output));
    assert_eq!(text.matches("user message sees 16 of 16").count(), 3, "{text}");
    assert_eq!(text.matches("previous turn sees 16 of 16").count(), 3, "{text}");
    for wire in [Wire::OpenAiChat, Wire::OpenAiResponses, Wire::Anthropic] {
        assert!(text.contains(&format!("chart-reader at {} on {wire}, ", host(&mock))), "{text}");
    }
    assert!(!text.contains("learned"), "{text}");
}

#[cfg(unix)]
#[test]
fn a_server_of_our_own_does_not_outlive_us() {
    let mock = provider(&[Misbehavior::Hang]);
    let note = file("orphan-note");
    let mut child = photic()
        .args(["probe", "--offline", "--paths", "user"])
        .env("PHOTIC_PYTHON", stand_in("orphan"))
        .env("STAND_IN", mock.url())
        .env("STAND_IN_NOTE", &note)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let wait = |done: &dyn Fn() -> bool| {
        let begun = std::time::Instant::now();
        while !done() && begun.elapsed().as_secs() < 60 {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        assert!(done());
    };
    wait(&|| !mock.journal().is_empty());
    assert!(!note.exists());
    // Without a chance to clean up.
    child.kill().unwrap();
    child.wait().unwrap();
    wait(&|| note.exists());
}
