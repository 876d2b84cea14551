//! Two hosts that know JSON-RPC and nothing else.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::photic;

pub(super) const CURRENT: &str = "2026-07-28";
pub(super) const PREVIOUS: &str = "2025-11-25";
/// Longer than anything here takes, even on a busy machine.
const REPLY_TIMEOUT: Duration = Duration::from_mins(2);

/// A folder of its own for a test, gone with it.
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    pub(super) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("photic-mcp-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(super) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.0.join(name), bytes).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The `_meta` object of a request of the current protocol version.
pub(super) fn meta(host: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": CURRENT,
        "io.modelcontextprotocol/clientInfo": {"name": host, "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

pub(super) fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn initialize(version: &str, host: &str) -> Value {
    let client = json!({"name": host, "version": "1"});
    json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client})
}

/// A host that starts the server and talks to it through pipes.
pub(super) struct Pipe {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    next: u64,
    /// Received messages that answer no request.
    pub(super) others: Vec<Value>,
}

impl Pipe {
    pub(super) fn start(root: &Path, arguments: &[&str]) -> Self {
        let mut command = photic();
        command.arg("mcp").arg("--root").arg(root).args(arguments);
        command.env_remove("OPENAI_BASE_URL").env_remove("OPENAI_API_KEY");
        Self::of(command)
    }

    pub(super) fn of(mut command: std::process::Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines, next: 0, others: Vec::new() }
    }

    /// Started, and past the handshake of the previous version.
    pub(super) fn begun(root: &Path, host: &str, arguments: &[&str]) -> Self {
        let mut pipe = Self::start(root, arguments);
        let begun = pipe.ask("initialize", &initialize(PREVIOUS, host));
        assert_eq!(begun["result"]["protocolVersion"], PREVIOUS, "{begun}");
        pipe.tell("notifications/initialized", &json!({}));
        pipe
    }

    pub(super) fn initialize(&mut self, version: &str) -> Value {
        self.ask("initialize", &initialize(version, "test"))
    }

    pub(super) fn tell(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Asks, and does not wait.
    pub(super) fn begin(&mut self, method: &str, params: &Value) -> u64 {
        self.next += 1;
        self.send(&request(self.next, method, params));
        self.next
    }

    pub(super) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.begin(method, params);
        self.answer(id)
    }

    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }

    /// Waits for an answer. Fails if standard output holds anything but protocol messages.
    pub(super) fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.message(REPLY_TIMEOUT).unwrap();
            if message["id"] == id {
                return message;
            }
            self.others.push(message);
        }
    }

    /// The next message, if one comes.
    pub(super) fn message(&self, patience: Duration) -> Option<Value> {
        let line = self.lines.recv_timeout(patience).ok()?;
        let message: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        Some(message)
    }

    fn send(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().unwrap();
        writeln!(stdin, "{message}").unwrap();
        stdin.flush().unwrap();
    }

    /// Closes its end, and waits for the server to end.
    pub(super) fn leave(mut self) -> Option<i32> {
        self.stdin = None;
        self.child.wait().unwrap().code()
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server that listens, and what is needed to talk to it.
pub(super) struct Listening {
    pub(super) child: Child,
    pub(super) address: String,
}

impl Listening {
    pub(super) fn start(root: &Path) -> Self {
        let mut command = photic();
        command.arg("mcp").arg("--root").arg(root).args(["--http", "127.0.0.1:0"]);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("photic: listening on http://").unwrap();
        let address = url.strip_suffix("/mcp").unwrap().to_owned();
        Self { child, address }
    }

    /// One request on a connection of its own: status, head, messages.
    pub(super) fn post(&self, headers: &[(&str, &str)], body: &Value) -> (u16, String, Vec<Value>) {
        let (head, body) = self.send("POST", "/mcp", headers, &body.to_string());
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let events = body.lines().filter_map(|line| line.strip_prefix("data:").map(str::trim));
        let mut messages: Vec<Value> =
            events.filter_map(|data| serde_json::from_str(data).ok()).collect();
        messages.extend(serde_json::from_str::<Value>(&body).ok());
        (status, head, messages)
    }

    pub(super) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> (String, String) {
        let mut socket = TcpStream::connect(&self.address).unwrap();
        socket.set_read_timeout(Some(REPLY_TIMEOUT)).unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
        let host = ("host", self.address.as_str());
        let own = headers.iter().any(|(name, _)| *name == "host");
        for (name, value) in (!own).then_some(&host).into_iter().chain(headers) {
            write!(head, "{name}: {value}\r\n").unwrap();
        }
        head += "accept: application/json, text/event-stream\r\ncontent-type: application/json\r\n";
        write!(head, "content-length: {}\r\n\r\n{body}", body.len()).unwrap();
        socket.write_all(head.as_bytes()).unwrap();
        let mut reply = Vec::new();
        socket.read_to_end(&mut reply).unwrap();
        let reply = String::from_utf8_lossy(&reply).into_owned();
        let (head, body) = reply.split_once("\r\n\r\n").unwrap();
        (head.to_ascii_lowercase(), joined(head, body))
    }

    /// Past the handshake of the previous version: the id of the session.
    pub(super) fn session(&self, host: &str) -> String {
        let (status, head, messages) =
            self.post(&[], &request(1, "initialize", &initialize(PREVIOUS, host)));
        assert_eq!(status, 200, "{head}");
        let began = messages.iter().find(|message| message["id"] == 1).unwrap();
        assert_eq!(began["result"]["protocolVersion"], PREVIOUS);
        let id = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap();
        let told = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.post(&[("mcp-session-id", id)], &told).0, 202);
        id.to_owned()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A body without the lengths of its chunks.
fn joined(head: &str, body: &str) -> String {
    if !head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
        return body.to_owned();
    }
    let (mut rest, mut whole) = (body, String::new());
    while let Some((length, after)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length.trim(), 16).unwrap_or_default();
        if length == 0 || after.len() < length {
            break;
        }
        whole += &after[..length];
        rest = after[length..].trim_start_matches("\r\n");
    }
    whole
}
