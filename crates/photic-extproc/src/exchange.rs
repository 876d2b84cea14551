//! The conversation with Envoy about one HTTP request, without I/O: messages in, answers out.
//!
//! The body modes differ in what an answer can still change:
//!
//! | mode | the body arrives | headers can be changed |
//! |---|---|---|
//! | `BUFFERED`, `BUFFERED_PARTIAL` | in one message | with the body |
//! | `STREAMED` | in chunks, each answered at once | before the body only |
//! | `FULL_DUPLEX_STREAMED` | in chunks, answered in any number | with the body |
//!
//! In `STREAMED`, chunks are taken out of the request until the last one, which becomes the whole
//! body.

use bytes::Bytes;
use photic::Policy;
use photic::wire::{ErrorKind, ErrorWords};

use crate::answer::{
    body, headers, immediate, message, remove, replaced, set, streamed, trailers, unchanged,
    with_mode,
};
use crate::collected::CollectedBody;
use crate::memory::Charge;
use crate::messages::{
    Answer, BodySendMode, CommonResponse, HeaderMutation, HeaderSendMode, HttpBody, HttpHeaders,
    Mutation, ProcessingMode, ProcessingRequest, ProcessingResponse, Received,
};
use crate::repair::RepairedBody;
use crate::settings::TooLarge;
use crate::target::{Decision, OWN_HEADERS, Passed, Target};

/// Maximum bytes of a chunk that is streamed to Envoy.
const CHUNK: usize = 64 << 10;

/// The next step after a message.
#[derive(Debug)]
pub(crate) enum Step {
    /// These answers are sent.
    Answer(Vec<ProcessingResponse>),
    /// These answers are sent, and the stream ends. Envoy goes on without asking.
    Close(Vec<ProcessingResponse>),
    /// This body is repaired; [`Exchange::repaired`] takes the result.
    Repair(Box<Work>),
}

/// A body to be repaired.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) target: Target,
    pub(crate) body: Bytes,
    /// The memory of the body, until it is repaired.
    pub(crate) charges: Vec<Charge>,
}

/// The settings of an exchange.
#[derive(Clone, Debug)]
pub(crate) struct Rules<'s> {
    pub(crate) policy: &'s Policy,
    pub(crate) max_body: usize,
    pub(crate) too_large: TooLarge,
    /// The host whose profile applies, if the configuration of the route names one.
    pub(crate) host: Option<&'s str>,
}

/// The end of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BodyEnd {
    /// The last chunk.
    Body,
    /// Trailers after it.
    Trailers,
}

/// The conversation about one HTTP request.
#[derive(Debug, Default)]
pub(crate) struct Exchange {
    mode: Option<BodySendMode>,
    response_mode: Option<BodySendMode>,
    /// The request, until its body is repaired or passed.
    target: Option<Target>,
    collected: CollectedBody,
    end: Option<BodyEnd>,
    /// The body that is being repaired.
    original: Bytes,
    is_encoded: bool,
    /// Set if the answer to the request's headers is still owed.
    owes_headers: bool,
    is_request_done: bool,
    passed: Option<Passed>,
    notes: Vec<(&'static str, String)>,
}

impl Exchange {
    /// Takes a message, and the memory that it is charged to. Without memory, nothing is collected.
    pub(crate) fn take(
        &mut self,
        request: ProcessingRequest,
        charge: Option<Charge>,
        rules: &Rules<'_>,
    ) -> Step {
        if let Some(config) = &request.protocol_config {
            self.mode = Some(config.request_body_mode());
            self.response_mode = Some(config.response_body_mode());
        }
        if request.observability_mode {
            return Step::Close(Vec::new());
        }
        match request.request {
            Some(Received::RequestHeaders(head)) => self.request_headers(&head, rules),
            Some(Received::RequestBody(body)) => self.request_body(body, charge, rules),
            Some(Received::RequestTrailers(_)) => self.request_trailers(),
            Some(Received::ResponseHeaders(_)) => self.response_headers(),
            Some(Received::ResponseBody(part)) => {
                let is_duplex = self.response_mode == Some(BodySendMode::FullDuplexStreamed);
                Step::Answer(vec![message(Answer::ResponseBody(passed_body(part, is_duplex)))])
            }
            Some(Received::ResponseTrailers(_)) => {
                Step::Answer(vec![message(Answer::ResponseTrailers(trailers()))])
            }
            // A kind of message that is newer than this program.
            None => Step::Close(Vec::new()),
        }
    }

    /// Takes a message that was too large, or for which there was no memory. Only a body can be.
    /// Returns `None` if the body cannot pass: a part of it is here already.
    pub(crate) fn skipped(&mut self, reason: Passed, rules: &Rules<'_>) -> Option<Step> {
        let is_one_message = !self.is_streamed() && self.collected.is_empty();
        if !is_one_message {
            return None;
        }
        self.is_request_done = true;
        if self.target.is_none() {
            return Some(Step::Answer(vec![message(Answer::RequestBody(unchanged()))]));
        }
        if reason == Passed::TooLarge && rules.too_large == TooLarge::Refuse {
            return Some(self.refuse_large(rules.max_body));
        }
        self.pass(reason);
        Some(Step::Answer(vec![message(Answer::RequestBody(unchanged()))]))
    }

    /// Returns the maximum length of the body in a message. A chunk of a stream has to be passed on,
    /// however long it is; only memory bounds it.
    pub(crate) const fn max_message(&self, max_body: usize) -> usize {
        if self.is_streamed() { usize::MAX } else { max_body }
    }

    const fn is_duplex(&self) -> bool {
        matches!(self.mode, Some(BodySendMode::FullDuplexStreamed))
    }

    const fn is_streamed(&self) -> bool {
        matches!(self.mode, Some(BodySendMode::FullDuplexStreamed | BodySendMode::Streamed))
    }

    /// Stops reading the body.
    fn pass(&mut self, reason: Passed) {
        self.target = None;
        self.passed = Some(reason);
    }

    fn request_headers(&mut self, head: &HttpHeaders, rules: &Rules<'_>) -> Step {
        let own = remove(OWN_HEADERS);
        self.is_request_done = head.end_of_stream;
        let target = match Decision::of(head, rules.host, rules.policy) {
            Decision::Repair(target) => *target,
            Decision::Pass(passed) => {
                self.passed = passed;
                return Step::Answer(vec![self.without_body(headers(own))]);
            }
        };
        self.is_encoded = !target.codings.is_empty();
        let is_streamed = matches!(self.mode, Some(BodySendMode::Streamed));
        if target.length.is_some_and(|length| length > rules.max_body) {
            self.target = Some(target);
            if rules.too_large == TooLarge::Refuse {
                return self.refuse_large(rules.max_body);
            }
            self.pass(Passed::TooLarge);
            return Step::Answer(vec![self.without_body(headers(own))]);
        }
        if is_streamed && self.is_encoded {
            // The header that names the encoding is gone before the body can be read.
            self.pass(Passed::UnknownEncoding);
            return Step::Answer(vec![self.without_body(headers(own))]);
        }
        self.target = Some(target);
        if self.is_duplex() {
            // Owed until the body is repaired, which may change them.
            self.owes_headers = true;
            return Step::Answer(Vec::new());
        }
        let mode = match self.mode {
            // Asks for the body. Envoy sends it only if its configuration allows that.
            Some(BodySendMode::None) | None => BodySendMode::Buffered,
            Some(mode) => mode,
        };
        let is_asked = self.mode == Some(BodySendMode::None);
        if is_asked {
            self.mode = Some(mode);
            self.passed = Some(Passed::NotSent);
        }
        let response = message(Answer::RequestHeaders(headers(own)));
        Step::Answer(vec![if self.mode.is_some() {
            let trailers = if is_streamed { HeaderSendMode::Send } else { HeaderSendMode::Default };
            with_mode(
                response,
                ProcessingMode {
                    request_body_mode: mode.into(),
                    request_trailer_mode: trailers.into(),
                    ..ProcessingMode::default()
                },
            )
        } else {
            response
        }])
    }

    /// Answers the request's headers, and asks Envoy not to send the body.
    fn without_body(&self, answer: crate::messages::CommonAnswer) -> ProcessingResponse {
        let response = message(Answer::RequestHeaders(answer));
        // A duplex stream stays one: parts of it may be on their way.
        if self.is_duplex() { response } else { with_mode(response, ProcessingMode::default()) }
    }

    fn request_body(&mut self, part: HttpBody, charge: Option<Charge>, rules: &Rules<'_>) -> Step {
        let is_end = part.end_of_stream || matches!(self.mode, Some(BodySendMode::Buffered));
        self.is_request_done = is_end;
        if self.target.is_none() {
            let answer = passed_body(part, self.is_duplex());
            return Step::Answer(vec![message(Answer::RequestBody(answer))]);
        }
        if self.passed == Some(Passed::NotSent) {
            self.passed = None;
        }
        if !is_end && !self.is_streamed() {
            // The beginning of a body that is larger than Envoy's buffer, or an older Envoy that does
            // not tell its mode.
            self.pass(Passed::Incomplete);
            return Step::Answer(vec![message(Answer::RequestBody(unchanged()))]);
        }
        let has_memory = charge.is_some();
        self.collected.push(part.body, charge.unwrap_or_default());
        if self.collected.len() > rules.max_body {
            if rules.too_large == TooLarge::Refuse {
                return self.refuse_large(rules.max_body);
            }
            return self.release(is_end, Passed::TooLarge);
        }
        if !has_memory {
            return self.release(is_end, Passed::NoMemory);
        }
        if is_end {
            return self.repair(BodyEnd::Body);
        }
        Step::Answer(match self.mode {
            Some(BodySendMode::Streamed) => {
                let cleared = replaced(Mutation::ClearBody(true));
                vec![message(Answer::RequestBody(body(cleared)))]
            }
            _ => Vec::new(),
        })
    }

    /// Passes a body on unread, with all that was collected.
    fn release(&mut self, is_end: bool, reason: Passed) -> Step {
        self.pass(reason);
        let collected = std::mem::take(&mut self.collected);
        if !self.is_duplex() {
            let change = if self.is_streamed() {
                replaced(Mutation::Body(collected.whole().0))
            } else {
                CommonResponse::default()
            };
            return Step::Answer(vec![message(Answer::RequestBody(body(change)))]);
        }
        let mut answers = vec![message(Answer::RequestHeaders(headers(remove(OWN_HEADERS))))];
        self.owes_headers = false;
        let collected = collected.chunks();
        let last = collected.len().saturating_sub(1);
        for (number, chunk) in collected.into_iter().enumerate() {
            answers.extend(chunks(&chunk, is_end && number == last));
        }
        Step::Answer(answers)
    }

    fn repair(&mut self, end: BodyEnd) -> Step {
        let Some(target) = self.target.take() else { return Step::Answer(Vec::new()) };
        self.end = Some(end);
        let (whole, charges) = std::mem::take(&mut self.collected).whole();
        self.original = whole;
        Step::Repair(Box::new(Work { target, body: self.original.clone(), charges }))
    }

    fn request_trailers(&mut self) -> Step {
        self.is_request_done = true;
        let answer = message(Answer::RequestTrailers(trailers()));
        if self.target.is_none() || self.collected.is_empty() {
            let mut answers = vec![answer];
            if std::mem::take(&mut self.owes_headers) {
                answers.insert(0, message(Answer::RequestHeaders(headers(remove(OWN_HEADERS)))));
            }
            return Step::Answer(answers);
        }
        if self.is_duplex() {
            return self.repair(BodyEnd::Trailers);
        }
        // The chunks were taken out already, and trailers cannot carry them.
        let says = "a request with trailers cannot be repaired in the body mode STREAMED";
        Step::Close(vec![self.error(400, ErrorKind::Invalid, says)])
    }

    /// Takes the result of a repair.
    pub(crate) fn repaired(&mut self, repaired: RepairedBody) -> Step {
        self.is_request_done = true;
        self.passed = repaired.passed;
        self.notes = repaired.notes;
        let original = std::mem::take(&mut self.original);
        let mut change = HeaderMutation::default();
        if let Some(new) = &repaired.body {
            if self.is_encoded {
                change.remove_headers.push("content-encoding".to_owned());
            }
            if !self.is_streamed() {
                change.set_headers.push(set("content-length", &new.len().to_string()));
            }
        }
        if self.is_duplex() {
            change.remove_headers.extend(OWN_HEADERS.map(str::to_owned));
            let mut answers = vec![message(Answer::RequestHeaders(headers(change)))];
            self.owes_headers = false;
            let is_last = self.end == Some(BodyEnd::Body);
            answers.extend(chunks(&repaired.body.unwrap_or(original), is_last));
            if !is_last {
                answers.push(message(Answer::RequestTrailers(trailers())));
            }
            return Step::Answer(answers);
        }
        let is_streamed = self.is_streamed();
        // Earlier chunks were taken out of a stream, so the last one is the whole.
        let new = repaired.body.or_else(|| is_streamed.then_some(original));
        let mut response = CommonResponse::default();
        if let Some(new) = new {
            response = replaced(Mutation::Body(new));
            response.header_mutation = Some(change);
        }
        Step::Answer(vec![message(Answer::RequestBody(body(response)))])
    }

    /// Refuses a body that was too large once its content encoding was removed.
    pub(crate) fn refuse_decoded(&mut self, target: Target, max_body: usize) -> Step {
        self.is_request_done = true;
        self.original = Bytes::new();
        self.target = Some(target);
        self.refuse_large(max_body)
    }

    fn response_headers(&self) -> Step {
        let mut change = HeaderMutation::default();
        change.set_headers.extend(self.notes.iter().map(|(name, value)| set(name, value)));
        if let Some(passed) = self.passed {
            change.set_headers.push(set("x-photic-passed", passed.name()));
        }
        let answers = vec![message(Answer::ResponseHeaders(headers(change)))];
        // Without us, Envoy would wait for the rest of what flows through us.
        let is_needed = self.response_mode == Some(BodySendMode::FullDuplexStreamed)
            || self.is_streamed() && !self.is_request_done;
        if is_needed { Step::Answer(answers) } else { Step::Close(answers) }
    }

    fn refuse_large(&self, max_body: usize) -> Step {
        let says = format!("the request has more than {max_body} bytes, the limit of photic");
        Step::Close(vec![self.error(413, ErrorKind::TooLarge, &says)])
    }

    /// An error in the form of the API that the client speaks.
    fn error(&self, status: u16, kind: ErrorKind, says: &str) -> ProcessingResponse {
        let wire = self.target.as_ref().map_or(photic::Wire::OpenAiChat, |one| one.turn.wire);
        let words = ErrorWords::new(status, wire.error_word(kind), says);
        immediate(status, &wire.error_body(&words).to_string())
    }
}

/// The answer to a part of a body that is not read.
fn passed_body(part: HttpBody, is_duplex: bool) -> crate::messages::CommonAnswer {
    if is_duplex {
        return body(streamed(part.body, part.end_of_stream));
    }
    unchanged()
}

/// Writes a body in chunks.
fn chunks(whole: &Bytes, is_last: bool) -> Vec<ProcessingResponse> {
    let count = whole.len().div_ceil(CHUNK).max(1);
    let chunk = |number: usize| {
        let end = whole.len().min((number + 1) * CHUNK);
        let change = streamed(whole.slice(number * CHUNK..end), is_last && number + 1 == count);
        message(Answer::RequestBody(body(change)))
    };
    (0..count).map(chunk).collect()
}
