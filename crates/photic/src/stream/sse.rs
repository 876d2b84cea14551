//! Server-sent events and lines of JSON: lines in, data out; data in, lines out.

use crate::json::escape_into;

/// No event of a provider is longer; what is would only fill the memory.
const LONGEST: usize = 64 << 20;

/// Cuts a stream of bytes into the data of events, wherever the chunks end.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The line that is not yet complete.
    line: Vec<u8>,
    /// The data of the event that is not yet complete.
    data: Vec<u8>,
}

impl Lines {
    /// The data of every event that these bytes complete.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut events = Vec::new();
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            self.line.extend_from_slice(&rest[..end]);
            rest = &rest[end + 1..];
            let line = std::mem::take(&mut self.line);
            match line.strip_suffix(b"\r").unwrap_or(&line) {
                [] => self.complete(&mut events),
                line => self.field(line),
            }
        }
        self.line.extend_from_slice(rest);
        events
    }

    /// Whether more was gathered than any event holds.
    pub(super) const fn is_overfull(&self) -> bool {
        self.line.len() + self.data.len() > LONGEST
    }

    fn field(&mut self, line: &[u8]) {
        // Names of events repeat what the data says; ids and comments mean nothing here.
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
}

impl JsonLines {
    /// Every line that these bytes complete.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            self.line.extend_from_slice(&rest[..end]);
            rest = &rest[end + 1..];
            let line = std::mem::take(&mut self.line);
            if !line.trim_ascii().is_empty() {
                lines.push(line);
            }
        }
        self.line.extend_from_slice(rest);
        lines
    }

    /// Whether more was gathered than any line holds.
    pub(super) const fn is_overfull(&self) -> bool {
        self.line.len() > LONGEST
    }
}

/// Writes an event; wires that name their events say the name twice.
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

/// A JSON string.
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
