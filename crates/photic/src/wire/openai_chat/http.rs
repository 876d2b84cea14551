//! Chat Completions over HTTP.

use crate::wire::{BaseVersion, FramingKind, Http};

pub(super) const HTTP: Http = Http {
    family: "openai",
    provider: "openai",
    key_header: ("authorization", "Bearer "),
    telling_headers: &[],
    header_prefixes: &["openai-"],
    signs_requests: false,
    required_headers: &[],
    request_id_header: "x-request-id",
    framing: FramingKind::ServerSent,
    stream_query: None,
    base: BaseVersion::Part("/v1"),
    unversioned: &[],
    prefixes: &[],
    count_tokens: None,
    answer_member: "choices",
    usage_member: Some("usage"),
};
