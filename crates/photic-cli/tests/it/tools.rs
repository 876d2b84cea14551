//! `read` and `inspect`: the tools of an agent, in a person's hands.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use photic_mock::{Chart, Misbehavior, Mock, Options};

use crate::{photic, run, stderr, stdout};

const PICTURE: &str = "captures/images/bars.png";

/// A folder with a chart in it, gone with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("photic-tools-{name}-{}", std::process::id()));
        std::fs::create_dir_all(path.join("root")).unwrap();
        std::fs::write(path.join("root/chart.png"), Chart::of(7).png().unwrap()).unwrap();
        std::fs::write(path.join("root/notes.txt"), "one\ntwo\nthree\n").unwrap();
        std::fs::write(path.join("secret.txt"), "secret\n").unwrap();
        Self(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The binary, without the keys and addresses of the environment that runs the tests.
fn keyless() -> Command {
    let mut command = photic();
    for name in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"] {
        command.env_remove(name);
    }
    command.stdin(Stdio::null());
    command
}

fn inspect(mock: &Mock, source: &str, more: &[&str]) -> Output {
    let base = format!("{}/v1", mock.url());
    let arguments = ["inspect", source, "which colors?", "--model", "gpt-4o", "--base-url", &base];
    let mut command = keyless();
    command.env("OPENAI_API_KEY", "sk-secret").args(arguments).args(more).output().unwrap()
}

#[test]
fn read_prints_the_lines_and_nothing_else() {
    let folder = Folder::new("read");
    let notes = folder.path("root/notes.txt");
    let output = run(&["read", &notes]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(0), "one\ntwo\nthree\n".to_owned()));
    assert_eq!(stderr(&output), "");
    assert_eq!(stdout(&run(&["read", &notes, "--lines", "2-3"])), "two\nthree\n");
    assert_eq!(stdout(&run(&["read", &notes, "--lines", "3-"])), "three\n");
    // From the current folder, which in these tests is the checkout.
    assert!(stdout(&run(&["read", "Cargo.toml", "--lines", "1"])).starts_with("[workspace]"));
    let output = run(&["read", &notes, "--json"]);
    let reading: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&reading["total_lines"], &reading["first_line"]), (&3.into(), &1.into()));
    assert!(reading["fresh"].as_str().unwrap().starts_with("fresh_"));
}

#[test]
fn read_takes_standard_input_and_keeps_the_slash_of_absolute_paths() {
    use std::io::Write as _;
    let piped = |arguments: &[&str], text: &[u8]| {
        let mut command = photic();
        command.args(["read", "-"]).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(text).unwrap();
        child.wait_with_output().unwrap()
    };
    assert_eq!(stdout(&piped(&[], b"one\ntwo\n")), "one\ntwo\n");
    assert_eq!(stdout(&piped(&["--lines", "2"], b"one\ntwo\n")), "two\n");
    let picture = std::fs::read(crate::root().join(PICTURE)).unwrap();
    let output = piped(&[], &picture);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("`standard input` is a picture"), "{}", stderr(&output));

    let absolute = crate::root().join(PICTURE).canonicalize().unwrap();
    let output = run(&["read", absolute.to_str().unwrap()]);
    assert!(stderr(&output).contains(&format!("`{}`", absolute.display())), "{}", stderr(&output));
}

#[test]
fn read_says_where_it_stopped() {
    let folder = Folder::new("long");
    let long = "a line\n".repeat(3000);
    std::fs::write(folder.path("root/long.txt"), long).unwrap();
    let output = run(&["read", &folder.path("root/long.txt")]);
    assert_eq!(stdout(&output).lines().count(), 2000);
    assert!(stderr(&output).contains("ask for lines 2001-3000"), "{}", stderr(&output));
}

#[test]
fn read_refuses_pictures_and_what_lies_outside_with_exit_1() {
    let output = run(&["read", PICTURE]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(1), ""));
    assert!(stderr(&output).starts_with("refused: ") && stderr(&output).contains("`view`"));
    let folder = Folder::new("outside");
    let (root, outside) = (folder.path("root"), folder.path("secret.txt"));
    for source in ["../secret.txt", &outside] {
        let output = run(&["read", source, "--root", &root, "--json"]);
        assert_eq!(output.status.code(), Some(1));
        let refusal: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(refusal["error"]["kind"], "outside_roots");
    }
    assert_eq!(stdout(&run(&["read", "notes.txt", "--root", &root, "--lines", "1"])), "one\n");
    let output = run(&["read", "notes.txt", "--root", &folder.path("nowhere")]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let output = run(&["read", "notes.txt", "--lines", "3-1"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("end before they begin"), "{}", stderr(&output));
}

#[test]
fn inspect_prints_what_the_model_saw() {
    let folder = Folder::new("inspect");
    let mock = Mock::start(Options::default()).unwrap();
    let chart = folder.path("root/chart.png");
    let output = inspect(&mock, &chart, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains(&Chart::of(7).words()), "{}", stdout(&output));
    assert_eq!(stderr(&output), "", "no spinner where nobody watches");
    let output = inspect(&mock, "chart.png", &["--root", &folder.path("root"), "--json"]);
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&answer["model"], &answer["source"]),
        (&"openai/gpt-4o".into(), &"chart.png".into())
    );
    assert!(answer["notice"].as_str().unwrap().contains("not instructions"));
    for (wire, path) in
        [("openai-responses", "/v1/responses"), ("openai-chat", "/v1/chat/completions")]
    {
        assert_eq!(inspect(&mock, &chart, &["--wire", wire]).status.code(), Some(0));
        assert_eq!(mock.journal().pop().unwrap().path, path);
    }
}

#[test]
fn inspect_takes_its_model_from_the_keys_there_are() {
    let folder = Folder::new("keys");
    let mock = Mock::start(Options::default()).unwrap();
    let chart = folder.path("root/chart.png");
    let mut command = keyless();
    command.env("ANTHROPIC_API_KEY", "k").env("ANTHROPIC_BASE_URL", mock.url());
    let output = command.args(["inspect", &chart, "which colors?"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(mock.journal().pop().unwrap().path, "/v1/messages");
    let output = keyless().args(["inspect", &chart, "which colors?", "--json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let refusal: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(refusal["error"]["kind"], "no_models");
    let output = keyless().args(["inspect", &chart, "?", "--model", "gpt-4o"]).output().unwrap();
    assert!(stderr(&output).contains("there is no key for `openai/gpt-4o`"), "{}", stderr(&output));
}

#[test]
fn inspect_without_models_says_how_to_name_one() {
    let output = keyless().args(["inspect", "notes.png", "What?"]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("OPENAI_API_KEY") && error.contains("--base-url"), "{error}");
}

#[test]
fn inspect_refuses_with_exit_1_and_tells_no_key() {
    let folder = Folder::new("refused");
    let chart = folder.path("root/chart.png");
    let broken = Options { misbehave: vec![Misbehavior::ServerError], ..Options::default() };
    let output = inspect(&Mock::start(broken).unwrap(), &chart, &[]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(1), ""));
    assert!(stderr(&output).starts_with("refused: asking `openai/gpt-4o` failed"));
    assert!(!stderr(&output).contains("sk-secret"));
    let mock = Mock::start(Options::default()).unwrap();
    let archive = folder.path("root/notes.gz");
    std::fs::write(&archive, b"\x1f\x8b\x08\x00notes").unwrap();
    let output = inspect(&mock, &archive, &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(mock.journal().is_empty());
    let output = keyless().args(["inspect", &chart]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "a question is wanted");
}

/// Answers any question with forty lines of two hundred letters, and an escape.
#[cfg(unix)]
fn talkative() -> std::net::SocketAddr {
    use std::io::{Read as _, Write as _};
    let text = format!("\u{1b}[31m{}\n", "x".repeat(200)).repeat(40);
    let message = serde_json::json!({ "role": "assistant", "content": text });
    let choice = serde_json::json!({ "index": 0, "finish_reason": "stop", "message": message });
    let body = serde_json::json!({ "choices": [choice] }).to_string();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        while let Ok((mut socket, _)) = listener.accept() {
            socket.set_read_timeout(Some(std::time::Duration::from_millis(500))).unwrap();
            let _ = socket.read_to_end(&mut Vec::new());
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
            let _ =
                socket.write_all(head.as_bytes()).and_then(|()| socket.write_all(body.as_bytes()));
        }
    });
    address
}

#[cfg(unix)]
#[test]
fn inspect_in_a_terminal_spins_and_keeps_to_lines_and_columns() {
    let folder = Folder::new("terminal");
    let chart = folder.path("root/chart.png");
    let base = format!("http://{}/v1", talkative());
    let question = "why ".repeat(100);
    let shown = |more: &[&str]| {
        let arguments = ["inspect", &chart, &question, "--model", "gpt-4o", "--wire"];
        let rest = ["openai-chat", "--base-url", &base];
        let variables = [("TERM", "xterm"), ("NO_COLOR", "1")];
        crate::preview::shown(&variables, &[&arguments[..], &rest, more].concat())
    };
    for (flags, lines) in [(&[][..], 16), (&["--show", "collapsed"], 4), (&["--show", "full"], 40)]
    {
        let page = shown(flags);
        assert!(page.contains("asking openai/gpt-4o"), "a spinner: {page:?}");
        let (_, answer) = page.rsplit_once("\u{1b}[K").unwrap();
        let rows: Vec<&str> = answer.lines().filter(|line| line.contains("xxx")).collect();
        assert_eq!(rows.len(), lines, "{flags:?}");
        assert!(!answer.contains('\u{1b}'), "a model does not color the terminal");
        let widest = rows.iter().map(|row| row.trim_end().chars().count()).max().unwrap();
        assert!(if lines == 40 { widest > 200 } else { widest == 120 }, "{widest}");
        let first = answer.lines().next().unwrap();
        assert!(first.starts_with("why why") && first.trim_end().chars().count() <= 100);
        assert!(answer.contains("openai/gpt-4o · image/png"), "{answer}");
    }
}
