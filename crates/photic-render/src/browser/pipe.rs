//! Chrome's debugging protocol (CDP) over two pipes: JSON messages, each ended by a zero byte.
//!
//! Messages come from a program that reads hostile bytes: they are bounded and validated.

use std::io::Read;
use std::process::ChildStdout;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::sandbox::SandboxedProgram;

/// Largest message: a picture with all allowed pixels, in base64.
const MAX_BYTES: usize = 192 << 20;
/// Number of messages that wait to be read; more wait in the browser.
const QUEUE_LENGTH: usize = 64;

/// The reason why a browser cannot be used any longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BrowserFailure {
    /// The browser has ended.
    Gone,
    /// The page has crashed, but not the browser.
    Crashed,
    /// The browser sent invalid messages.
    Nonsense,
}

/// The connection to a browser.
pub(super) struct Pipe<'a> {
    running: &'a SandboxedProgram,
    messages: Receiver<Value>,
    last: u64,
}

impl<'a> Pipe<'a> {
    /// Starts to read the messages of a browser.
    pub(super) fn new(running: &'a SandboxedProgram, output: ChildStdout) -> Self {
        let (say, messages) = mpsc::sync_channel(QUEUE_LENGTH);
        std::thread::spawn(move || {
            let mut output = output;
            let mut split = MessageSplitter::default();
            let mut piece = vec![0; 1 << 16];
            while let Ok(length @ 1..) = output.read(&mut piece) {
                let Some(whole) = split.push(&piece[..length]) else { return };
                if !whole.into_iter().all(|message| say.send(message).is_ok()) {
                    return;
                }
            }
        });
        Self { running, messages, last: 0 }
    }

    /// Sends a command and returns its number, which the answer will repeat.
    pub(super) fn send(&mut self, session: Option<&str>, method: &str, parameters: Value) -> u64 {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method });
        message["params"] = parameters;
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.running.feed(bytes);
        self.last
    }

    /// The next message; `None` if the time is up.
    pub(super) fn receive(&self, until: Option<Instant>) -> Result<Option<Value>, BrowserFailure> {
        let Some(until) = until else {
            // The watcher ends the browser when its time is up, which ends this wait as well.
            return self.messages.recv().map(Some).map_err(|_| BrowserFailure::Gone);
        };
        let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        match self.messages.recv_timeout(left) {
            Ok(message) => Ok(Some(message)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(BrowserFailure::Gone),
        }
    }
}

/// Splits a stream into messages.
#[derive(Default)]
struct MessageSplitter {
    begun: Vec<u8>,
}

impl MessageSplitter {
    /// The messages that this piece completes; `None` if they are invalid.
    fn push(&mut self, piece: &[u8]) -> Option<Vec<Value>> {
        let mut whole = Vec::new();
        let mut parts = piece.split(|byte| *byte == 0).peekable();
        while let Some(part) = parts.next() {
            self.begun.extend_from_slice(part);
            if self.begun.len() > MAX_BYTES {
                return None;
            }
            if parts.peek().is_some() {
                whole.push(serde_json::from_slice(&self.begun).ok()?);
                self.begun.clear();
            }
        }
        Some(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_put_together() {
        let mut split = MessageSplitter::default();
        assert_eq!(split.push(b"{\"id\""), Some(Vec::new()));
        assert_eq!(split.push(b":1}\0{\"id\":2}\0{"), Some(vec![json!({"id":1}), json!({"id":2})]));
        assert_eq!(split.push(b"}"), Some(Vec::new()));
        assert_eq!(split.push(b"\0"), Some(vec![json!({})]));
        assert_eq!(split.push(b"no JSON\0"), None);
    }

    #[test]
    fn a_message_without_end_is_none() {
        let mut split = MessageSplitter::default();
        let piece = vec![b' '; MAX_BYTES];
        assert_eq!(split.push(&piece), Some(Vec::new()));
        assert_eq!(split.push(b" "), None);
    }
}
