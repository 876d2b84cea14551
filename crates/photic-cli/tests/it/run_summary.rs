//! The end of `photic run`: what failed and why, tokens, dollars, and the session.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::run::{Provider, client, conversation, ran};
use crate::{photic, stderr, stdout};

/// A folder for a record, which does not exist yet.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("run-summary-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

/// A turn of words.
fn words(name: &str, messages: &Value) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.json"));
    let body = serde_json::json!({"model": "gpt-4o", "messages": messages});
    std::fs::write(&path, body.to_string()).unwrap();
    path
}

/// The line of a summary with this name.
fn line<'s>(summary: &'s str, name: &str) -> &'s str {
    let found = summary.lines().find_map(|line| line.strip_prefix("  ")?.strip_prefix(name));
    assert!(found.is_some(), "no line `{name}` in {summary}");
    found.unwrap().trim()
}

#[test]
fn an_upstream_that_is_down_is_no_command_without_requests() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (body, _) = conversation("run-down");
    let base = format!("http://{free}/v1");
    let output = ran(&[("OPENAI_BASE_URL", &base)], &["--", "sh", "-c", &client(&body)]);
    let (told, summary) = (stdout(&output), stderr(&output));
    let cause = format!("cannot connect to the upstream `{free}`: connection refused; ");
    assert!(told.contains(&cause), "{told}");
    assert_eq!(
        summary,
        format!(
            "photic: 1 request, 1 failed\n  failed        1 request to {free}: connection refused\n"
        )
    );
}

/// A label of 64 letters is too long for a name server, so none is asked.
#[test]
fn a_host_that_cannot_be_resolved_is_named_with_the_cause() {
    let (body, _) = conversation("run-no-name");
    let host = format!("{}.example:1", "a".repeat(64));
    let base = format!("http://{host}/v1");
    let output = ran(&[("OPENAI_BASE_URL", &base)], &["--", "sh", "-c", &client(&body)]);
    let summary = stderr(&output);
    let says = format!("1 request to {host}: the host name cannot be resolved (DNS)");
    assert_eq!(line(&summary, "failed"), says, "{summary}");
}

#[test]
fn an_error_of_the_provider_is_counted_with_its_status() {
    let provider = Provider::start();
    let body = words("run-refused", &serde_json::json!("not a list"));
    let base = format!("{}/v1", provider.1);
    let output = ran(&[("OPENAI_BASE_URL", &base)], &["--", "sh", "-c", &client(&body)]);
    let summary = stderr(&output);
    assert!(line(&summary, "failed").contains(": HTTP 4"), "{summary}");
}

#[test]
fn tokens_and_dollars_are_those_of_the_provider() {
    let provider = Provider::start();
    let body = words("run-tokens", &serde_json::json!([{"role": "user", "content": "hello"}]));
    let base = format!("{}/v1", provider.1);
    let report = folder("report").with_extension("json");
    let arguments = ["--report", report.to_str().unwrap(), "--", "sh", "-c", &client(&body)];
    let output = ran(&[("OPENAI_BASE_URL", &base)], &arguments);
    let reply: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let (input, said) = (&reply["usage"]["prompt_tokens"], &reply["usage"]["completion_tokens"]);
    let summary = stderr(&output);
    assert!(summary.starts_with("photic: 1 request, nothing to repair\n"), "{summary}");
    let says = format!("{input} input (0 from the cache), {said} output");
    assert_eq!(line(&summary, "tokens"), says, "{summary}");
    let dollars = line(&summary, "dollars");
    assert!(dollars.contains(" for the input at list price; "), "{dollars}");
    assert!(dollars.ends_with(" for the output"), "{dollars}");
    let counts: Value = serde_json::from_str(&std::fs::read_to_string(report).unwrap()).unwrap();
    assert_eq!([&counts["tokens"]["input"], &counts["tokens"]["output"]], [input, said]);
    assert!(counts["output_usd"].as_f64().unwrap() > 0.0, "{counts}");
    assert_eq!(counts["failures"], serde_json::json!([]));
}

#[test]
fn each_run_is_a_session_of_its_own_and_names_the_command_that_shows_it() {
    let provider = Provider::start();
    let base = format!("{}/v1", provider.1);
    let directory = folder("sessions");
    let first = serde_json::json!([{"role": "user", "content": "hello"}]);
    let begin = words("run-begin", &first);
    let resumed = serde_json::json!([
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "and now?"},
    ]);
    let resume = words("run-resume", &resumed);
    let record = format!("--record={}", directory.display());
    let session = |body: &Path| {
        let arguments = [&*record, "--", "sh", "-c", &client(body)];
        let output = ran(&[("OPENAI_BASE_URL", &base)], &arguments);
        line(&stderr(&output), "session").to_owned()
    };
    let (one, two) = (session(&begin), session(&begin));
    let id = |line: &str| line.split_once(',').unwrap().0.to_owned();
    assert_ne!(id(&one), id(&two));
    // The later one of the two is resumed, in a third run.
    let three = session(&resume);
    assert_eq!(id(&three), id(&two));
    // The command that is named shows it.
    let command = one.split_once(": photic ").unwrap().1;
    let shown = photic().args(command.split(' ')).stdin(Stdio::null()).output().unwrap();
    assert_eq!(shown.status.code(), Some(0), "{command}: {}", stderr(&shown));
    assert!(stdout(&shown).contains("hello"), "{}", stdout(&shown));
    assert!(one.starts_with("s_") && one.contains(", 1 turn: photic session show s_"), "{one}");
}

#[test]
fn a_misspelled_option_is_not_taken_for_the_command() {
    for (option, near) in [("--typo", None), ("--quite", Some("--quiet")), ("-z", None)] {
        let output = ran(&[], &[option, "--", "sh", "-c", "echo ran"]);
        assert_eq!(output.status.code(), Some(2), "{option}");
        assert_eq!(stdout(&output), "", "{option}");
        let says = stderr(&output);
        assert!(says.contains(option), "{says}");
        assert!(near.is_none_or(|near| says.contains(near)), "{says}");
    }
    // Options of the command stay its own, with `--` before it and without.
    for arguments in [&["--", "echo", "-n", "--typo"][..], &["echo", "-n", "--typo"]] {
        let output = ran(&[], &[&["--quiet"], arguments].concat());
        assert_eq!(stdout(&output), "--typo", "{}", stderr(&output));
    }
}
