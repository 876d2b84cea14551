//! Parts of messages, control frames, and errors of a connection.

use std::io;

use bytes::Bytes;
use tungstenite::protocol::frame::coding::CloseCode;

/// The side of a connection. Clients mask what they send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The side that asked for the connection.
    Client,
    /// The side that accepted it.
    Server,
}

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8.
    Text,
    /// Any bytes.
    Binary,
}

/// A part of what arrives on a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// The next bytes of a message. Control frames may come between two parts.
    Data {
        /// The kind of the message.
        kind: Kind,
        /// The bytes, decompressed. The last part may have none.
        bytes: Bytes,
        /// Set if the message ends with it.
        is_last: bool,
    },
    /// A ping. It is not answered by the reader.
    Ping(Bytes),
    /// A pong.
    Pong(Bytes),
    /// The other side closes the connection.
    Close(Option<Close>),
}

/// The code and the reason with which a connection is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Close {
    /// The code.
    pub code: u16,
    /// The reason, for a reader.
    pub reason: String,
}

impl Close {
    /// Maximum bytes of a reason: a control frame has 125, of which the code takes two.
    const MAX_REASON: usize = 123;

    /// Creates a close. A long reason is cut.
    pub fn new(code: u16, reason: &str) -> Self {
        let mut end = reason.len().min(Self::MAX_REASON);
        while !reason.is_char_boundary(end) {
            end -= 1;
        }
        Self { code, reason: reason[..end].to_owned() }
    }

    /// Parses the payload of a close frame.
    pub(super) fn parse(payload: &[u8]) -> Result<Option<Self>, ReadError> {
        let Some((code, reason)) = payload.split_first_chunk::<2>() else {
            return if payload.is_empty() { Ok(None) } else { Err(ReadError::Protocol) };
        };
        let code = u16::from_be_bytes(*code);
        // The library does not know 1014 (bad gateway), which IANA has registered.
        if code != 1014 && !CloseCode::from(code).is_allowed() {
            return Err(ReadError::Protocol);
        }
        let reason = std::str::from_utf8(reason).map_err(|_| ReadError::BadText)?;
        Ok(Some(Self { code, reason: reason.to_owned() }))
    }

    /// Returns the payload of a close frame.
    pub(super) fn payload(&self) -> Vec<u8> {
        [&self.code.to_be_bytes()[..], self.reason.as_bytes()].concat()
    }
}

/// An error of a connection that is read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The connection failed.
    #[error("the connection failed")]
    Io(#[from] io::Error),
    /// The connection ended without a close frame.
    #[error("the connection ended without a close frame")]
    Ended,
    /// A frame breaks the protocol.
    #[error("a frame breaks the protocol")]
    Protocol,
    /// A text is not UTF-8.
    #[error("a text message is not UTF-8")]
    BadText,
    /// A message is larger than the limit.
    #[error("a message is larger than the limit of {} MiB", .limit >> 20)]
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
}

impl ReadError {
    /// Returns the code that tells the sender of its error, or `None` if it cannot be told.
    pub const fn close_code(&self) -> Option<u16> {
        match self {
            Self::Io(_) | Self::Ended => None,
            Self::Protocol => Some(1002),
            Self::BadText => Some(1007),
            Self::TooLarge { .. } => Some(1009),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_reason_is_cut_between_characters() {
        let close = Close::new(1009, &"ä".repeat(100));
        assert_eq!(close.reason.len(), 122);
        assert_eq!(Close::parse(&close.payload()).unwrap(), Some(close));
    }

    #[test]
    fn codes_that_no_frame_may_have_are_errors() {
        for code in [0_u16, 999, 1005, 1006, 1015, 5000] {
            let parsed = Close::parse(&code.to_be_bytes());
            assert!(matches!(parsed, Err(ReadError::Protocol)), "{code}");
        }
        assert!(matches!(Close::parse(&[3]), Err(ReadError::Protocol)));
        assert!(matches!(Close::parse(&[3, 232, 0xff]), Err(ReadError::BadText)));
        assert_eq!(Close::parse(&[]).unwrap(), None);
        for code in [1000_u16, 1003, 1007, 1012, 1014, 3000, 4999] {
            let parsed = Close::parse(&code.to_be_bytes()).unwrap();
            assert_eq!(parsed, Some(Close::new(code, "")));
        }
    }
}
