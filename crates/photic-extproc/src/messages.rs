//! The messages of `envoy.service.ext_proc.v3`, as far as they are used. Fields that are not listed
//! are skipped when a message is read.
//!
//! Kept by hand: what Envoy publishes is forty thousand lines when generated, and this is a page. The
//! suite `tests/e2e/suites/76-extproc` compares every number with Envoy's own descriptors.

use bytes::Bytes;

/// A message of Envoy.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ProcessingRequest {
    #[prost(oneof = "Received", tags = "2, 3, 4, 5, 6, 7")]
    pub(crate) request: Option<Received>,
    #[prost(bool, tag = "10")]
    pub(crate) observability_mode: bool,
    #[prost(message, optional, tag = "11")]
    pub(crate) protocol_config: Option<ProtocolConfiguration>,
}

/// A part of an HTTP request or reply.
#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum Received {
    #[prost(message, tag = "2")]
    RequestHeaders(HttpHeaders),
    #[prost(message, tag = "3")]
    ResponseHeaders(HttpHeaders),
    #[prost(message, tag = "4")]
    RequestBody(HttpBody),
    #[prost(message, tag = "5")]
    ResponseBody(HttpBody),
    #[prost(message, tag = "6")]
    RequestTrailers(HttpTrailers),
    #[prost(message, tag = "7")]
    ResponseTrailers(HttpTrailers),
}

/// The configuration of the filter, in the first message of a stream.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct ProtocolConfiguration {
    #[prost(enumeration = "BodySendMode", tag = "1")]
    pub(crate) request_body_mode: i32,
    #[prost(enumeration = "BodySendMode", tag = "2")]
    pub(crate) response_body_mode: i32,
}

/// The way in which bodies are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub(crate) enum BodySendMode {
    None = 0,
    Streamed = 1,
    Buffered = 2,
    BufferedPartial = 3,
    FullDuplexStreamed = 4,
}

/// The way in which headers and trailers are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub(crate) enum HeaderSendMode {
    Default = 0,
    Send = 1,
    Skip = 2,
}

/// The parts of one HTTP request and its reply that are sent.
#[expect(clippy::struct_field_names, reason = "the names are Envoy's")]
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct ProcessingMode {
    #[prost(enumeration = "HeaderSendMode", tag = "2")]
    pub(crate) response_header_mode: i32,
    #[prost(enumeration = "BodySendMode", tag = "3")]
    pub(crate) request_body_mode: i32,
    #[prost(enumeration = "BodySendMode", tag = "4")]
    pub(crate) response_body_mode: i32,
    #[prost(enumeration = "HeaderSendMode", tag = "5")]
    pub(crate) request_trailer_mode: i32,
    #[prost(enumeration = "HeaderSendMode", tag = "6")]
    pub(crate) response_trailer_mode: i32,
}

/// Headers of a request or a reply.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct HttpHeaders {
    #[prost(message, optional, tag = "1")]
    pub(crate) headers: Option<HeaderMap>,
    #[prost(bool, tag = "3")]
    pub(crate) end_of_stream: bool,
}

/// A body, or a chunk of one.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct HttpBody {
    #[prost(bytes = "bytes", tag = "1")]
    pub(crate) body: Bytes,
    #[prost(bool, tag = "2")]
    pub(crate) end_of_stream: bool,
}

/// Trailers. Nobody reads them here.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct HttpTrailers {}

/// A list of headers.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct HeaderMap {
    #[prost(message, repeated, tag = "1")]
    pub(crate) headers: Vec<HeaderValue>,
}

/// One header. Newer versions of Envoy set `raw_value`, older ones `value`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct HeaderValue {
    #[prost(string, tag = "1")]
    pub(crate) key: String,
    #[prost(string, tag = "2")]
    pub(crate) value: String,
    #[prost(bytes = "bytes", tag = "3")]
    pub(crate) raw_value: Bytes,
}

/// A message to Envoy.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ProcessingResponse {
    #[prost(oneof = "Answer", tags = "1, 2, 3, 4, 5, 6, 7")]
    pub(crate) response: Option<Answer>,
    #[prost(message, optional, tag = "9")]
    pub(crate) mode_override: Option<ProcessingMode>,
}

/// The answer to a part of a request or a reply.
#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum Answer {
    #[prost(message, tag = "1")]
    RequestHeaders(CommonAnswer),
    #[prost(message, tag = "2")]
    ResponseHeaders(CommonAnswer),
    #[prost(message, tag = "3")]
    RequestBody(CommonAnswer),
    #[prost(message, tag = "4")]
    ResponseBody(CommonAnswer),
    #[prost(message, tag = "5")]
    RequestTrailers(TrailersAnswer),
    #[prost(message, tag = "6")]
    ResponseTrailers(TrailersAnswer),
    #[prost(message, tag = "7")]
    Immediate(ImmediateResponse),
}

/// The answer to headers or a body: `HeadersResponse` and `BodyResponse` are alike.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct CommonAnswer {
    #[prost(message, optional, tag = "1")]
    pub(crate) response: Option<CommonResponse>,
}

/// The answer to trailers.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct TrailersAnswer {}

/// The changes of headers and body.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct CommonResponse {
    #[prost(message, optional, tag = "2")]
    pub(crate) header_mutation: Option<HeaderMutation>,
    #[prost(message, optional, tag = "3")]
    pub(crate) body_mutation: Option<BodyMutation>,
}

/// Changes of headers.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct HeaderMutation {
    #[prost(message, repeated, tag = "1")]
    pub(crate) set_headers: Vec<HeaderValueOption>,
    #[prost(string, repeated, tag = "2")]
    pub(crate) remove_headers: Vec<String>,
}

/// A header that is set.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct HeaderValueOption {
    #[prost(message, optional, tag = "1")]
    pub(crate) header: Option<HeaderValue>,
    #[prost(enumeration = "AppendAction", tag = "3")]
    pub(crate) append_action: i32,
}

/// The treatment of a header that exists already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub(crate) enum AppendAction {
    Append = 0,
    AddIfAbsent = 1,
    Overwrite = 2,
    OverwriteIfExists = 3,
}

/// A change of a body.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct BodyMutation {
    #[prost(oneof = "Mutation", tags = "1, 2, 3")]
    pub(crate) mutation: Option<Mutation>,
}

/// The kinds of changes of a body.
#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum Mutation {
    #[prost(bytes = "bytes", tag = "1")]
    Body(Bytes),
    #[prost(bool, tag = "2")]
    ClearBody(bool),
    #[prost(message, tag = "3")]
    Streamed(StreamedBody),
}

/// A chunk in the mode `FULL_DUPLEX_STREAMED`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct StreamedBody {
    #[prost(bytes = "bytes", tag = "1")]
    pub(crate) body: Bytes,
    #[prost(bool, tag = "2")]
    pub(crate) end_of_stream: bool,
}

/// A reply that Envoy sends at once, without asking the provider.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ImmediateResponse {
    #[prost(message, optional, tag = "1")]
    pub(crate) status: Option<HttpStatus>,
    #[prost(message, optional, tag = "2")]
    pub(crate) headers: Option<HeaderMutation>,
    #[prost(bytes = "bytes", tag = "3")]
    pub(crate) body: Bytes,
    #[prost(string, tag = "5")]
    pub(crate) details: String,
}

/// The status of a reply.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct HttpStatus {
    #[prost(int32, tag = "1")]
    pub(crate) code: i32,
}
