//! A client that returns the reply, and can disconnect early.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::request::{Request, Trouble};

/// Time limit of a request, on a busy machine and with a provider that may take twenty seconds.
const REPLY_TIMEOUT: Duration = Duration::from_mins(1);

/// The reply to a request.
#[derive(Default)]
pub(crate) struct Reply {
    /// The status, or 0 if no reply began.
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
    /// Set if the reply is complete.
    pub(crate) whole: bool,
    /// Set if nothing arrived within the time limit.
    pub(crate) hung: bool,
    pub(crate) left: bool,
}

impl Reply {
    /// Returns a short description.
    pub(crate) fn describe(&self) -> String {
        let end = if self.whole { "whole" } else { "broken off" };
        let beginning = &self.body[..self.body.len().min(500)];
        format!("{} {end} {}", self.status, String::from_utf8_lossy(beginning))
    }
}

/// Sends a request, and reads the reply, unless its trouble is to disconnect.
pub(crate) async fn exchange(to: SocketAddr, request: &Request) -> Reply {
    match timeout(REPLY_TIMEOUT, converse(to, request)).await {
        Ok(reply) => reply,
        Err(_) => Reply { hung: true, ..Reply::default() },
    }
}

async fn converse(to: SocketAddr, request: &Request) -> Reply {
    let Ok(mut stream) = TcpStream::connect(to).await else { return Reply::default() };
    if request.trouble == Trouble::LeavesAsking {
        let _ = stream.write_all(&request.bytes[..request.bytes.len() / 2]).await;
        return Reply { left: true, ..Reply::default() };
    }
    let (mut reader, mut writer) = stream.split();
    // An early answer may arrive before the whole request is sent.
    let send = async {
        let _ = writer.write_all(&request.bytes).await;
    };
    let mut bytes = Vec::new();
    if request.trouble == Trouble::LeavesReading {
        let begin = async {
            let _ = reader.read_buf(&mut bytes).await;
        };
        tokio::join!(send, begin);
        return Reply { left: true, ..Reply::default() };
    }
    let receive = async {
        let _ = reader.read_to_end(&mut bytes).await;
    };
    tokio::join!(send, receive);
    read(&bytes).unwrap_or_default()
}

fn read(bytes: &[u8]) -> Option<Reply> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&bytes[..end]).ok()?.to_ascii_lowercase();
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name));
    let (body, whole) = if field("transfer-encoding: chunked").is_some() {
        unchunked(&bytes[end..])
    } else {
        let length = field("content-length: ").and_then(|length| length.parse::<usize>().ok());
        let body = bytes[end..].to_vec();
        let whole = length.is_none_or(|length| length == body.len());
        (body, whole)
    };
    Some(Reply { status, body, whole, ..Reply::default() })
}

fn unchunked(mut bytes: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    while let Some(line) = bytes.windows(2).position(|window| window == b"\r\n") {
        let size = std::str::from_utf8(&bytes[..line]).ok();
        let Some(size) = size.and_then(|size| usize::from_str_radix(size, 16).ok()) else { break };
        if size == 0 {
            return (body, true);
        }
        let Some(chunk) = bytes.get(line + 2..line + 2 + size) else { break };
        body.extend_from_slice(chunk);
        bytes = bytes.get(line + 2 + size + 2..).unwrap_or_default();
    }
    (body, false)
}
