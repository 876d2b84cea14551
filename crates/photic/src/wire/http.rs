//! The HTTP interface of a wire: paths, headers, errors. Builds and parses strings; does no I/O.

use std::borrow::Cow;

use serde_json::Value as Json;

use super::Wire;
use crate::profile::capability::Question;

/// Constants of a wire's HTTP interface.
#[derive(Debug)]
pub struct Http {
    /// The name of the providers that share base address and key.
    pub family: &'static str,
    /// The provider's name in OpenTelemetry's `gen_ai.provider.name`.
    pub provider: &'static str,
    /// The header that holds the key, and the prefix before the key.
    pub key_header: (&'static str, &'static str),
    /// Headers that only clients of this wire send.
    pub telling_headers: &'static [&'static str],
    /// Prefixes of header names that have no meaning for other providers.
    pub header_prefixes: &'static [&'static str],
    /// `true` if those headers hold a signature of the body, which is invalid once the body
    /// changes.
    pub signs_requests: bool,
    /// Headers without which a request is rejected, with their values.
    pub required_headers: &'static [(&'static str, &'static str)],
    /// The header in which a reply gives the id of its request.
    pub request_id_header: &'static str,
    /// The framing of streams.
    pub framing: FramingKind,
    /// Chunks of a stream are elements of one JSON array unless this query asks for events.
    pub stream_query: Option<&'static str>,
    /// The version that a base address ends in.
    pub base: BaseVersion,
    /// Paths below these belong to the wire and have no version before them.
    pub unversioned: &'static [&'static str],
    /// Paths below these, without their version, belong to no other wire.
    pub prefixes: &'static [&'static str],
    /// The path that counts the tokens of a request without answering it.
    pub count_tokens: Option<&'static str>,
    /// The member of a reply that holds the answer; without it, the reply is an error.
    pub answer_member: &'static str,
    /// The member of a reply that holds its token counts; `None` if they are spread over the reply.
    pub usage_member: Option<&'static str>,
}

/// The way the events of a stream are separated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FramingKind {
    /// Server-sent events.
    ServerSent,
    /// A JSON document a line.
    JsonLines,
    /// Amazon's binary event stream.
    AmazonFrames,
}

impl FramingKind {
    /// Every framing.
    pub const ALL: [Self; 3] = [Self::ServerSent, Self::JsonLines, Self::AmazonFrames];

    /// Returns its media type.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::ServerSent => "text/event-stream",
            Self::JsonLines => "application/x-ndjson",
            Self::AmazonFrames => "application/vnd.amazon.eventstream",
        }
    }
}

/// The version at the end of the base address that SDKs take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaseVersion {
    /// The base address ends in a version, usually in this one.
    Part(&'static str),
    /// The base address may end in this version.
    Optional(&'static str),
    /// The base address has no version.
    None,
}

/// The parameters in the path of a request. On some wires the path names the model and the
/// streaming mode.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathParams {
    /// The model, if the path names it.
    pub model: Option<String>,
    /// `true` if the reply is to be streamed.
    pub stream: bool,
}

impl PathParams {
    /// Returns the model as one segment of a path.
    pub(super) fn segment(&self) -> String {
        let model = self.model.as_deref().unwrap_or_default();
        escaped(model.strip_prefix("models/").unwrap_or(model))
    }
}

/// A kind of error that every provider distinguishes, under its own name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request is wrong.
    Invalid,
    /// The method is not one that the path takes.
    MethodNotAllowed,
    /// The request is too large.
    TooLarge,
    /// The client took too long to send it.
    SlowClient,
    /// The provider took too long to answer.
    SlowProvider,
    /// There is no valid key, and the client should send one.
    Unauthenticated,
    /// There is no valid key, and the operator should set one.
    NoCredentials,
    /// The key does not allow it.
    Forbidden,
    /// The requested resource does not exist.
    NotFound,
    /// The client sends too much at once.
    RateLimited,
    /// The provider cannot be reached, or closed the connection.
    BadGateway,
    /// A service that the answer needs cannot be reached at the moment.
    Unavailable,
    /// The server is overloaded.
    Overloaded,
    /// The server does not have this feature.
    Unimplemented,
    /// The server failed.
    Internal,
}

/// An error with the provider's own names.
#[derive(Clone, Debug)]
pub struct ErrorWords<'e> {
    /// The status of the reply.
    pub status: u16,
    /// The provider's name for the kind of error.
    pub kind: &'e str,
    /// The provider's code for it, on wires that have one.
    pub code: Option<&'e str>,
    /// The parameter that is wrong, on wires that name it.
    pub param: Option<&'e str>,
    /// A message for people.
    pub message: &'e str,
    /// A more exact code, on wires that have one.
    pub detail: Option<&'e str>,
    /// The id of the request, on wires that repeat it in the body.
    pub request_id: Option<&'e str>,
}

impl<'e> ErrorWords<'e> {
    /// Creates an error of that kind, with only a message.
    pub const fn new(status: u16, kind: &'e str, message: &'e str) -> Self {
        Self { status, kind, code: None, param: None, message, detail: None, request_id: None }
    }
}

impl Wire {
    /// Returns the constants of its HTTP interface.
    pub fn http(self) -> &'static Http {
        self.protocol().http()
    }

    /// Returns the address to which conversations with a model are posted. `base` is the base
    /// address that SDKs of the wire take, with or without its version if that is optional.
    pub fn address(self, base: &str, model: &str) -> String {
        let base = base.trim_end_matches('/');
        let params = PathParams { model: Some(model.to_owned()), stream: false };
        let (path, _) = self.protocol().path(&params);
        match self.http().base {
            BaseVersion::Part(version) => {
                format!("{base}{}", path.strip_prefix(version).unwrap_or(&path))
            }
            BaseVersion::Optional(version) => {
                format!("{}{path}", base.strip_suffix(version).unwrap_or(base))
            }
            BaseVersion::None => format!("{base}{path}"),
        }
    }

    /// Returns the header that holds a key, and the prefix before the key.
    pub fn key_header(self) -> (&'static str, &'static str) {
        self.http().key_header
    }

    /// Returns the path of a request, below the provider's host, and its query.
    pub fn path(self, params: &PathParams) -> (Cow<'static, str>, Option<&'static str>) {
        self.protocol().path(params)
    }

    /// Reads the path of a request, without version and trailing slash. Returns `None` if no
    /// conversation is posted there.
    ///
    /// ```
    /// use photic::Wire;
    ///
    /// let params = Wire::Gemini.parse_path("/v1beta/models/gemini-3:streamGenerateContent").unwrap();
    /// assert_eq!(params.model.as_deref(), Some("gemini-3"));
    /// assert!(params.stream);
    /// assert_eq!(Wire::Anthropic.parse_path("/chat/completions"), None);
    /// ```
    pub fn parse_path(self, path: &str) -> Option<PathParams> {
        self.protocol().parse_path(path)
    }

    /// Returns the wire's name for a kind of error.
    pub fn error_word(self, kind: ErrorKind) -> &'static str {
        self.protocol().error_word(kind)
    }

    /// Returns the body of an error.
    pub fn error_body(self, error: &ErrorWords<'_>) -> Json {
        self.protocol().error_body(error)
    }

    /// Returns the documents on the server that describe a model; see
    /// [`crate::profile::questions`].
    pub(crate) fn model_documents(self, base: &str, root: &str, model: &str) -> Vec<Question> {
        self.protocol().model_documents(base, root, model)
    }
}

/// Percent-encodes a name as one segment of a path. Some names have colons, and those of inference
/// profiles have slashes.
pub fn escaped(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let one = |byte: u8| if plain(byte) { char::from(byte).into() } else { format!("%{byte:02X}") };
    name.bytes().map(one).collect()
}

/// Decodes a segment of a path.
pub(super) fn unescaped(segment: &str) -> String {
    let mut name = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let hex = after.get(..2).filter(|_| byte == b'%');
        let hex = hex.and_then(|hex| std::str::from_utf8(hex).ok());
        let code = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        name.push(code.unwrap_or(byte));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&name).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for (wire, base, address) in [
            (Wire::OpenAiChat, "http://h/v1/", "http://h/v1/chat/completions"),
            (Wire::OpenAiChat, "http://h", "http://h/chat/completions"),
            (Wire::OpenAiResponses, "http://h/v1", "http://h/v1/responses"),
            (Wire::Anthropic, "http://h", "http://h/v1/messages"),
            (Wire::Anthropic, "http://h/v1", "http://h/v1/messages"),
            (Wire::Gemini, "http://h", "http://h/v1beta/models/a.b-v1%3A0:generateContent"),
            (Wire::Gemini, "http://h/v1beta", "http://h/v1beta/models/a.b-v1%3A0:generateContent"),
            (Wire::BedrockConverse, "http://h", "http://h/model/a.b-v1%3A0/converse"),
            (Wire::Ollama, "http://h:1", "http://h:1/api/chat"),
            (Wire::Ollama, "http://h:1/api", "http://h:1/api/chat"),
        ] {
            assert_eq!(wire.address(base, "a.b-v1:0"), address);
        }
        assert_eq!(escaped("arn:x/ä"), "arn%3Ax%2F%C3%A4");
        assert_eq!(unescaped("arn%3Ax%2F%C3%A4%"), "arn:x/ä%");
        assert_eq!(unescaped("%zz%4"), "%zz%4");
    }
}
