//! `/api/chat` over HTTP: no keys, one JSON document per line.

use serde_json::{Value as Json, json};

use crate::wire::{BaseVersion, ErrorKind, ErrorWords, FramingKind, Http};

pub(super) const HTTP: Http = Http {
    family: "ollama",
    provider: "ollama",
    key_header: ("authorization", "Bearer "),
    telling_headers: &[],
    header_prefixes: &[],
    signs_requests: false,
    required_headers: &[],
    request_id_header: "x-request-id",
    framing: FramingKind::JsonLines,
    stream_query: None,
    base: BaseVersion::Optional("/api"),
    unversioned: &["/api/"],
    prefixes: &["/api/"],
    count_tokens: None,
    answer_member: "message",
    usage_member: None,
};

/// Errors have no kind on this wire.
pub(super) const fn error_word(_kind: ErrorKind) -> &'static str {
    ""
}

pub(super) fn error_body(words: &ErrorWords<'_>) -> Json {
    json!({"error": words.message})
}
