//! Reads and writes server-sent events, and reads lines of JSON.

use super::MAX_EVENT_BYTES;
use crate::json::escape_into;

/// Cuts a stream of bytes into the data of events. Chunks may end anywhere.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The line that is not yet complete.
    line: Vec<u8>,
    /// The data of the event that is not yet complete.
    data: Vec<u8>,
    /// `true` if an event was longer than the limit. Nothing is read from then on.
    overfull: bool,
}

impl Lines {
    /// Returns the data of every event that these bytes complete.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut events = Vec::new();
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            if !self.takes(end) {
                return events;
            }
            self.line.extend_from_slice(&rest[..end]);
            rest = &rest[end + 1..];
            let line = std::mem::take(&mut self.line);
            match line.strip_suffix(b"\r").unwrap_or(&line) {
                [] => self.complete(&mut events),
                line => self.field(line),
            }
        }
        if self.takes(rest.len()) {
            self.line.extend_from_slice(rest);
        }
        events
    }

    /// Returns `true` if an event was longer than the limit.
    pub(super) const fn is_overfull(&self) -> bool {
        self.overfull
    }

    /// Returns the number of bytes held of an incomplete event.
    pub(super) const fn held(&self) -> usize {
        self.line.len() + self.data.len()
    }

    /// Returns `true` if an event may grow by so many bytes. An event that gets too long is
    /// dropped.
    fn takes(&mut self, more: usize) -> bool {
        if self.held() + more > MAX_EVENT_BYTES {
            *self = Self { overfull: true, ..Self::default() };
        }
        !self.overfull
    }

    fn field(&mut self, line: &[u8]) {
        // The names of events repeat their data; ids and comments have no meaning here.
        if let Some(value) = line.strip_prefix(b"data:") {
            if !self.data.is_empty() {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(value.strip_prefix(b" ").unwrap_or(value));
        }
    }

    fn complete(&mut self, events: &mut Vec<Vec<u8>>) {
        if !self.data.is_empty() {
            events.push(std::mem::take(&mut self.data));
        }
    }
}

/// Cuts a stream of bytes into lines, each of them JSON.
#[derive(Debug, Default)]
pub(super) struct JsonLines {
    line: Vec<u8>,
    /// `true` if a line was longer than the limit. Nothing is read from then on.
    overfull: bool,
}

impl JsonLines {
    /// Returns every line that these bytes complete.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            if !self.takes(end) {
                return lines;
            }
            self.line.extend_from_slice(&rest[..end]);
            rest = &rest[end + 1..];
            let line = std::mem::take(&mut self.line);
            if !line.trim_ascii().is_empty() {
                lines.push(line);
            }
        }
        if self.takes(rest.len()) {
            self.line.extend_from_slice(rest);
        }
        lines
    }

    /// Returns `true` if a line was longer than the limit.
    pub(super) const fn is_overfull(&self) -> bool {
        self.overfull
    }

    /// Returns the number of bytes held of an incomplete line.
    pub(super) const fn held(&self) -> usize {
        self.line.len()
    }

    fn takes(&mut self, more: usize) -> bool {
        if self.line.len() + more > MAX_EVENT_BYTES {
            *self = Self { overfull: true, ..Self::default() };
        }
        !self.overfull
    }
}

/// Writes an event. Wires that name their events also have the name in the data.
pub(crate) fn event(out: &mut Vec<u8>, name: Option<&str>, data: &str) {
    if let Some(name) = name {
        out.extend_from_slice(b"event: ");
        out.extend_from_slice(name.as_bytes());
        out.push(b'\n');
    }
    out.extend_from_slice(b"data: ");
    out.extend_from_slice(data.as_bytes());
    out.extend_from_slice(b"\n\n");
}

/// Returns a text as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    let mut json = Vec::with_capacity(text.len() + 2);
    json.push(b'"');
    escape_into(text.as_bytes(), &mut json);
    json.push(b'"');
    String::from_utf8_lossy(&json).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_without_an_end_is_let_go_of() {
        let piece = vec![b'x'; 1 << 20];
        let (mut lines, mut json) = (Lines::default(), JsonLines::default());
        let mut event = Lines::default();
        for _ in 0..=MAX_EVENT_BYTES / piece.len() {
            assert!(lines.feed(&piece).is_empty() && json.feed(&piece).is_empty());
            assert!(event.feed(&[b"data: ", piece.as_slice(), b"\n"].concat()).is_empty());
        }
        assert!(lines.is_overfull() && json.is_overfull() && event.is_overfull());
        assert_eq!((lines.held(), json.held(), event.held()), (0, 0, 0));
        assert!(lines.feed(b"\ndata: {}\n\n").is_empty(), "nothing follows");
    }

    #[test]
    fn events_are_the_same_however_they_are_cut() {
        let stream = b": hello\n\nevent: a\ndata: {\"x\":1}\n\ndata:two\ndata: lines\r\n\r\ndata: [DONE]\n\n";
        let whole = Lines::default().feed(stream);
        assert_eq!(whole, [b"{\"x\":1}".as_slice(), b"two\nlines", b"[DONE]"]);
        for size in 1..stream.len() {
            let mut lines = Lines::default();
            let cut: Vec<Vec<u8>> =
                stream.chunks(size).flat_map(|chunk| lines.feed(chunk)).collect();
            assert_eq!(cut, whole, "in chunks of {size}");
        }
    }
}
