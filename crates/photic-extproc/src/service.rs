//! Answers one gRPC request: the conversation with Envoy about one HTTP request, or a health check.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::unfold;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Incoming;
use prost::Message as _;
use tokio::sync::Semaphore;

use crate::exchange::{Exchange, Rules, Step, Work};
use crate::grpc::{Arrived, MessageReader, Status, data, trailers};
use crate::memory::Memory;
use crate::messages::{ProcessingRequest, ProcessingResponse};
use crate::repair::{RepairedBody, repair};
use crate::settings::{Settings, TooLarge};
use crate::target::Passed;

/// The method that Envoy calls.
const PROCESS: &str = "/envoy.service.ext_proc.v3.ExternalProcessor/Process";
/// The health check of gRPC.
const HEALTH: &str = "/grpc.health.v1.Health/Check";
/// The answer to it: `SERVING`.
const SERVING: [u8; 7] = [0, 0, 0, 0, 2, 8, 1];
/// The metadata in which the configuration of a route names the host whose profile applies.
const HOST: &str = "x-photic-host";

/// The time for which a body waits for memory before it passes unread.
const WAIT_TIMEOUT: Duration = Duration::from_secs(2);

/// The body of an answer.
pub(crate) type Body = UnsyncBoxBody<Bytes, Infallible>;

/// The state that all requests share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    memory: Memory,
    /// One permit for each repair that may run at once.
    processors: Arc<Semaphore>,
}

impl Shared {
    pub(crate) fn new(settings: Settings) -> Self {
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        let (memory, processors) =
            (Memory::new(settings.memory, WAIT_TIMEOUT), Semaphore::new(count));
        Self { settings, memory, processors: Arc::new(processors) }
    }

    /// Repairs a body on a thread of its own. If the client leaves before that begins, it is not done.
    async fn repair(&self, work: Work) -> RepairedBody {
        let Ok(permit) = Arc::clone(&self.processors).acquire_owned().await else {
            return RepairedBody::passed(Passed::Failed);
        };
        let max_body = self.settings.max_body;
        let done = tokio::task::spawn_blocking(move || {
            let Work { target, body, charges } = work;
            let repaired = repair(&target, &body, max_body);
            drop((charges, permit));
            repaired
        });
        done.await.unwrap_or_else(|_| RepairedBody::passed(Passed::Failed))
    }
}

/// Answers a gRPC request.
pub(crate) fn answer(shared: &Arc<Shared>, request: Request<Incoming>) -> Response<Body> {
    let body = match request.uri().path() {
        PROCESS => {
            let (head, body) = request.into_parts();
            let host = head.headers.get(HOST).and_then(|host| host.to_str().ok());
            process(Arc::clone(shared), host.map(str::to_owned), body)
        }
        HEALTH => frames([Frame::data(Bytes::from_static(&SERVING)), trailers(Status::Ok)]),
        _ => frames([trailers(Status::Unimplemented)]),
    };
    let mut headers = HeaderMap::new();
    headers.insert(http::header::CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::OK;
    *response.headers_mut() = headers;
    response
}

fn frames<const N: usize>(frames: [Frame<Bytes>; N]) -> Body {
    let frames = frames.map(Ok::<_, Infallible>);
    StreamBody::new(futures_util::stream::iter(frames)).boxed_unsync()
}

/// The conversation with Envoy about one HTTP request. If Envoy drops the stream, it ends.
struct Conversation {
    shared: Arc<Shared>,
    host: Option<String>,
    reader: MessageReader,
    exchange: Exchange,
    frames: VecDeque<Frame<Bytes>>,
    is_done: bool,
}

fn process(shared: Arc<Shared>, host: Option<String>, body: Incoming) -> Body {
    let reader = MessageReader::new(body);
    let (exchange, frames) = (Exchange::default(), VecDeque::new());
    let conversation = Conversation { shared, host, reader, exchange, frames, is_done: false };
    let frames = unfold(conversation, |mut conversation| async move {
        let frame = conversation.next().await?;
        Some((Ok::<_, Infallible>(frame), conversation))
    });
    StreamBody::new(frames).boxed_unsync()
}

impl Conversation {
    /// Returns the next frame to Envoy.
    async fn next(&mut self) -> Option<Frame<Bytes>> {
        loop {
            if let Some(frame) = self.frames.pop_front() {
                return Some(frame);
            }
            if self.is_done {
                return None;
            }
            if let Err(status) = self.advance().await {
                self.end(status);
            }
        }
    }

    /// Takes the next message from Envoy.
    async fn advance(&mut self) -> Result<(), Status> {
        let Settings { policy, max_body, too_large, .. } = &self.shared.settings;
        let (max_body, too_large) = (*max_body, *too_large);
        let max_message = self.exchange.max_message(max_body);
        let arrived = self.reader.next(&self.shared.memory, max_message).await?;
        let rules = Rules { policy, max_body, too_large, host: self.host.as_deref() };
        let skipped = |step: Option<Step>| step.ok_or(Status::ResourceExhausted);
        let step = match arrived {
            None => {
                self.end(Status::Ok);
                return Ok(());
            }
            Some(Arrived::Message(bytes, charge)) => {
                let request = ProcessingRequest::decode(bytes);
                let request = request.map_err(|_| Status::InvalidArgument)?;
                self.exchange.take(request, charge, &rules)
            }
            Some(Arrived::TooLarge) => skipped(self.exchange.skipped(Passed::TooLarge, &rules))?,
            Some(Arrived::NoMemory) => skipped(self.exchange.skipped(Passed::NoMemory, &rules))?,
        };
        let step = match step {
            Step::Repair(work) => {
                let target = work.target.clone();
                let repaired = self.shared.repair(*work).await;
                if repaired.passed == Some(Passed::TooLarge) && too_large == TooLarge::Refuse {
                    self.exchange.refuse_decoded(target, max_body)
                } else {
                    self.exchange.repaired(repaired)
                }
            }
            step @ (Step::Answer(_) | Step::Close(_)) => step,
        };
        match step {
            Step::Answer(answers) => self.send(&answers),
            Step::Close(answers) => {
                self.send(&answers);
                self.end(Status::Ok);
            }
            Step::Repair(_) => return Err(Status::Unavailable),
        }
        Ok(())
    }

    fn send(&mut self, answers: &[ProcessingResponse]) {
        self.frames.extend(answers.iter().map(data));
    }

    fn end(&mut self, status: Status) {
        self.frames.push_back(trailers(status));
        self.is_done = true;
    }
}
