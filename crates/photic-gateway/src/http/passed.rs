//! Requests that could hold pictures and are passed on unread.

use http::header::{CONTENT_LENGTH, HeaderName, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderMap, Method};

/// The reason for which a request was passed on unread, in replies.
pub(crate) const PASSED: HeaderName = HeaderName::from_static("x-photic-passed");

/// The reason for which a request was passed on unread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Passed {
    /// The client asked for it.
    Off,
    /// The path is not known.
    UnknownPath,
    /// The body is not a JSON object.
    UnreadableBody,
    /// The body has an unknown content encoding.
    UnknownEncoding,
    /// It opens a WebSocket whose frames are not read.
    WebSocket,
}

impl Passed {
    /// Returns its name in headers, metrics and logs.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::UnknownPath => "unknown_path",
            Self::UnreadableBody => "unreadable_body",
            Self::UnknownEncoding => "unknown_encoding",
            Self::WebSocket => "websocket",
        }
    }

    /// Returns the warning about it. A client that asked for it needs none.
    pub(crate) const fn warning(self) -> Option<&'static str> {
        match self {
            Self::Off => None,
            Self::UnknownPath => Some("the path is not that of a known API"),
            Self::UnreadableBody => Some("the body is not a JSON object"),
            Self::UnknownEncoding => Some("the content encoding is not known"),
            Self::WebSocket => Some("the WebSocket is not one of a known API"),
        }
    }
}

/// Returns `true` if a request on an unknown path could hold pictures.
pub(crate) fn could_hold_pictures(head: &Parts) -> bool {
    let has_body = has_body(&head.headers);
    matches!(head.method, Method::POST | Method::PUT | Method::PATCH)
        && has_body
        && !photic::wire::holds_no_conversation(head.uri.path())
}

fn has_body(headers: &HeaderMap) -> bool {
    let length = headers.get(CONTENT_LENGTH).map(|length| length != "0");
    length.unwrap_or_else(|| headers.contains_key(TRANSFER_ENCODING))
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    #[test]
    fn only_bodies_on_paths_that_may_hold_conversations_count() {
        let could = |method: &str, path: &str, headers: &[(&'static str, &'static str)]| {
            let mut request = Request::builder().method(method).uri(path);
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            could_hold_pictures(&request.body(()).unwrap().into_parts().0)
        };
        let body = [("content-length", "9")];
        assert!(could("POST", "/v1/completions", &body));
        assert!(could("POST", "/v1beta/interactions", &[("transfer-encoding", "chunked")]));
        assert!(!could("GET", "/v1/completions", &body));
        assert!(!could("POST", "/v1/completions", &[("content-length", "0")]));
        assert!(!could("POST", "/v1/completions", &[]));
        assert!(!could("POST", "/v1/embeddings", &body));
        let form = [("content-length", "9"), ("content-type", "application/x-www-form-urlencoded")];
        assert!(!could("POST", "/oauth/token", &form));
        // `curl -d` sends every body with this type.
        assert!(could("POST", "/api/generate", &form));
    }
}
