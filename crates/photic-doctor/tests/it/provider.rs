//! The strict provider, asked over loopback.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use photic::Wire;
use photic_mock::{Mock, Options};
use serde_json::Value;

/// Sends a body; the status, and what the provider says.
pub(crate) fn ask(wire: Wire, model: &str, body: &Value) -> (u16, String) {
    let mock = Mock::start(Options::default()).unwrap();
    let base = if matches!(wire, Wire::OpenAiChat | Wire::OpenAiResponses) { "/v1" } else { "" };
    let path = wire.address(base, model);
    let mut socket = TcpStream::connect(mock.address()).unwrap();
    socket.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer k\r\n\
         anthropic-version: 2023-06-01\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    socket.write_all(head.as_bytes()).unwrap();
    socket.write_all(body.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    let _ = socket.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    (status, text.split_once("\r\n\r\n").map_or(String::new(), |(_, body)| body.to_owned()))
}
