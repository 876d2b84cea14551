//! Chrome's debugging protocol (CDP) over two pipes: JSON messages, each ended by a zero byte.
//!
//! What comes back was said by a program that reads hostile bytes: it is bounded, and nothing is
//! taken for granted in it.

use std::io::Read;
use std::process::ChildStdout;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::sandbox::Running;

/// Longest message: a picture of all the pixels that are allowed, and what base64 adds to it.
const MOST_BYTES: usize = 192 << 20;
/// Messages that wait to be read; a flood of them waits in the browser.
const WAITING: usize = 64;

/// Why a browser cannot be talked to any longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// It is gone.
    Gone,
    /// The page is gone, the browser is not.
    Crashed,
    /// It says what it should not.
    Nonsense,
}

/// The browser's end of a conversation.
pub(super) struct Pipe<'a> {
    running: &'a Running,
    messages: Receiver<Value>,
    last: u64,
}

impl<'a> Pipe<'a> {
    pub(super) fn new(running: &'a Running, output: ChildStdout) -> Self {
        let (say, messages) = mpsc::sync_channel(WAITING);
        std::thread::spawn(move || {
            let mut output = output;
            let mut split = Split::default();
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

    /// Says something; the number is what an answer will bear.
    pub(super) fn say(&mut self, session: Option<&str>, method: &str, parameters: Value) -> u64 {
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

    /// The next message; none when this moment has come first.
    pub(super) fn hear(&self, until: Option<Instant>) -> Result<Option<Value>, Broken> {
        let Some(until) = until else {
            // The watch ends the browser when its time is up, and the conversation with it.
            return self.messages.recv().map(Some).map_err(|_| Broken::Gone);
        };
        let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        match self.messages.recv_timeout(left) {
            Ok(message) => Ok(Some(message)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Broken::Gone),
        }
    }
}

/// Messages out of pieces.
#[derive(Default)]
struct Split {
    begun: Vec<u8>,
}

impl Split {
    /// The messages that this piece completes; none if it is not such a conversation.
    fn push(&mut self, piece: &[u8]) -> Option<Vec<Value>> {
        let mut whole = Vec::new();
        let mut parts = piece.split(|byte| *byte == 0).peekable();
        while let Some(part) = parts.next() {
            self.begun.extend_from_slice(part);
            if self.begun.len() > MOST_BYTES {
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
        let mut split = Split::default();
        assert_eq!(split.push(b"{\"id\""), Some(Vec::new()));
        assert_eq!(split.push(b":1}\0{\"id\":2}\0{"), Some(vec![json!({"id":1}), json!({"id":2})]));
        assert_eq!(split.push(b"}"), Some(Vec::new()));
        assert_eq!(split.push(b"\0"), Some(vec![json!({})]));
        assert_eq!(split.push(b"no JSON\0"), None);
    }

    #[test]
    fn a_message_without_end_is_none() {
        let mut split = Split::default();
        let piece = vec![b' '; MOST_BYTES];
        assert_eq!(split.push(&piece), Some(Vec::new()));
        assert_eq!(split.push(b" "), None);
    }
}
