//! Access over HTTP, and the end of a server.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use super::client::{Folder, Listening, request};
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
