//! A client of fifty lines: one request a connection, and every byte of the reply.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use photic_mock::{Mock, Options};
use serde_json::Value;

/// A reply as it came.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) text: String,
    /// It came to its own end.
    pub(crate) whole: bool,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {}", self.text))
    }

    /// The data of each server-sent event.
    pub(crate) fn events(&self) -> Vec<String> {
        let data = |event: &str| {
            event.lines().find_map(|line| line.strip_prefix("data: ").map(str::to_owned))
        };
        self.text.split("\n\n").filter_map(data).collect()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let line = |line: &str| line.to_ascii_lowercase().starts_with(&format!("{name}: "));
        let line = self.head.lines().find(|l| line(l))?;
        Some(line.split_once(": ")?.1)
    }
}

pub(crate) fn start() -> Mock {
    Mock::start(Options::default()).unwrap()
}

/// Sends JSON with a key, and whatever the Messages wire wants.
pub(crate) fn post(mock: &Mock, path: &str, body: &Value) -> Reply {
    post_with(mock, path, body, &[])
}

pub(crate) fn post_with(mock: &Mock, path: &str, body: &Value, more: &[(&str, &str)]) -> Reply {
    let mut headers = vec![("authorization", "Bearer k"), ("anthropic-version", "2023-06-01")];
    headers.extend_from_slice(more);
    send(mock, "POST", path, &headers, body.to_string().as_bytes()).unwrap()
}

pub(crate) fn misbehave(mock: &Mock, path: &str, body: &Value, kinds: &str) -> Reply {
    post_with(mock, path, body, &[("x-mock-misbehave", kinds)])
}

pub(crate) fn get(mock: &Mock, path: &str) -> Reply {
    send(mock, "GET", path, &[], b"").unwrap()
}

/// One request. None if the connection ended, or stayed silent, without a reply.
pub(crate) fn send(
    mock: &Mock,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Option<Reply> {
    send_within(Duration::from_mins(1), mock, method, path, headers, body)
}

/// One request of a client that gives up after a while.
pub(crate) fn send_within(
    patience: Duration,
    mock: &Mock,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Option<Reply> {
    let mut socket = TcpStream::connect(mock.address()).unwrap();
    socket.set_read_timeout(Some(patience)).unwrap();
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n");
    for (name, value) in headers {
        head.extend([*name, ": ", *value, "\r\n"]);
    }
    let end = format!("content-length: {}\r\n\r\n", body.len());
    socket.write_all((head + &end).as_bytes()).unwrap();
    socket.write_all(body).unwrap();
    let mut bytes = Vec::new();
    let _ = socket.read_to_end(&mut bytes);
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let head = head.to_owned();
    if head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
        let (text, whole) = dechunk(body);
        return Some(Reply { status, head, text, whole });
    }
    let mut reply = Reply { status, head, text: body.to_owned(), whole: true };
    let length: Option<usize> = reply.header("content-length").map(|n| n.parse().unwrap());
    reply.whole = length.is_none_or(|length| length == reply.text.len());
    Some(reply)
}

fn dechunk(mut body: &str) -> (String, bool) {
    let mut text = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return (text, true);
        }
        let Some(piece) = rest.get(..size) else { break };
        text += piece;
        body = rest[size..].trim_start_matches("\r\n");
    }
    (text, false)
}
