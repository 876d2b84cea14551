//! The sample wire over HTTP.

use crate::wire::{BaseVersion, FramingKind, Http};

pub(super) const HTTP: Http = Http {
    family: "sample",
    provider: "sample",
    key_header: ("x-sample-key", ""),
    telling_headers: &["x-sample-key"],
    header_prefixes: &["x-sample-"],
    signs_requests: false,
    required_headers: &[],
    request_id_header: "x-request-id",
    framing: FramingKind::JsonLines,
    stream_query: None,
    base: BaseVersion::None,
    unversioned: &["/sample/"],
    prefixes: &["/sample/"],
    count_tokens: None,
    answer_member: "turn",
    usage_member: Some("usage"),
};
