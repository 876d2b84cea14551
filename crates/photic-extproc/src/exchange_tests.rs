//! Tests: the conversation about one request in every body mode, with the messages that Envoy sends.

use bytes::Bytes;
use photic::Policy;

use crate::exchange::{Exchange, Rules, Step, Work};
use crate::memory::Charge;
use crate::messages::{
    Answer, BodySendMode, CommonAnswer, HeaderMap, HeaderValue, HttpBody, HttpHeaders,
    HttpTrailers, Mutation, ProcessingRequest, ProcessingResponse, ProtocolConfiguration, Received,
};
use crate::repair::{RepairedBody, repair};
use crate::settings::TooLarge;
use crate::target::Passed;

/// A tool result that is empty, which photic fills.
const BROKEN: &str = r#"{"model":"gpt-4o","messages":[{"role":"user","content":"Look!"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":""}]}"#;
const SOUND: &str = r#"{"model":"gpt-4o","messages":[{"role":"user","content":"Hello"}]}"#;

/// One conversation, and its rules.
struct Talk {
    exchange: Exchange,
    policy: Policy,
    max_body: usize,
    too_large: TooLarge,
    /// Set if there is memory for the next message.
    memory: bool,
}

impl Talk {
    /// Begins a conversation about a request on Chat Completions.
    fn begin(mode: BodySendMode, more: &[(&str, &str)]) -> (Self, Step) {
        Self::limited(mode, more, 1 << 20, TooLarge::Pass)
    }

    fn limited(
        mode: BodySendMode,
        more: &[(&str, &str)],
        max_body: usize,
        too_large: TooLarge,
    ) -> (Self, Step) {
        let policy = Policy::default();
        let mut talk =
            Self { exchange: Exchange::default(), policy, max_body, too_large, memory: true };
        let mut headers = vec![(":method", "POST"), (":path", "/v1/chat/completions")];
        headers.extend(more);
        let step = talk.take(ProcessingRequest {
            request: Some(Received::RequestHeaders(head(&headers))),
            protocol_config: Some(ProtocolConfiguration {
                request_body_mode: mode.into(),
                response_body_mode: BodySendMode::None.into(),
            }),
            observability_mode: false,
        });
        (talk, step)
    }

    fn take(&mut self, request: ProcessingRequest) -> Step {
        let Self { exchange, policy, max_body, too_large, memory } = self;
        let rules = Rules { policy, max_body: *max_body, too_large: *too_large, host: None };
        exchange.take(request, memory.then(Charge::default), &rules)
    }

    fn part(&mut self, part: Received) -> Step {
        let request = Some(part);
        self.take(ProcessingRequest { request, ..ProcessingRequest::default() })
    }

    fn body(&mut self, body: &str, end_of_stream: bool) -> Step {
        let body = Bytes::copy_from_slice(body.as_bytes());
        self.part(Received::RequestBody(HttpBody { body, end_of_stream }))
    }

    /// Repairs the body that a step hands out.
    fn repair(&mut self, step: Step) -> Vec<ProcessingResponse> {
        let Step::Repair(work) = step else { panic!("no repair: {step:?}") };
        let Work { target, body, .. } = *work;
        answers(self.exchange.repaired(repair(&target, &body, self.max_body)))
    }

    /// The headers that the reply gets.
    fn reply_headers(&mut self) -> Vec<(String, String)> {
        let step = self.part(Received::ResponseHeaders(HttpHeaders::default()));
        let Step::Close(answers) = step else { panic!("the stream stays open: {step:?}") };
        let Some(Answer::ResponseHeaders(answer)) = &answers[0].response else {
            panic!("{answers:?}")
        };
        set_headers(answer)
    }
}

fn head(headers: &[(&str, &str)]) -> HttpHeaders {
    let headers = headers.iter().map(|(key, value)| HeaderValue {
        key: (*key).to_owned(),
        raw_value: Bytes::copy_from_slice(value.as_bytes()),
        ..HeaderValue::default()
    });
    HttpHeaders { headers: Some(HeaderMap { headers: headers.collect() }), end_of_stream: false }
}

fn answers(step: Step) -> Vec<ProcessingResponse> {
    match step {
        Step::Answer(answers) | Step::Close(answers) => answers,
        Step::Repair(work) => panic!("a repair: {work:?}"),
    }
}

fn set_headers(answer: &CommonAnswer) -> Vec<(String, String)> {
    let change = answer.response.as_ref().and_then(|response| response.header_mutation.as_ref());
    let headers = change.into_iter().flat_map(|change| &change.set_headers);
    let headers = headers.filter_map(|option| option.header.as_ref());
    let text = |value: &Bytes| String::from_utf8_lossy(value).into_owned();
    headers.map(|header| (header.key.clone(), text(&header.raw_value))).collect()
}

/// The change of the body in an answer to a body.
fn change(response: &ProcessingResponse) -> Option<&Mutation> {
    let Some(Answer::RequestBody(answer)) = &response.response else { panic!("{response:?}") };
    answer.response.as_ref()?.body_mutation.as_ref()?.mutation.as_ref()
}

fn replaced(response: &ProcessingResponse) -> &Bytes {
    match change(response) {
        Some(Mutation::Body(body)) => body,
        other => panic!("{other:?}"),
    }
}

fn expected() -> Bytes {
    let repaired = photic::repair(BROKEN.as_bytes(), &photic::RepairOptions::default());
    assert!(repaired.is_changed());
    repaired.body.into_owned().into()
}

fn names(headers: &[(String, String)]) -> Vec<&str> {
    headers.iter().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn a_buffered_body_is_replaced_and_its_length_corrected() {
    let length = BROKEN.len().to_string();
    let (mut talk, step) =
        Talk::begin(BodySendMode::Buffered, &[("content-length", length.as_str())]);
    assert_eq!(answers(step).len(), 1);
    let step = talk.body(BROKEN, true);
    let done = talk.repair(step);
    assert_eq!(replaced(&done[0]), &expected());
    let Some(Answer::RequestBody(answer)) = &done[0].response else { panic!("{done:?}") };
    let length = expected().len().to_string();
    assert_eq!(set_headers(answer), [("content-length".to_owned(), length)]);
    assert_eq!(names(&talk.reply_headers()), ["x-photic-fixes", "x-photic-fixed"]);
}

#[test]
fn a_body_without_problems_is_not_touched() {
    let (mut talk, _) = Talk::begin(BodySendMode::Buffered, &[]);
    let step = talk.body(SOUND, true);
    assert_eq!(change(&talk.repair(step)[0]), None);
    assert_eq!(talk.reply_headers(), [("x-photic-fixes".to_owned(), "0".to_owned())]);
}

#[test]
fn chunks_are_taken_out_until_the_last_one_is_the_whole() {
    let (mut talk, step) = Talk::begin(BodySendMode::Streamed, &[]);
    assert_eq!(answers(step).len(), 1);
    let (first, rest) = BROKEN.split_at(9);
    for chunk in [first, ""] {
        let answer = answers(talk.body(chunk, false));
        assert_eq!(change(&answer[0]), Some(&Mutation::ClearBody(true)));
    }
    let step = talk.body(rest, true);
    assert_eq!(replaced(&talk.repair(step)[0]), &expected());
    // Even if nothing had to change, what was taken out is put back.
    let (mut talk, _) = Talk::begin(BodySendMode::Streamed, &[]);
    let (first, rest) = SOUND.split_at(9);
    talk.body(first, false);
    let step = talk.body(rest, true);
    assert_eq!(replaced(&talk.repair(step)[0]), SOUND.as_bytes());
}

#[test]
fn trailers_that_cannot_carry_a_taken_body_are_an_error() {
    let (mut talk, _) = Talk::begin(BodySendMode::Streamed, &[]);
    talk.body(SOUND, false);
    let step = talk.part(Received::RequestTrailers(HttpTrailers {}));
    let Some(Answer::Immediate(reply)) = &answers(step)[0].response else { panic!("no error") };
    assert_eq!(reply.status.map(|status| status.code), Some(400));
}

#[test]
fn a_duplex_stream_gets_headers_and_chunks_once_the_body_is_whole() {
    let (mut talk, step) = Talk::begin(BodySendMode::FullDuplexStreamed, &[]);
    assert!(answers(step).is_empty());
    let (first, rest) = BROKEN.split_at(9);
    assert!(answers(talk.body(first, false)).is_empty());
    assert!(answers(talk.body(rest, false)).is_empty());
    let step = talk.part(Received::RequestTrailers(HttpTrailers {}));
    let done = talk.repair(step);
    assert!(matches!(done[0].response, Some(Answer::RequestHeaders(_))));
    let Some(Mutation::Streamed(chunk)) = change(&done[1]) else { panic!("{done:?}") };
    assert_eq!((&chunk.body, chunk.end_of_stream), (&expected(), false));
    assert!(matches!(done[2].response, Some(Answer::RequestTrailers(_))));
    assert_eq!(done.len(), 3);
}

#[test]
fn a_large_body_in_a_duplex_stream_comes_back_in_chunks_of_64_kib() {
    let words = "x".repeat(200 << 10);
    let body = SOUND.replace("Hello", &words);
    let (mut talk, _) = Talk::begin(BodySendMode::FullDuplexStreamed, &[]);
    let step = talk.body(&body, true);
    let done = talk.repair(step);
    let mut whole = Vec::new();
    for (number, response) in done.iter().enumerate().skip(1) {
        let Some(Mutation::Streamed(chunk)) = change(response) else { panic!("{response:?}") };
        assert!(chunk.body.len() <= 64 << 10);
        assert_eq!(chunk.end_of_stream, number + 1 == done.len());
        whole.extend_from_slice(&chunk.body);
    }
    assert_eq!(whole, body.as_bytes());
}

#[test]
fn a_body_above_the_limit_passes_with_a_reason_or_is_refused() {
    for mode in [BodySendMode::Streamed, BodySendMode::FullDuplexStreamed] {
        let (mut talk, _) = Talk::limited(mode, &[], 20, TooLarge::Pass);
        answers(talk.body(&SOUND[..9], false));
        let released = answers(talk.body(&SOUND[9..], true));
        let bodies = released.iter().filter_map(|response| match &response.response {
            Some(Answer::RequestBody(_)) => Some(match change(response) {
                Some(Mutation::Body(body)) => body.clone(),
                Some(Mutation::Streamed(chunk)) => chunk.body.clone(),
                other => panic!("{other:?}"),
            }),
            _ => None,
        });
        assert_eq!(bodies.collect::<Vec<_>>().concat(), SOUND.as_bytes());
        assert_eq!(talk.reply_headers(), [("x-photic-passed".to_owned(), "too_large".to_owned())]);
    }
    let (mut talk, _) = Talk::limited(BodySendMode::Buffered, &[], 20, TooLarge::Refuse);
    let Step::Close(refused) = talk.body(SOUND, true) else { panic!("not refused") };
    let Some(Answer::Immediate(reply)) = &refused[0].response else { panic!("{refused:?}") };
    assert_eq!(reply.status.map(|status| status.code), Some(413));
    assert!(String::from_utf8_lossy(&reply.body).contains("more than 20 bytes"));
    // A length that is named is enough.
    let (_, step) =
        Talk::limited(BodySendMode::Buffered, &[("content-length", "21")], 20, TooLarge::Refuse);
    assert!(matches!(step, Step::Close(_)));
}

#[test]
fn without_memory_a_body_passes() {
    for mode in [BodySendMode::Buffered, BodySendMode::Streamed, BodySendMode::FullDuplexStreamed] {
        let (mut talk, _) = Talk::begin(mode, &[]);
        talk.memory = false;
        for response in answers(talk.body(BROKEN, true)) {
            let Some(Answer::RequestBody(_)) = &response.response else { continue };
            match change(&response) {
                None => {}
                Some(Mutation::Body(body)) => assert_eq!(body, BROKEN.as_bytes()),
                Some(Mutation::Streamed(chunk)) => assert_eq!(chunk.body, BROKEN.as_bytes()),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(talk.reply_headers(), [("x-photic-passed".to_owned(), "no_memory".to_owned())]);
    }
    // A message that was too large to be read.
    let (mut talk, _) = Talk::begin(BodySendMode::Buffered, &[]);
    let rules =
        Rules { policy: &talk.policy, max_body: 1, too_large: TooLarge::Refuse, host: None };
    assert!(matches!(talk.exchange.skipped(Passed::TooLarge, &rules), Some(Step::Close(_))));
    // An upload is none of our business, however large.
    let (mut talk, _) = Talk::begin(BodySendMode::Buffered, &[(":path", "/v1/files")]);
    let rules =
        Rules { policy: &talk.policy, max_body: 1, too_large: TooLarge::Refuse, host: None };
    assert!(matches!(talk.exchange.skipped(Passed::TooLarge, &rules), Some(Step::Answer(_))));
}

#[test]
fn what_is_no_conversation_is_not_asked_for() {
    let (_, step) = Talk::begin(BodySendMode::Buffered, &[(":path", "/v1/files")]);
    let answered = answers(step);
    let mode = answered[0].mode_override.expect("a mode");
    assert_eq!(mode.request_body_mode(), BodySendMode::None);
    // The body of a conversation is asked for if the configuration sends none.
    let (mut talk, step) = Talk::begin(BodySendMode::None, &[]);
    let answered = answers(step);
    let mode = answered[0].mode_override.expect("a mode");
    assert_eq!(mode.request_body_mode(), BodySendMode::Buffered);
    let step = talk.body(BROKEN, true);
    assert_eq!(replaced(&talk.repair(step)[0]), &expected());
    let (mut talk, _) = Talk::begin(BodySendMode::None, &[]);
    assert_eq!(talk.reply_headers(), [("x-photic-passed".to_owned(), "not_sent".to_owned())]);
}

#[test]
fn a_part_of_a_body_is_not_repaired() {
    let (mut talk, _) = Talk::begin(BodySendMode::BufferedPartial, &[]);
    assert_eq!(change(&answers(talk.body(&BROKEN[..40], false))[0]), None);
    assert_eq!(talk.reply_headers(), [("x-photic-passed".to_owned(), "incomplete".to_owned())]);
}

#[test]
fn an_encoded_body_is_decoded_if_it_changes() {
    use std::io::Write as _;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(BROKEN.as_bytes()).expect("written");
    let body: Bytes = gzip.finish().expect("finished").into();
    let header = [("content-encoding", "gzip")];
    let (mut talk, _) = Talk::begin(BodySendMode::Buffered, &header);
    let part = HttpBody { body, end_of_stream: true };
    let step = talk.part(Received::RequestBody(part));
    let done = talk.repair(step);
    assert_eq!(replaced(&done[0]), &expected());
    let Some(Answer::RequestBody(answer)) = &done[0].response else { panic!("{done:?}") };
    let change = answer.response.as_ref().and_then(|response| response.header_mutation.as_ref());
    assert_eq!(
        change.map(|change| change.remove_headers.clone()),
        Some(vec!["content-encoding".to_owned()])
    );
    // In a stream, the header is gone before the body is read.
    let (mut talk, _) = Talk::begin(BodySendMode::Streamed, &header);
    let step = talk.body("x", true);
    assert_eq!(change_of(step), None);
    let reason = ("x-photic-passed".to_owned(), "unknown_encoding".to_owned());
    assert_eq!(talk.reply_headers(), [reason]);
}

fn change_of(step: Step) -> Option<Mutation> {
    change(&answers(step)[0]).cloned()
}

#[test]
fn a_body_that_is_no_json_passes() {
    let (mut talk, _) = Talk::begin(BodySendMode::Buffered, &[]);
    let step = talk.body("words", true);
    assert_eq!(change(&talk.repair(step)[0]), None);
    let reason = ("x-photic-passed".to_owned(), "unreadable_body".to_owned());
    assert_eq!(talk.reply_headers(), [reason]);
    assert_eq!(RepairedBody::default().body, None);
}
