//! `generateContent` over HTTP: the path names the model and the streaming mode.

use std::borrow::Cow;

use serde_json::{Value as Json, json};

use crate::wire::http::unescaped;
use crate::wire::{BaseVersion, ErrorKind, ErrorWords, FramingKind, Http, PathParams};

pub(super) const HTTP: Http = Http {
    family: "google",
    provider: "gcp.gemini",
    key_header: ("x-goog-api-key", ""),
    telling_headers: &["x-goog-api-key"],
    header_prefixes: &["x-goog-"],
    signs_requests: false,
    required_headers: &[],
    request_id_header: "x-request-id",
    framing: FramingKind::ServerSent,
    stream_query: Some("alt=sse"),
    base: BaseVersion::Optional("/v1beta"),
    unversioned: &["/v1beta/", "/v1alpha/", "/upload/v1beta/", "/upload/v1alpha/"],
    prefixes: &["/v1beta/", "/v1alpha/", "/upload/v1beta/", "/upload/v1alpha/"],
    count_tokens: None,
    answer_member: "candidates",
    usage_member: Some("usageMetadata"),
};

pub(super) fn path(params: &PathParams) -> (Cow<'static, str>, Option<&'static str>) {
    let model = params.segment();
    if params.stream {
        let path = format!("/v1beta/models/{model}:streamGenerateContent");
        return (path.into(), HTTP.stream_query);
    }
    (format!("/v1beta/models/{model}:generateContent").into(), None)
}

/// Reads `…/models/NAME:generateContent`, with any path before it.
pub(super) fn parse_path(path: &str) -> Option<PathParams> {
    let (rest, verb) = path.rsplit_once(':')?;
    let stream = match verb {
        "generateContent" => false,
        "streamGenerateContent" => true,
        _ => return None,
    };
    let (_, model) = rest.rsplit_once("/models/")?;
    Some(PathParams { model: Some(unescaped(model)), stream })
}

pub(super) const fn error_word(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Invalid | ErrorKind::TooLarge => "INVALID_ARGUMENT",
        ErrorKind::SlowClient | ErrorKind::SlowProvider => "DEADLINE_EXCEEDED",
        ErrorKind::Unauthenticated | ErrorKind::NoCredentials => "UNAUTHENTICATED",
        ErrorKind::Forbidden => "PERMISSION_DENIED",
        ErrorKind::NotFound => "NOT_FOUND",
        ErrorKind::RateLimited => "RESOURCE_EXHAUSTED",
        ErrorKind::BadGateway | ErrorKind::Unavailable | ErrorKind::Overloaded => "UNAVAILABLE",
        ErrorKind::Unimplemented | ErrorKind::MethodNotAllowed => "UNIMPLEMENTED",
        ErrorKind::Internal => "INTERNAL",
    }
}

pub(super) fn error_body(words: &ErrorWords<'_>) -> Json {
    json!({"error": {"code": words.status, "message": words.message, "status": words.kind}})
}
