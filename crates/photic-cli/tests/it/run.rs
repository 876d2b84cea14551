//! `photic run`, as a process with a process of its own.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use photic_testkit::image;
use rustix::process::{Pid, Signal, kill_process};

use crate::{photic, run, stderr, stdout};

/// Every variable that leads to a provider.
const BASES: [&str; 7] = [
    "OPENAI_BASE_URL",
    "OPENAI_API_BASE",
    "OPENAI_HOST",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_API_URL",
    "ANTHROPIC_API_BASE",
    "ANTHROPIC_HOST",
];

/// `photic run`, whatever is set around this test.
fn behind(environment: &[(&str, &str)]) -> Command {
    let mut command = photic();
    for name in BASES {
        command.env_remove(name);
    }
    // Keeps learned limits apart from those of other tests.
    command.env("XDG_STATE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/state-of-run"));
    command.envs(environment.iter().copied()).arg("run").stdin(Stdio::null());
    command
}

pub(crate) fn ran(environment: &[(&str, &str)], arguments: &[&str]) -> Output {
    behind(environment).args(arguments).output().unwrap()
}

/// A provider that is ended with the test.
pub(crate) struct Provider(Child, pub(crate) String);

impl Provider {
    pub(crate) fn start() -> Self {
        let mut child = photic().arg("mock").stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self(child, line.trim().to_owned())
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A conversation whose tool gave a chart as JSON text, in a file, and what the chart shows.
pub(crate) fn conversation(name: &str) -> (PathBuf, String) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (body, chart) = (folder.join(format!("{name}.json")), folder.join(format!("{name}.png")));
    let words = run(&["mock", "--chart", "7", "-o", chart.to_str().unwrap()]);
    let data = image::data_url("image/png", &std::fs::read(chart).unwrap());
    let result = serde_json::json!({"screenshot": data}).to_string();
    let call = serde_json::json!({
        "id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"},
    });
    let request = serde_json::json!({"model": "gpt-4o", "messages": [
        {"role": "user", "content": "What is there?"},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": result},
    ]});
    std::fs::write(&body, request.to_string()).unwrap();
    (body, stdout(&words).trim().to_owned())
}

/// A client that knows no address but the one in its environment.
pub(crate) fn client(body: &Path) -> String {
    format!(
        "curl --silent --fail-with-body --data @{} --header 'authorization: Bearer k' \
         --header 'content-type: application/json' $OPENAI_BASE_URL/chat/completions",
        body.display()
    )
}

#[test]
fn what_was_invisible_is_seen_and_counted() {
    let provider = Provider::start();
    let (body, words) = conversation("run-seen");
    let base = format!("{}/v1", provider.1);
    let environment = [("OPENAI_BASE_URL", base.as_str())];
    let script = client(&body);
    let direct = Command::new("sh").args(["-c", &script]).envs(environment).output().unwrap();
    assert!(stdout(&direct).contains("I see no image."), "{}", stdout(&direct));

    let through = ran(&environment, &["--", "sh", "-c", &script]);
    assert_eq!(through.status.code(), Some(0), "{}", stderr(&through));
    assert!(stdout(&through).contains(&format!("image 1: {words}")), "{}", stdout(&through));
    let says = "photic: 1 request, 1 changed\n  made visible  1 image (hoisted 1)\n  tokens  ";
    assert!(stderr(&through).starts_with(says), "{}", stderr(&through));
    let elsewhere = [("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")];
    let flag = ran(&elsewhere, &["--quiet", "--upstream", &provider.1, "sh", "-c", &script]);
    assert!(stdout(&flag).contains(&format!("image 1: {words}")), "{}", stdout(&flag));
    assert_eq!(stderr(&flag), "");
}

/// The gateway of a command warns of nothing while it runs, and sums up at the end.
#[test]
fn what_was_passed_on_unread_is_said_at_the_end() {
    let provider = Provider::start();
    let base = format!("{}/v1", provider.1);
    let environment = [("OPENAI_BASE_URL", base.as_str())];
    let unread = "for path in completions interactions; do curl --silent --output /dev/null \
                  --data '{\"prompt\":\"x\"}' --header 'authorization: Bearer k' \
                  --header 'content-type: application/json' $OPENAI_BASE_URL/$path; done";
    let output = ran(&environment, &["--", "sh", "-c", unread]);
    assert_eq!(
        stderr(&output),
        "photic: 2 requests passed on unread\n  unread        2 requests (unknown path 2)\n"
    );

    let (body, _) = conversation("run-passed");
    let both = format!("{unread}; {}", client(&body));
    let output = ran(&environment, &["--", "sh", "-c", &both]);
    let says = "photic: 1 request, 1 changed\n  made visible  1 image (hoisted 1)\n  unread        \
                2 requests (unknown path 2)\n";
    assert!(stderr(&output).starts_with(says), "{}", stderr(&output));
}

/// The gateway of a command rejects requests without its token, and forwards no request of one
/// family to an upstream of another.
#[test]
fn each_family_is_on_its_own() {
    let (openai, anthropic) = (Provider::start(), Provider::start());
    let environment = [
        ("OPENAI_BASE_URL", &*format!("{}/v1", openai.1)),
        ("ANTHROPIC_BASE_URL", anthropic.1.as_str()),
    ];
    let script = "status() { curl --silent --output /dev/null --write-out '%{http_code} ' \
                  --header 'authorization: Bearer k' \"$@\"; }; \
                  root=${OPENAI_HOST%/*/*}; \
                  status $OPENAI_BASE_URL/models; status $ANTHROPIC_BASE_URL/v1/models; \
                  status $root/v1/models; status $root/0123/openai/v1/models; status $root/health";
    let output = ran(&environment, &["--quiet", "--", "sh", "-c", script]);
    assert_eq!(stdout(&output), "200 200 404 404 404 ", "{}", stderr(&output));
}

/// A client may read its key from a file, together with a base URL that the environment overrides.
#[test]
fn a_key_of_another_provider_does_not_reach_a_default_one() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("run-foreign.toml");
    std::fs::write(&file, "[[upstream]]\nurl = 'http://127.0.0.1:9'\nmodels = ['qwen*']\n")
        .unwrap();
    let script = "ask() { curl --silent --output /dev/null --write-out '%{http_code} ' \
                  --header 'authorization: Bearer gsk_x' --header 'content-type: application/json' \
                  \"$@\"; }; \
                  ask --data '{\"model\":\"m\",\"messages\":[]}' $OPENAI_BASE_URL/chat/completions; \
                  ask --data x $OPENAI_BASE_URL/unknown; ask $OPENAI_BASE_URL/models; \
                  ask --data '{}' $ANTHROPIC_BASE_URL/v1/messages/batches";
    for config in [&[][..], &["--config", file.to_str().unwrap()]] {
        let arguments = [&["--quiet"], config, &["--", "sh", "-c", script]].concat();
        let output = ran(&[], &arguments);
        assert_eq!(stdout(&output), "404 404 404 404 ", "{config:?} {}", stderr(&output));
    }
}

#[test]
fn a_file_sends_it_to_another_wire() {
    let provider = Provider::start();
    let (body, words) = conversation("run-crosses");
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("run-crosses.toml");
    let upstream =
        format!("[[upstream]]\nurl = '{}'\nwire = 'anthropic'\nmodels = ['*']\n", provider.1);
    std::fs::write(&file, upstream).unwrap();
    let script = client(&body);
    let output = ran(&[], &["--config", file.to_str().unwrap(), "--", "sh", "-c", &script]);
    assert!(stdout(&output).contains(&format!("image 1: {words}")), "{}", stdout(&output));
}

#[test]
fn every_variable_leads_to_the_gateway() {
    let names = BASES.map(|name| format!("\"${name}\"")).join(" ");
    let output = ran(&[], &["--", "sh", "-c", &format!("printf '%s\\n' {names}")]);
    let said = stdout(&output);
    let lines: Vec<&str> = said.lines().collect();
    let openai = lines[2];
    let (port, path) = openai.strip_prefix("http://127.0.0.1:").unwrap().split_once('/').unwrap();
    assert!(port.parse::<u16>().is_ok(), "{lines:?}");
    let token = path.strip_suffix("/openai").unwrap();
    assert!(token.len() == 32 && token.bytes().all(|byte| byte.is_ascii_hexdigit()), "{token}");
    let versioned = format!("{openai}/v1");
    let anthropic = &*format!("http://127.0.0.1:{port}/{token}/anthropic");
    let four = [anthropic; 4];
    assert_eq!(lines, [&[&*versioned, &*versioned, openai][..], &four].concat());
    let again = ran(&[], &["--", "sh", "-c", "echo $OPENAI_HOST"]);
    assert!(!stdout(&again).contains(token), "a token is of one run");
    assert!(stderr(&output).starts_with("photic: no requests"), "{}", stderr(&output));
}

#[test]
fn it_ends_as_the_command_does() {
    for (script, code) in [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137), ("kill $$", 143)] {
        let output = ran(&[], &["--quiet", "--", "sh", "-c", script]);
        assert_eq!(output.status.code(), Some(code), "{script}");
        assert_eq!(stderr(&output), "");
    }
    let output = ran(&[], &["--", "photic-no-such-command"]);
    assert_eq!(output.status.code(), Some(127));
    assert!(stderr(&output).contains("cannot run `photic-no-such-command`"), "{}", stderr(&output));
    assert_eq!(ran(&[], &["--", "/"]).status.code(), Some(126));
    assert_eq!(ran(&[], &["--"]).status.code(), Some(2));
}

#[test]
fn signals_are_meant_for_the_command() {
    for (signal, name, code) in [(Signal::TERM, "TERM", 3), (Signal::INT, "INT", 4)] {
        let script = format!("trap 'exit {code}' {name}; echo ready; while :; do sleep 0.02; done");
        let mut child = behind(&[])
            .args(["--", "sh", "-c", &script])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // In front of no terminal: what a terminal says, it says to both.
            .process_group(0)
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{name}");
    }
}

#[test]
fn what_cannot_be_is_named() {
    let refused = |environment: &[(&str, &str)], arguments: &[&str]| {
        let output = ran(environment, arguments);
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""));
        stderr(&output)
    };
    let says = refused(&[("ANTHROPIC_BASE_URL", "localhost:80")], &["--", "echo", "x"]);
    assert!(says.contains("`ANTHROPIC_BASE_URL`: `localhost:80`"), "{says}");
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let itself = format!("http://127.0.0.1:{free}/v1");
    let says = refused(&[("OPENAI_API_BASE", &itself)], &["--port", &free, "--", "echo", "x"]);
    assert!(says.contains("`OPENAI_API_BASE` is the address of this gateway itself"), "{says}");
}

/// A terminal tells everybody in front of it, so the command must not be told again: to agents a
/// second Ctrl-C means more than one.
#[cfg(target_os = "linux")]
#[test]
fn one_ctrl_c_is_one_ctrl_c() {
    // Busy, so that two in a row are not taken for one.
    let count = "trap 'echo told' INT; echo ready; while [ \\$((i += 1)) -lt 400000 ]; do :; done";
    // `exec`: a shell that waits in between (dash does) is told as well, and ends with 130.
    let photic = env!("CARGO_BIN_EXE_photic");
    let command = format!("exec {photic} run --quiet -- sh -c \"{count}\"");
    let mut terminal = Command::new("script")
        .args(["--quiet", "--return", "--command", &command, "/dev/null"])
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(terminal.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.next().unwrap().trim(), "ready");
    terminal.stdin.as_mut().unwrap().write_all(b"\x03").unwrap();
    let told: Vec<String> = lines.collect();
    assert_eq!(terminal.wait().unwrap().code(), Some(0), "{told:?}");
    assert_eq!(told.iter().filter(|line| line.contains("told")).count(), 1, "{told:?}");
}

#[test]
fn a_record_has_a_usual_place_and_can_have_another() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("run-record");
    let _ = std::fs::remove_dir_all(&folder);
    let (state, other) = (folder.join("state"), folder.join("other"));
    for (flag, place) in [
        ("--record".to_owned(), state.join("photic")),
        (format!("--record={}", other.display()), other),
    ] {
        let output = photic()
            .args(["run", "--quiet", &flag, "--", "true"])
            .env("XDG_STATE_HOME", &state)
            .output()
            .unwrap();
        assert_eq!(
            output.status.code(),
            Some(0),
            "{flag}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(place.join("blobs").is_dir(), "{flag}: nothing at {}", place.display());
    }
}
