//! Decides from the headers of a request whether its body is repaired.

use http::header::{AUTHORIZATION, CONTENT_LENGTH};
use http::{HeaderMap, HeaderName};
use photic::Policy;
use photic::retention::Retention;
use photic::wire::{TurnPath, holds_no_conversation, is_body_signed};
use photic_encoding::{Coding, codings};

use crate::messages;

/// Passes a request through unchanged.
const OFF: HeaderName = HeaderName::from_static("x-photic-off");
/// The hash that a signature of AWS covers, or a word in its place.
const PAYLOAD_HASH: HeaderName = HeaderName::from_static("x-amz-content-sha256");
/// Names the retention policy of one request.
const POLICY: HeaderName = HeaderName::from_static("x-photic-policy");

/// The headers of a request that are for photic. They are not sent to the provider.
pub(crate) const OWN_HEADERS: [&str; 2] = ["x-photic-off", "x-photic-policy"];

/// The reason for which a request is passed on unread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passed {
    /// The client asked for it.
    Off,
    /// The path is not known.
    UnknownPath,
    /// The body is not a JSON object, or not in its encoding.
    UnreadableBody,
    /// The body has an unknown content encoding, or one that cannot be removed in this mode.
    UnknownEncoding,
    /// The client signed the body, so that a changed one would be rejected.
    Signed,
    /// The policy that the client named does not exist.
    UnknownPolicy,
    /// The body is too large.
    TooLarge,
    /// There was no memory for the body.
    NoMemory,
    /// Envoy sent only a part of the body.
    Incomplete,
    /// Envoy did not send the body.
    NotSent,
    /// A repair failed. That is a mistake of ours.
    Failed,
}

impl Passed {
    /// Returns its name in headers.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::UnknownPath => "unknown_path",
            Self::UnreadableBody => "unreadable_body",
            Self::UnknownEncoding => "unknown_encoding",
            Self::Signed => "signed",
            Self::UnknownPolicy => "unknown_policy",
            Self::TooLarge => "too_large",
            Self::NoMemory => "no_memory",
            Self::Incomplete => "incomplete",
            Self::NotSent => "not_sent",
            Self::Failed => "failed",
        }
    }
}

/// A request whose body is to be repaired.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) turn: TurnPath,
    /// The host whose profile applies.
    pub(crate) host: Option<String>,
    pub(crate) codings: Vec<Coding>,
    pub(crate) policy: Policy,
    /// The length that the headers name.
    pub(crate) length: Option<usize>,
}

/// The decision about a request.
#[derive(Clone, Debug)]
pub(crate) enum Decision {
    /// Its body is repaired.
    Repair(Box<Target>),
    /// Its body is not read. A reason is given if it could hold pictures.
    Pass(Option<Passed>),
}

impl Decision {
    /// Decides about a request. `host` is that of the route, if its configuration names one.
    pub(crate) fn of(head: &messages::HttpHeaders, host: Option<&str>, policy: &Policy) -> Self {
        let headers = Head::read(head);
        if headers.method != "POST" || head.end_of_stream {
            let may_hold =
                matches!(headers.method.as_str(), "PUT" | "PATCH") && !head.end_of_stream;
            let is_unknown = may_hold && !holds_no_conversation(headers.path());
            return Self::Pass(is_unknown.then_some(Passed::UnknownPath));
        }
        let is_off = headers.of(&OFF).is_some_and(|value| !matches!(value, "" | "0" | "false"));
        let Some(turn) = TurnPath::read(&headers.target) else {
            let is_unknown = !holds_no_conversation(headers.path());
            return Self::Pass(is_unknown.then_some(Passed::UnknownPath));
        };
        if is_off {
            return Self::Pass(Some(Passed::Off));
        }
        if headers.is_body_signed() {
            return Self::Pass(Some(Passed::Signed));
        }
        let mut policy = policy.clone();
        if let Some(name) = headers.of(&POLICY) {
            let Some(retention) = Retention::from_name(name.trim()) else {
                return Self::Pass(Some(Passed::UnknownPolicy));
            };
            policy.retention = retention;
        }
        let Some(codings) = codings(&headers.fields) else {
            return Self::Pass(Some(Passed::UnknownEncoding));
        };
        let host = turn.profile_host.or(host).unwrap_or(&headers.authority);
        let host = (!host.is_empty()).then(|| host.to_owned());
        let length = headers.of(&CONTENT_LENGTH).and_then(|length| length.parse().ok());
        Self::Repair(Box::new(Target { turn, host, codings, policy, length }))
    }
}

/// The headers of a request.
struct Head {
    method: String,
    /// The path with its query.
    target: String,
    authority: String,
    fields: HeaderMap,
}

impl Head {
    fn read(head: &messages::HttpHeaders) -> Self {
        let mut this = Self {
            method: String::new(),
            target: String::new(),
            authority: String::new(),
            fields: HeaderMap::new(),
        };
        for header in head.headers.iter().flat_map(|map| &map.headers) {
            let value = if header.raw_value.is_empty() {
                header.value.as_bytes()
            } else {
                &header.raw_value[..]
            };
            let text = || String::from_utf8_lossy(value).into_owned();
            match header.key.as_str() {
                ":method" => this.method = text(),
                ":path" => this.target = text(),
                ":authority" => this.authority = text(),
                key => {
                    let name = HeaderName::from_bytes(key.as_bytes());
                    let value = http::HeaderValue::from_bytes(value);
                    if let (Ok(name), Ok(value)) = (name, value) {
                        this.fields.append(name, value);
                    }
                }
            }
        }
        this
    }

    fn of(&self, name: &HeaderName) -> Option<&str> {
        self.fields.get(name)?.to_str().ok()
    }

    fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// Returns `true` if a changed body would break the signature of AWS that the request carries.
    fn is_body_signed(&self) -> bool {
        let authorization = self.of(&AUTHORIZATION).unwrap_or_default();
        is_body_signed(authorization, self.of(&PAYLOAD_HASH))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{HeaderMap, HeaderValue, HttpHeaders};

    fn decision(headers: &[(&str, &str)]) -> Decision {
        let headers = headers.iter().map(|(key, value)| HeaderValue {
            key: (*key).to_owned(),
            raw_value: bytes::Bytes::copy_from_slice(value.as_bytes()),
            ..HeaderValue::default()
        });
        let headers = Some(HeaderMap { headers: headers.collect() });
        let head = HttpHeaders { headers, end_of_stream: false };
        Decision::of(&head, None, &Policy::default())
    }

    fn target(headers: &[(&str, &str)]) -> Target {
        match decision(headers) {
            Decision::Repair(target) => *target,
            Decision::Pass(passed) => panic!("passed: {passed:?}"),
        }
    }

    fn passed(headers: &[(&str, &str)]) -> Option<Passed> {
        match decision(headers) {
            Decision::Repair(target) => panic!("repaired: {target:?}"),
            Decision::Pass(passed) => passed,
        }
    }

    const POST: (&str, &str) = (":method", "POST");

    #[test]
    fn the_path_decides_about_the_wire() {
        let chat = target(&[POST, (":path", "/v1/chat/completions"), (":authority", "h")]);
        assert_eq!((chat.turn.wire, chat.host.as_deref()), (photic::Wire::OpenAiChat, Some("h")));
        let invoke =
            target(&[POST, (":path", "/model/a.b-v1%3A0/invoke"), ("content-length", "9")]);
        assert_eq!(invoke.turn.params.model.as_deref(), Some("a.b-v1:0"));
        assert_eq!((invoke.turn.wire, invoke.length), (photic::Wire::Anthropic, Some(9)));
        assert_eq!(passed(&[POST, (":path", "/v1/embeddings")]), None);
        assert_eq!(passed(&[POST, (":path", "/v2/talk")]), Some(Passed::UnknownPath));
        assert_eq!(passed(&[(":method", "GET"), (":path", "/v1/chat/completions")]), None);
    }

    #[test]
    fn headers_that_keep_a_body_from_being_changed() {
        let path = (":path", "/v1/messages");
        let with = |key, value| passed(&[POST, path, (key, value)]);
        assert_eq!(with("x-photic-off", "1"), Some(Passed::Off));
        assert_eq!(with("x-photic-policy", "none"), Some(Passed::UnknownPolicy));
        assert_eq!(with("content-encoding", "lzma"), Some(Passed::UnknownEncoding));
        let signed = ("authorization", "AWS4-HMAC-SHA256 Credential=x");
        assert_eq!(passed(&[POST, path, signed]), Some(Passed::Signed));
        let unsigned = ("x-amz-content-sha256", "UNSIGNED-PAYLOAD");
        assert_eq!(target(&[POST, path, signed, unsigned]).codings, []);
        let length =
            ("authorization", "AWS4-HMAC-SHA256 SignedHeaders=content-length;host, Signature=x");
        assert_eq!(passed(&[POST, path, length, unsigned]), Some(Passed::Signed));
        assert_eq!(target(&[POST, path, ("content-encoding", "gzip")]).codings, [Coding::Gzip]);
    }
}
