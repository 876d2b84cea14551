//! `Converse` over HTTP: the path names the model and the streaming mode, and requests are signed.

use std::borrow::Cow;

use serde_json::{Value as Json, json};

use crate::wire::http::unescaped;
use crate::wire::{BaseVersion, ErrorKind, ErrorWords, FramingKind, Http, PathParams};

pub(super) const HTTP: Http = Http {
    family: "amazon",
    provider: "aws.bedrock",
    key_header: ("authorization", "Bearer "),
    telling_headers: &[],
    header_prefixes: &["x-amz-", "amz-"],
    signs_requests: true,
    required_headers: &[],
    request_id_header: "x-amzn-requestid",
    framing: FramingKind::AmazonFrames,
    stream_query: None,
    base: BaseVersion::None,
    unversioned: &["/model/"],
    prefixes: &["/model/"],
    count_tokens: None,
    answer_member: "output",
    usage_member: Some("usage"),
};

pub(super) fn path(params: &PathParams) -> (Cow<'static, str>, Option<&'static str>) {
    let verb = if params.stream { "converse-stream" } else { "converse" };
    (format!("/model/{}/{verb}", params.segment()).into(), None)
}

/// Reads `/model/NAME/converse`.
pub(super) fn parse_path(path: &str) -> Option<PathParams> {
    let (model, verb) = path.strip_prefix("/model/")?.rsplit_once('/')?;
    let stream = match verb {
        "converse" => false,
        "converse-stream" => true,
        _ => return None,
    };
    Some(PathParams { model: Some(unescaped(model)), stream })
}

/// Returns the name of the service's exception.
pub(super) const fn error_word(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Invalid | ErrorKind::TooLarge | ErrorKind::MethodNotAllowed => {
            "ValidationException"
        }
        ErrorKind::SlowClient | ErrorKind::SlowProvider => "ModelTimeoutException",
        ErrorKind::Unauthenticated | ErrorKind::NoCredentials | ErrorKind::Forbidden => {
            "AccessDeniedException"
        }
        ErrorKind::NotFound => "ResourceNotFoundException",
        ErrorKind::RateLimited => "ThrottlingException",
        ErrorKind::BadGateway | ErrorKind::Unavailable | ErrorKind::Overloaded => {
            "ServiceUnavailableException"
        }
        ErrorKind::Unimplemented | ErrorKind::Internal => "InternalServerException",
    }
}

pub(super) fn error_body(words: &ErrorWords<'_>) -> Json {
    json!({"message": words.message})
}
