//! Messages over HTTP.

use serde_json::{Value as Json, json};

use crate::wire::{BaseVersion, ErrorKind, ErrorWords, FramingKind, Http};

pub(super) const HTTP: Http = Http {
    family: "anthropic",
    provider: "anthropic",
    key_header: ("x-api-key", ""),
    telling_headers: &["anthropic-version", "x-api-key"],
    header_prefixes: &["anthropic-"],
    signs_requests: false,
    required_headers: &[("anthropic-version", "2023-06-01")],
    request_id_header: "request-id",
    framing: FramingKind::ServerSent,
    stream_query: None,
    base: BaseVersion::Optional("/v1"),
    unversioned: &[],
    prefixes: &["/messages/"],
    count_tokens: Some("/messages/count_tokens"),
    answer_member: "content",
    usage_member: Some("usage"),
};

/// Returns the error type that clients of this wire branch on.
pub(super) const fn error_word(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Invalid | ErrorKind::MethodNotAllowed => "invalid_request_error",
        ErrorKind::TooLarge => "request_too_large",
        ErrorKind::SlowClient | ErrorKind::SlowProvider => "timeout_error",
        ErrorKind::Unauthenticated | ErrorKind::NoCredentials => "authentication_error",
        ErrorKind::Forbidden => "permission_error",
        ErrorKind::NotFound => "not_found_error",
        ErrorKind::RateLimited => "rate_limit_error",
        ErrorKind::Overloaded => "overloaded_error",
        ErrorKind::BadGateway
        | ErrorKind::Unavailable
        | ErrorKind::Unimplemented
        | ErrorKind::Internal => "api_error",
    }
}

pub(super) fn error_body(words: &ErrorWords<'_>) -> Json {
    let mut error = json!({"type": words.kind, "message": words.message});
    if let Some(detail) = words.detail {
        error["details"] = json!({"error_code": detail});
    }
    let mut body = json!({"type": "error", "error": error});
    if let Some(id) = words.request_id {
        body["request_id"] = json!(id);
    }
    body
}
