//! The addon of the npm package `photic`: bodies in and out, options and reports as JSON.
//!
//! Every call has an asynchronous form, which works outside of the event loop. Its body is memory of Rust, which Node
//! gives back when its event loop turns. The synchronous form writes into memory that JavaScript made, which the garbage
//! collector frees by itself: a loop of such calls does not let the event loop turn.

use std::io::Write as _;
use std::sync::Arc;

use napi::bindgen_prelude::{AsyncTask, Buffer, BufferSlice, Function, Uint8Array};
use napi::{Env, Error, Status, Task};
use napi_derive::napi;
use photic_calls::{CallError, Lowered, Options, Pixels, Rejected, Segments};

/// A body and the report about it.
#[napi(object)]
pub struct Written {
    /// The body, or nothing if it is the one that came in.
    pub body: Option<Buffer>,
    /// The report, as JSON.
    pub report: String,
}

/// An error that a provider answered with.
#[napi(object)]
#[derive(Clone)]
pub struct Rejection {
    /// The status of the answer.
    pub status: u16,
    /// Its body.
    pub text: String,
}

/// The width, height and number of channels of samples.
#[napi(object)]
#[derive(Clone, Copy)]
pub struct Shape {
    /// The width.
    pub width: u32,
    /// The height.
    pub height: u32,
    /// 1 for gray, 3 for RGB, 4 for RGBA.
    pub channels: u8,
}

/// The call that a task makes, with its options as JSON.
enum Call {
    Check(String),
    Explain(String),
    Lower(String),
    Repair(String, Vec<Rejection>),
    View(String, Option<Shape>),
    /// A repair in a session, which has options of its own.
    Turn(Arc<photic_calls::Session>),
}

/// A call, with the bytes that JavaScript lends until it is done.
pub struct Work {
    call: Call,
    body: Uint8Array,
}

/// A body and a report, before they are handed to JavaScript.
pub struct Done<B> {
    body: Option<B>,
    report: String,
}

/// Makes memory of this many bytes.
type Room<'env> = Function<'env, i64, BufferSlice<'env>>;

impl Work {
    fn run<B>(&self, write: impl FnOnce(&Segments<'_>) -> B) -> Result<Done<B>, CallError> {
        let body: &[u8] = &self.body;
        let only = |report| Done { body: None, report };
        Ok(match &self.call {
            Call::Check(options) => only(photic_calls::check(body, &Options::read(options)?)?),
            Call::Explain(options) => only(photic_calls::explain(body, &Options::read(options)?)?),
            Call::Lower(options) => {
                photic_calls::lower(body, &Options::read(options)?, write)?.into()
            }
            Call::Repair(options, rejections) => {
                let rejections: Vec<Rejected> = rejections
                    .iter()
                    .map(|one| Rejected { status: one.status, text: one.text.clone() })
                    .collect();
                photic_calls::repair(body, &Options::read(options)?, &rejections, write)?.into()
            }
            Call::View(options, shape) => {
                let source = match *shape {
                    None => Pixels::File(body),
                    Some(Shape { width, height, channels }) => {
                        Pixels::Samples { data: body, width, height, channels }
                    }
                };
                let view = photic_calls::view(source, options)?;
                Done { body: Some(write(&Segments::whole(&view.bytes))), report: view.report }
            }
            Call::Turn(session) => session.repair(body, write)?.into(),
        })
    }
}

impl<B> From<Lowered<B>> for Done<B> {
    fn from(lowered: Lowered<B>) -> Self {
        Self { body: lowered.body, report: lowered.report }
    }
}

impl From<Done<Vec<u8>>> for Written {
    fn from(done: Done<Vec<u8>>) -> Self {
        Self { body: done.body.map(Buffer::from), report: done.report }
    }
}

impl Task for Work {
    type Output = Done<Vec<u8>>;
    type JsValue = Written;

    fn compute(&mut self) -> napi::Result<Self::Output> {
        self.run(|segments| segments.to_vec()).map_err(thrown)
    }

    fn resolve(&mut self, _env: Env, done: Self::Output) -> napi::Result<Written> {
        Ok(done.into())
    }
}

/// Copies a body into memory that JavaScript makes.
fn copied(segments: &Segments<'_>, env: &Env, room: &Room<'_>) -> napi::Result<Buffer> {
    let failed = |problem: &dyn std::fmt::Display| Error::from_reason(problem.to_string());
    let length = i64::try_from(segments.len()).map_err(|error| failed(&error))?;
    let mut buffer = room.call(length)?;
    let mut rest: &mut [u8] = &mut buffer;
    for segment in segments.iter() {
        rest.write_all(segment).map_err(|error| failed(&error))?;
    }
    buffer.into_buffer(env)
}

/// Returns the error for JavaScript: a line with the code, then one with the hint, then the problem.
fn thrown(error: CallError) -> Error {
    Error::new(Status::InvalidArg, format!("{}\n{}\n{}", error.code, error.hint, error.message))
}

/// Makes a call at once. Its body is written into `room`.
fn now(call: Call, body: Uint8Array, env: &Env, room: &Room<'_>) -> napi::Result<Written> {
    let done = Work { call, body }.run(|segments| copied(segments, env, room)).map_err(thrown)?;
    Ok(Written { body: done.body.transpose()?, report: done.report })
}

/// Makes a call at once that gives only a report.
fn reported(call: Call, body: Uint8Array) -> napi::Result<Written> {
    Work { call, body }.run(|segments| segments.to_vec()).map(Written::from).map_err(thrown)
}

/// Makes a call outside of the event loop.
fn later(call: Call, body: Uint8Array) -> AsyncTask<Work> {
    AsyncTask::new(Work { call, body })
}

/// Finds the problems of a request.
#[napi]
pub fn check_sync(body: Uint8Array, options: String) -> napi::Result<Written> {
    reported(Call::Check(options), body)
}

/// Finds the problems of a request, outside of the event loop.
#[napi]
pub fn check(body: Uint8Array, options: String) -> AsyncTask<Work> {
    later(Call::Check(options), body)
}

/// Lists every image of a request with its fate.
#[napi]
pub fn explain_sync(body: Uint8Array, options: String) -> napi::Result<Written> {
    reported(Call::Explain(options), body)
}

/// Lists every image of a request with its fate, outside of the event loop.
#[napi]
pub fn explain(body: Uint8Array, options: String) -> AsyncTask<Work> {
    later(Call::Explain(options), body)
}

/// Writes a request, a stored conversation or a reply for a wire.
#[napi]
pub fn lower_sync(
    env: &Env,
    body: Uint8Array,
    options: String,
    room: Room<'_>,
) -> napi::Result<Written> {
    now(Call::Lower(options), body, env, &room)
}

/// Writes a request, a stored conversation or a reply for a wire, outside of the event loop.
#[napi]
pub fn lower(body: Uint8Array, options: String) -> AsyncTask<Work> {
    later(Call::Lower(options), body)
}

/// Repairs a request, after the rejections that it met.
#[napi]
pub fn repair_sync(
    env: &Env,
    body: Uint8Array,
    options: String,
    rejections: Vec<Rejection>,
    room: Room<'_>,
) -> napi::Result<Written> {
    now(Call::Repair(options, rejections), body, env, &room)
}

/// Repairs a request, after the rejections that it met, outside of the event loop.
#[napi]
pub fn repair(body: Uint8Array, options: String, rejections: Vec<Rejection>) -> AsyncTask<Work> {
    later(Call::Repair(options, rejections), body)
}

/// Makes a view of an image file, or of samples of this shape.
#[napi]
pub fn view_sync(
    env: &Env,
    source: Uint8Array,
    options: String,
    shape: Option<Shape>,
    room: Room<'_>,
) -> napi::Result<Written> {
    now(Call::View(options, shape), source, env, &room)
}

/// Makes a view of an image file, or of samples of this shape, outside of the event loop.
#[napi]
pub fn view(source: Uint8Array, options: String, shape: Option<Shape>) -> AsyncTask<Work> {
    later(Call::View(options, shape), source)
}

/// Returns the profile for a wire, a model and a host.
#[napi]
pub fn profile(options: String) -> napi::Result<String> {
    let done = Options::read(&options).and_then(|options| photic_calls::profile(&options));
    done.map_err(thrown)
}

/// Returns the wire, the model and the host for the path that a request is posted to.
#[napi]
pub fn route(path: String, host: String) -> Option<String> {
    photic_calls::route(&path, &host)
}

/// Repairs the requests of conversations, turn by turn.
#[napi]
pub struct Session {
    session: Arc<photic_calls::Session>,
}

#[napi]
impl Session {
    /// Creates a session. The options hold for all of its requests.
    #[napi(constructor)]
    pub fn new(options: String) -> napi::Result<Self> {
        let options = Options::read(&options).map_err(thrown)?;
        Ok(Self { session: Arc::new(photic_calls::Session::new(options)) })
    }

    /// Repairs a request.
    #[napi]
    pub fn repair_sync(
        &self,
        env: &Env,
        body: Uint8Array,
        room: Room<'_>,
    ) -> napi::Result<Written> {
        now(Call::Turn(Arc::clone(&self.session)), body, env, &room)
    }

    /// Repairs a request outside of the event loop.
    #[napi]
    pub fn repair(&self, body: Uint8Array) -> AsyncTask<Work> {
        later(Call::Turn(Arc::clone(&self.session)), body)
    }

    /// Returns what was done so far, as JSON.
    #[napi]
    pub fn figures(&self) -> napi::Result<String> {
        serde_json::to_string(&self.session.figures())
            .map_err(|error| Error::from_reason(error.to_string()))
    }
}
