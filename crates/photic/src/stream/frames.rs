//! AWS event streams: frames of bytes with named events in them, both directions.
//!
//! A frame is its length, the length of its headers, a checksum of both, headers, payload, and a
//! checksum of everything before it. Checksums are written but not verified: the transport has its
//! own.

use super::MAX_EVENT_BYTES;

const PRELUDE: usize = 12;
const SUM: usize = 4;
/// The type of a header whose value is a string.
const STRING: u8 = 7;

/// Cuts a stream of bytes into events. Chunks may end anywhere.
#[derive(Debug, Default)]
pub(super) struct Frames {
    bytes: Vec<u8>,
    broken: bool,
}

impl Frames {
    /// Returns every event that these bytes complete, as an object with its name as the only
    /// member.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        if self.broken {
            return Vec::new();
        }
        self.bytes.extend_from_slice(bytes);
        let mut events = Vec::new();
        let mut at = 0;
        while let Some(length) = word(&self.bytes, at) {
            if !(PRELUDE + SUM..=MAX_EVENT_BYTES).contains(&length) {
                self.broken = true;
                break;
            }
            let Some(frame) = self.bytes.get(at..at + length) else { break };
            events.extend(event_of(frame));
            at += length;
        }
        if self.broken {
            self.bytes = Vec::new();
        } else {
            self.bytes.drain(..at);
        }
        events
    }

    /// Returns the number of bytes held of an incomplete event.
    pub(super) const fn held(&self) -> usize {
        self.bytes.len()
    }

    /// Returns `true` if the bytes are not frames, or a frame is longer than any provider sends.
    pub(super) const fn is_broken(&self) -> bool {
        self.broken
    }
}

fn word(bytes: &[u8], at: usize) -> Option<usize> {
    let word = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes(word.try_into().ok()?) as usize)
}

fn event_of(frame: &[u8]) -> Option<Vec<u8>> {
    let end = frame.len().checked_sub(SUM)?;
    let start = PRELUDE.checked_add(word(frame, 4)?)?;
    let payload = frame.get(start..end)?;
    let (mut name, mut exception) = (None, None);
    let mut headers = frame.get(PRELUDE..start)?;
    while let Some((header, value, rest)) = header(headers) {
        match header {
            b":event-type" => name = Some(value),
            b":exception-type" | b":error-code" => exception = Some(value),
            _ => {}
        }
        headers = rest;
    }
    let mut event = Vec::with_capacity(payload.len() + 32);
    event.extend_from_slice(b"{\"");
    if let Some(kind) = exception {
        // The kind is added to the payload, which is an object with a message.
        event.extend_from_slice(b"exception\":{\"type\":\"");
        event.extend_from_slice(kind);
        event.push(b'"');
        let inside = payload.trim_ascii().strip_prefix(b"{").filter(|rest| rest.len() > 1);
        event.extend_from_slice(if inside.is_some() { b"," } else { b"}" });
        event.extend_from_slice(inside.unwrap_or_default());
    } else {
        event.extend_from_slice(name?);
        event.extend_from_slice(b"\":");
        event.extend_from_slice(payload);
    }
    event.push(b'}');
    Some(event)
}

/// Returns the name and value of the first header, and the remaining headers. Only strings are
/// known.
fn header(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (&length, rest) = bytes.split_first()?;
    let (name, rest) = rest.split_at_checked(usize::from(length))?;
    let (&STRING, rest) = rest.split_first()? else { return None };
    let (length, rest) = rest.split_at_checked(2)?;
    let length = usize::from(u16::from_be_bytes(length.try_into().ok()?));
    let (value, rest) = rest.split_at_checked(length)?;
    Some((name, value, rest))
}

/// Writes an event.
pub(crate) fn frame(out: &mut Vec<u8>, name: &str, payload: &str) {
    let headers =
        [(":event-type", name), (":content-type", "application/json"), (":message-type", "event")];
    write(out, &headers, payload);
}

/// Writes an error.
pub(crate) fn exception(out: &mut Vec<u8>, name: &str, payload: &str) {
    let headers = [
        (":exception-type", name),
        (":content-type", "application/json"),
        (":message-type", "exception"),
    ];
    write(out, &headers, payload);
}

fn write(out: &mut Vec<u8>, headers: &[(&str, &str)], payload: &str) {
    let mut head = Vec::new();
    for (name, value) in headers {
        // Our own names are short.
        head.push(u8::try_from(name.len()).unwrap_or(0));
        head.extend_from_slice(name.as_bytes());
        head.push(STRING);
        head.extend_from_slice(&u16::try_from(value.len()).unwrap_or(0).to_be_bytes());
        head.extend_from_slice(value.as_bytes());
    }
    let start = out.len();
    let size = |length: usize| u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes();
    out.extend_from_slice(&size(PRELUDE + head.len() + payload.len() + SUM));
    out.extend_from_slice(&size(head.len()));
    let sum = crc32(&out[start..]);
    out.extend_from_slice(&sum.to_be_bytes());
    out.extend_from_slice(&head);
    out.extend_from_slice(payload.as_bytes());
    let sum = crc32(&out[start..]);
    out.extend_from_slice(&sum.to_be_bytes());
}

/// Computes the checksum of IEEE 802.3.
fn crc32(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for &byte in bytes {
        sum ^= u32::from(byte);
        for _ in 0..8 {
            sum = (sum >> 1) ^ (0xEDB8_8320 & (sum & 1).wrapping_neg());
        }
    }
    !sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_everybody() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn events_are_the_same_however_they_are_cut() {
        let mut stream = Vec::new();
        frame(&mut stream, "messageStart", "{\"role\":\"assistant\"}");
        exception(&mut stream, "throttlingException", "{\"message\":\"slow\"}");
        exception(&mut stream, "x", "");
        let whole = Frames::default().feed(&stream);
        assert_eq!(
            whole,
            [
                b"{\"messageStart\":{\"role\":\"assistant\"}}".as_slice(),
                b"{\"exception\":{\"type\":\"throttlingException\",\"message\":\"slow\"}}",
                b"{\"exception\":{\"type\":\"x\"}}",
            ]
        );
        for size in 1..stream.len() {
            let mut frames = Frames::default();
            let cut: Vec<Vec<u8>> =
                stream.chunks(size).flat_map(|chunk| frames.feed(chunk)).collect();
            assert_eq!(cut, whole, "in chunks of {size}");
            assert!(!frames.is_broken());
        }
    }

    #[test]
    fn what_is_no_frame_is_said_to_be_none() {
        let mut frames = Frames::default();
        assert!(frames.feed(b"data: {}\n\n").is_empty());
        assert!(frames.is_broken());
    }
}
