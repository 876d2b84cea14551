//! Builds answers to Envoy.

use bytes::Bytes;

use crate::messages::{
    Answer, AppendAction, BodyMutation, CommonAnswer, CommonResponse, HeaderMutation, HeaderValue,
    HeaderValueOption, HttpStatus, ImmediateResponse, Mutation, ProcessingMode, ProcessingResponse,
    StreamedBody, TrailersAnswer,
};

/// A message with an answer.
pub(crate) const fn message(answer: Answer) -> ProcessingResponse {
    ProcessingResponse { response: Some(answer), mode_override: None }
}

/// A message that also changes which parts Envoy sends.
pub(crate) fn with_mode(message: ProcessingResponse, mode: ProcessingMode) -> ProcessingResponse {
    ProcessingResponse { mode_override: Some(mode), ..message }
}

/// The answer to headers.
pub(crate) fn headers(change: HeaderMutation) -> CommonAnswer {
    let response = CommonResponse { header_mutation: Some(change), body_mutation: None };
    CommonAnswer { response: Some(response) }
}

/// The answer to a body.
pub(crate) const fn body(response: CommonResponse) -> CommonAnswer {
    CommonAnswer { response: Some(response) }
}

/// The answer to a body that stays as it is.
pub(crate) fn unchanged() -> CommonAnswer {
    body(CommonResponse::default())
}

/// The answer to trailers.
pub(crate) const fn trailers() -> TrailersAnswer {
    TrailersAnswer {}
}

/// A change of a body.
pub(crate) const fn replaced(mutation: Mutation) -> CommonResponse {
    CommonResponse {
        header_mutation: None,
        body_mutation: Some(BodyMutation { mutation: Some(mutation) }),
    }
}

/// A chunk in the mode `FULL_DUPLEX_STREAMED`.
pub(crate) const fn streamed(body: Bytes, end_of_stream: bool) -> CommonResponse {
    replaced(Mutation::Streamed(StreamedBody { body, end_of_stream }))
}

/// Sets a header.
pub(crate) fn set(name: &str, value: &str) -> HeaderValueOption {
    let raw_value = Bytes::copy_from_slice(value.as_bytes());
    let header = HeaderValue { key: name.to_owned(), value: String::new(), raw_value };
    HeaderValueOption { header: Some(header), append_action: AppendAction::Overwrite.into() }
}

/// Removes headers.
pub(crate) fn remove<const N: usize>(names: [&str; N]) -> HeaderMutation {
    let remove_headers = names.map(str::to_owned).to_vec();
    HeaderMutation { set_headers: Vec::new(), remove_headers }
}

/// A reply that Envoy sends at once, with a body in JSON.
pub(crate) fn immediate(status: u16, json: &str) -> ProcessingResponse {
    let set_headers = vec![set("content-type", "application/json")];
    message(Answer::Immediate(ImmediateResponse {
        status: Some(HttpStatus { code: i32::from(status) }),
        headers: Some(HeaderMutation { set_headers, remove_headers: Vec::new() }),
        body: Bytes::copy_from_slice(json.as_bytes()),
        details: "photic".to_owned(),
    }))
}
