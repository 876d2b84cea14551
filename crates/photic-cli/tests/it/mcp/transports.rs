//! Access over HTTP, and the end of a server.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use super::client::{Folder, Listening, Pipe, request};
use crate::{run, stderr};

/// A page of the web that reaches this machine through a name of its own gets nothing.
#[test]
fn strangers_are_kept_out() {
    let folder = Folder::new("strangers");
    let server = Listening::start(&folder.0);
    let list = request(1, "tools/list", &json!({}));
    let port = server.address.rsplit(':').next().unwrap().to_owned();
    let status = |headers: &[(&str, &str)]| server.post(headers, &list).0;
    for host in ["evil.example", "127.0.0.1.evil.example", "169.254.169.254"] {
        assert_eq!(status(&[("host", &format!("{host}:{port}"))]), 403, "{host}");
    }
    for origin in ["http://evil.example", "null", "https://127.0.0.1.evil.example", "file://"] {
        assert_eq!(status(&[("origin", origin)]), 403, "{origin}");
    }
    // Another page on this machine is a stranger, too.
    assert_eq!(status(&[("origin", "http://localhost:3000")]), 403);
    // No session yet, but let in: our own names, and no origin at all.
    for host in ["localhost", "127.0.0.1"] {
        let authority = format!("{host}:{port}");
        let own = format!("http://{authority}");
        assert_ne!(status(&[("host", &authority)]), 403);
        assert_ne!(status(&[("host", &authority), ("origin", &own)]), 403);
    }
    assert!(server.send("GET", "/", &[], "").0.starts_with("http/1.1 404"));
}

#[test]
fn only_loopback_is_listened_on() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80"] {
        let output = run(&["mcp", "--root", ".", "--http", address]);
        assert_eq!(output.status.code(), Some(2), "{address}");
        assert!(stderr(&output).contains("loopback"), "{}", stderr(&output));
    }
}

#[test]
fn a_root_is_needed_and_has_to_be_a_folder() {
    assert_eq!(run(&["mcp"]).status.code(), Some(2));
    let output = run(&["mcp", "--root", "no/such/folder"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("no/such/folder"), "{}", stderr(&output));
    assert!(output.stdout.is_empty());
}

#[test]
fn the_configuration_of_a_host_is_printed_and_works() {
    let output = run(&["mcp", "--print", "cursor", "--root", "crates", "--model", "gpt-5.4"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let snippet: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let server = &snippet["mcpServers"]["photic"];
    let program = std::path::Path::new(server["command"].as_str().unwrap());
    assert!(program.is_absolute() && program.is_file(), "{server}");
    let root = std::path::Path::new(server["args"][2].as_str().unwrap());
    assert!(root.is_absolute() && root.ends_with("crates"), "{server}");
    assert!(server["env"]["OPENAI_API_KEY"].as_str().unwrap().contains("OPENAI_API_KEY"));
    assert!(stderr(&output).contains("`.cursor/mcp.json`"), "{}", stderr(&output));
    // Hosts start it as it was printed.
    let mut command = std::process::Command::new(program);
    let arguments = server["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
    command.args(arguments).env("OPENAI_API_KEY", "any");
    let mut pipe = Pipe::of(command);
    assert!(pipe.initialize("2025-11-25")["result"].is_object());

    let unknown = run(&["mcp", "--print", "curser"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("cursor"), "{}", stderr(&unknown));
}

/// A stream that waits for news does not keep the server from ending.
#[cfg(unix)]
#[test]
fn it_ends_when_it_is_told() {
    let folder = Folder::new("end");
    let mut server = Listening::start(&folder.0);
    let session = server.session("test");
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let head = format!(
        "GET /mcp HTTP/1.1\r\nhost: {}\r\nmcp-session-id: {session}\r\naccept: text/event-stream\r\n\r\n",
        server.address
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    let pid = rustix::process::Pid::from_child(&server.child);
    let begun = Instant::now();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    assert!(begun.elapsed() < Duration::from_secs(30));
}
