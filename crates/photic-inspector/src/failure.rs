//! Failures: one stable code each, a sentence, and what to do next.

use photic_store::{BlobError, Error};
use serde::Serialize;

/// The failure of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    #[serde(skip)]
    pub(crate) status: u16,
    code: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'static str>,
}

impl Failure {
    const fn new(status: u16, code: &'static str, message: String, next: &'static str) -> Self {
        Self { status, code, message, next: if next.is_empty() { None } else { Some(next) } }
    }

    /// A parameter or body that cannot be read.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "bad_request", message.into(), "")
    }

    /// A request without a valid token or cookie.
    pub(crate) fn token() -> Self {
        let message = "the request has no valid token".to_owned();
        Self::new(403, "token", message, "Open the address that photic printed.")
    }

    /// A request to a host name that is not this listener's.
    pub(crate) fn foreign_host() -> Self {
        let message = "this listener has another name".to_owned();
        Self::new(403, "foreign_host", message, "Open the address that photic printed.")
    }

    /// A request that another web page sent.
    pub(crate) fn foreign_origin() -> Self {
        let message = "requests of other web pages are refused".to_owned();
        Self::new(403, "foreign_origin", message, "Open the address that photic printed.")
    }

    /// A `POST` without the header that a form cannot set.
    pub(crate) fn missing_header() -> Self {
        let message = "a POST needs the header `x-photic-inspect: 1`".to_owned();
        Self::new(403, "missing_header", message, "Add the header.")
    }

    /// Something that does not exist.
    pub(crate) fn not_found(what: &str) -> Self {
        Self::new(404, "not_found", format!("{what} does not exist"), "")
    }

    /// An address that takes another method.
    pub(crate) fn method() -> Self {
        Self::new(405, "method", "this address takes another method".to_owned(), "")
    }

    /// A body that this version writes differently from the one that recorded it.
    pub(crate) fn not_reproduced(turn: u64) -> Self {
        let message = format!("this version of photic plans turn {turn} differently");
        Self::new(409, "not_reproduced", message, "Look at what the agent sent instead.")
    }

    /// A picture without bytes in the record.
    pub(crate) fn picture_gone() -> Self {
        let message = "the record no longer holds the bytes of this picture".to_owned();
        Self::new(410, "picture_gone", message, "Its size and hash are still known.")
    }

    /// More bytes than one view reads.
    pub(crate) fn too_large(bytes: u64) -> Self {
        let message = format!("the body has {bytes} bytes, more than this view reads");
        Self::new(413, "too_large", message, "Write it with `photic session export`.")
    }

    /// Bytes that are no picture which a browser gets.
    pub(crate) fn not_a_picture() -> Self {
        let message = "the bytes are no PNG, JPEG, WebP or GIF that can be decoded".to_owned();
        Self::new(415, "not_a_picture", message, "Its size and hash are still known.")
    }

    /// More streams of events than are served.
    pub(crate) fn too_many_listeners() -> Self {
        let message = "16 pages are listening already".to_owned();
        Self::new(429, "too_many_listeners", message, "Close another page of the inspector.")
    }

    /// A record that cannot be read now.
    pub(crate) fn away(message: String) -> Self {
        Self::new(503, "away", message, "Try again.")
    }

    /// Returns the stable code.
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// Returns the failure as the body of an answer.
    pub(crate) fn body(&self) -> Vec<u8> {
        serde_json::to_vec(&serde_json::json!({ "error": self })).unwrap_or_default()
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::NoSession(_) => Self::not_found("the session"),
            Error::NoTurn { number, .. } => Self::not_found(&format!("turn {number}")),
            Error::NotReproduced(turn) => Self::not_reproduced(turn),
            Error::Blob(BlobError::Absent(_) | BlobError::Damaged(_)) => Self::picture_gone(),
            other => Self::away(other.to_string()),
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}
