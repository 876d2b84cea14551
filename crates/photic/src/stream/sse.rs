//! Server-sent events, as far as these wires use them: lines of `data`, ended by an empty line.

/// The longest event that is waited for; a longer one is no event of these wires.
const LONGEST: usize = 64 << 20;

/// Gathers lines into events, wherever the bytes are cut.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The line that is not complete yet.
    line: Vec<u8>,
    /// The data of the event that is not complete yet.
    data: Vec<u8>,
}

impl Lines {
    /// Calls `event` with the data of every event that became complete.
    pub(super) fn push(&mut self, bytes: &[u8], event: &mut dyn FnMut(&[u8])) {
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, after) = (&rest[..end], &rest[end + 1..]);
            rest = after;
            if self.line.is_empty() {
                take(&mut self.data, line, event);
            } else {
                self.line.extend_from_slice(line);
                take(&mut self.data, &self.line, event);
                self.line.clear();
            }
        }
        if self.line.len() + rest.len() <= LONGEST {
            self.line.extend_from_slice(rest);
        }
    }
}

fn take(data: &mut Vec<u8>, line: &[u8], event: &mut dyn FnMut(&[u8])) {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.is_empty() {
        if !data.is_empty() {
            event(data);
            data.clear();
        }
    } else if let Some(value) = line.strip_prefix(b"data:") {
        let value = value.strip_prefix(b" ").unwrap_or(value);
        if data.len() + value.len() <= LONGEST {
            if !data.is_empty() {
                data.push(b'\n');
            }
            data.extend_from_slice(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_the_same_wherever_they_are_cut() {
        let text = b": hello\r\nevent: x\r\ndata: {\"a\":1}\r\n\r\ndata:two\ndata: lines\n\n\ndata: [DONE]\n\n";
        for size in 1..text.len() {
            let (mut lines, mut events) = (Lines::default(), Vec::new());
            for piece in text.chunks(size) {
                lines.push(piece, &mut |data| {
                    events.push(String::from_utf8_lossy(data).into_owned());
                });
            }
            assert_eq!(events, ["{\"a\":1}", "two\nlines", "[DONE]"], "cut by {size}");
        }
    }
}
