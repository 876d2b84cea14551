//! `photic serve`, as a process.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A gateway that runs, and is ended with the test.
struct ServeProcess {
    child: Child,
    address: SocketAddr,
}

impl Drop for ServeProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn photic() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_photic"));
    command.current_dir(env!("CARGO_TARGET_TMPDIR")).arg("serve");
    // Keeps learned limits apart from those of other tests.
    command.env("XDG_STATE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/state-of-serve"));
    command.env("XDG_CONFIG_HOME", "/nowhere").env_remove("PHOTIC_CONFIG");
    command
}

fn serve(arguments: &[&str]) -> ServeProcess {
    serving(photic(), arguments)
}

fn serving(mut command: Command, arguments: &[&str]) -> ServeProcess {
    let mut child = command
        .args(["--listen", "127.0.0.1:0"])
        .args(arguments)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("photic: listening on http://").unwrap();
    ServeProcess { child, address: address.parse().unwrap() }
}

fn exchange(to: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(to).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply
}

fn refused(arguments: &[&str]) -> String {
    let output = photic().args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn it_serves_and_ends_when_told() {
    let mut serving = serve(&[]);
    let reply = exchange(
        serving.address,
        "GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
    );
    assert!(reply.starts_with("HTTP/1.1 200") && reply.ends_with("{\"status\":\"ok\"}"), "{reply}");
    let id = serving.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    let start = Instant::now();
    let status = loop {
        if let Some(status) = serving.child.try_wait().unwrap() {
            break status;
        }
        assert!(start.elapsed() < Duration::from_mins(1), "it does not end");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(status.code(), Some(0));
}

/// A gateway knows the limits that an earlier, killed gateway learned from a rejection.
#[test]
fn what_was_learned_survives_a_kill() {
    let limits = photic::profile::Limits { images: Some(1), ..Default::default() };
    let options = photic_mock::Options { limits: Some(limits), ..Default::default() };
    let mock = photic_mock::Mock::start(options).unwrap();
    let state = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("killed");
    let _ = std::fs::remove_dir_all(&state);
    let part = |seed| {
        let png = photic_mock::Chart::of(seed).png().unwrap();
        let url = photic_testkit::image::data_url("image/png", &png);
        serde_json::json!({"type": "image_url", "image_url": {"url": url}})
    };
    let message = serde_json::json!({"role": "user", "content": [part(1), part(2)]});
    let body = serde_json::json!({"model": "house", "messages": [message]}).to_string();
    let request = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         authorization: Bearer k\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    for (healed, requests) in [(true, 2), (false, 3)] {
        let mut command = photic();
        command.env("XDG_STATE_HOME", &state);
        // Dropping it kills it.
        let serving = serving(command, &["--upstream", &mock.url()]);
        let reply = exchange(serving.address, &request);
        assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
        assert_eq!(reply.contains("x-photic-healed: too_many"), healed, "{reply}");
        assert_eq!(mock.journal().len(), requests);
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_photic"));
    let output = command.arg("profiles").env("XDG_STATE_HOME", &state).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("about house\n  a request has at most 1 image\n"), "{said}");
}

#[test]
fn it_sends_requests_where_it_is_told() {
    let upstream = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("anthropic=http://{}", upstream.local_addr().unwrap());
    let serving = serve(&["--upstream", &url]);
    let address = serving.address;
    let caller = std::thread::spawn(move || {
        exchange(
            address,
            "POST /messages HTTP/1.1\r\nhost: localhost\r\nx-api-key: k\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}",
        )
    });
    let (mut stream, _) = upstream.accept().unwrap();
    let mut head = vec![0; 4096];
    let read = stream.read(&mut head).unwrap();
    let head = String::from_utf8_lossy(&head[..read]).into_owned();
    assert!(
        head.starts_with("POST /v1/messages HTTP/1.1\r\n") && head.contains("x-api-key: k\r\n")
    );
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]").unwrap();
    let reply = caller.join().unwrap();
    assert!(reply.contains("x-photic-fixes: 0\r\n") && reply.ends_with("[]"), "{reply}");
}

#[test]
fn it_tells_every_request_if_asked() {
    let mut child = photic()
        .args(["--listen", "127.0.0.1:0", "--log", "json", "--upstream", "http://127.0.0.1:1"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut next = || serde_json::from_str::<serde_json::Value>(&lines.next().unwrap().unwrap());
    let listening = next().unwrap();
    assert_eq!(
        (&listening["event"], &listening["admin"]),
        (&"listening".into(), &listening["address"])
    );
    let address = listening["address"].as_str().unwrap().strip_prefix("http://").unwrap();
    let serving = ServeProcess { child, address: address.parse().unwrap() };
    let reply = exchange(
        serving.address,
        "POST /messages HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}",
    );
    let told = next().unwrap();
    assert_eq!(
        (&told["event"], &told["failure"]),
        (&"request".into(), &"upstream_unreachable".into())
    );
    let id = format!("x-photic-request-id: {}\r\n", told["id"].as_str().unwrap());
    assert!(reply.contains(&id), "{reply}");
}

/// Starts a gateway in a folder and returns the lines it prints before it serves.
fn said_in(folder: &std::path::Path, environment: &[(&str, &std::path::Path)]) -> Vec<String> {
    let mut child = photic()
        .current_dir(folder)
        .args(["--listen", "127.0.0.1:0", "--upstream", "http://127.0.0.1:1"])
        .envs(environment.iter().copied())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stderr = BufReader::new(child.stderr.take().unwrap());
    let mut lines: Vec<String> = stderr.lines().take(2).map(Result::unwrap).collect();
    if lines.first().is_some_and(|line| line.contains("listening")) {
        assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    }
    child.wait().unwrap();
    lines.retain(|line| !line.contains("listening"));
    lines
}

#[cfg(unix)]
#[test]
fn settings_are_those_of_the_user_and_never_of_the_folder() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("settings-of-whom");
    let (cloned, own) = (folder.join("cloned"), folder.join("config/photic/photic.toml"));
    std::fs::create_dir_all(&cloned).unwrap();
    std::fs::create_dir_all(own.parent().unwrap()).unwrap();
    // It would not start with these.
    std::fs::write(cloned.join("photic.toml"), "nonsense = 1\n").unwrap();
    std::fs::write(&own, "[timeouts]\nidle_s = 7\n").unwrap();
    std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(said_in(&cloned, &[]), ["photic: no settings file; using the defaults"]);
    let config = folder.join("config");
    let user = ("XDG_CONFIG_HOME", config.as_path());
    let read = format!("photic: settings from `{}`", own.display());
    assert_eq!(said_in(&cloned, &[user]), [read]);
    let named = ("PHOTIC_CONFIG", std::path::Path::new("photic.toml"));
    assert!(said_in(&cloned, &[user, named]).join("\n").contains("photic.toml"));
    std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o666)).unwrap();
    let says = said_in(&cloned, &[user]).join("\n");
    assert!(says.contains("chmod go-w"), "{says}");
}

#[test]
fn its_settings_have_a_schema() {
    let print = |arguments: &[&str]| crate::stdout(&crate::run(arguments));
    let docs = |name: &str| std::fs::read_to_string(crate::root().join("docs").join(name)).unwrap();
    assert_eq!(print(&["schema"]), docs("photic.schema.json"));
    assert_eq!(print(&["schema", "--example"]), docs("photic.toml"));
}

#[test]
fn it_says_what_is_wrong_with_its_settings() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("wrong.toml");
    std::fs::write(&path, "[timeouts]\nidle = 3\n").unwrap();
    let says = refused(&["--config", path.to_str().unwrap()]);
    assert!(says.contains("unknown key `timeouts.idle`; did you mean `idle_s`?"), "{says}");
    assert!(refused(&["--upstream", "ftp://h"]).contains("`http://`"));
    assert!(refused(&["--upstream", "chat=http://h"]).contains("openai-chat"));
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (listen, upstream) = (format!("127.0.0.1:{port}"), format!("http://localhost:{port}"));
    let says = refused(&["--listen", &listen, "--upstream", &upstream]);
    assert!(says.contains("is this gateway itself"), "{says}");
}
