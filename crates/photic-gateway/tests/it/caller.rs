//! A raw HTTP client that returns every byte of a reply.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Time limit that no test should reach.
const TEST_TIMEOUT: Duration = Duration::from_secs(30);

/// A reply.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// Set if the reply is complete.
    pub(crate) complete: bool,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// Returns a POST request that closes its connection.
pub(crate) fn post(path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-type: application/json\r\n{headers}content-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

pub(crate) fn get(path: &str, headers: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\r\n").into()
}

/// Sends a request and reads the reply.
pub(crate) async fn exchange(to: SocketAddr, request: &[u8]) -> Reply {
    reply(&exchange_bytes(to, request).await)
}

/// Waits until a gateway answers that it stops. A connection that came just before may end without a
/// reply.
pub(crate) async fn until_stopping(at: SocketAddr) {
    let said = async {
        while !exchange_bytes(at, &get("/ready", "")).await.starts_with(b"HTTP/1.1 503 ") {
            tokio::task::yield_now().await;
        }
    };
    timeout(TEST_TIMEOUT, said).await.expect("it says that it stops");
}

async fn exchange_bytes(to: SocketAddr, request: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(to).await.unwrap();
    let (mut reader, mut writer) = stream.split();
    // An early answer may arrive before the whole request is sent.
    let send = async {
        let _ = writer.write_all(request).await;
    };
    let mut bytes = Vec::new();
    let receive = async {
        let _ =
            timeout(TEST_TIMEOUT, reader.read_to_end(&mut bytes)).await.expect("a reply in time");
    };
    tokio::join!(send, receive);
    bytes
}

/// Reads until these bytes have arrived.
pub(crate) async fn read_until(stream: &mut TcpStream, wanted: &str) -> String {
    let mut bytes = Vec::new();
    let read = async {
        while !String::from_utf8_lossy(&bytes).contains(wanted) {
            assert!(stream.read_buf(&mut bytes).await.unwrap() > 0, "the end came first");
        }
    };
    timeout(TEST_TIMEOUT, read).await.expect("bytes in time");
    String::from_utf8(bytes).unwrap()
}

pub(crate) fn reply(bytes: &[u8]) -> Reply {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("a head") + 4;
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let mut reply = Reply { status, head, body: bytes[end..].to_vec(), complete: true };
    if reply.header("transfer-encoding").is_some() {
        (reply.body, reply.complete) = unchunked(&bytes[end..]);
    } else if let Some(length) = reply.header("content-length") {
        reply.complete = length.parse() == Ok(reply.body.len());
    }
    reply
}

fn unchunked(mut bytes: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    while let Some(line) = bytes.windows(2).position(|window| window == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&bytes[..line]).unwrap(), 16).unwrap();
        if size == 0 {
            return (body, true);
        }
        let Some(chunk) = bytes.get(line + 2..line + 2 + size) else { break };
        body.extend_from_slice(chunk);
        bytes = bytes.get(line + 2 + size + 2..).unwrap_or_default();
    }
    (body, false)
}
