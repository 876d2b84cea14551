//! The addon of the npm package `photic`: bodies in and out, options and reports as JSON.
//!
//! Every call has an asynchronous form, which works outside of the event loop.

use std::sync::Arc;

use napi::bindgen_prelude::{AsyncTask, Uint8Array};
use napi::{Env, Error, Status, Task};
use napi_derive::napi;
use photic_calls::{CallError, Lowered, Options, Pixels, Rejected, Segments};

/// A body and the report about it.
#[napi(object)]
pub struct Written {
    /// The body, or nothing if it is the one that came in.
    pub body: Option<Uint8Array>,
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

/// The call that a task makes.
enum Call {
    Check,
    Explain,
    Lower,
    Repair(Vec<Rejection>),
    View(Option<Shape>),
}

/// A call, with the bytes that JavaScript lends until it is done.
pub struct Work {
    call: Call,
    body: Uint8Array,
    options: String,
}

/// A body and a report, before they are handed to JavaScript.
pub struct Done {
    body: Option<Vec<u8>>,
    report: String,
}

impl Work {
    fn run(&self) -> Result<Done, CallError> {
        let body: &[u8] = &self.body;
        let only = |report| Done { body: None, report };
        let options = || Options::read(&self.options);
        Ok(match &self.call {
            Call::Check => only(photic_calls::check(body, &options()?)?),
            Call::Explain => only(photic_calls::explain(body, &options()?)?),
            Call::Lower => photic_calls::lower(body, &options()?, copied)?.into(),
            Call::Repair(rejections) => {
                let rejections: Vec<Rejected> = rejections
                    .iter()
                    .map(|one| Rejected { status: one.status, text: one.text.clone() })
                    .collect();
                photic_calls::repair(body, &options()?, &rejections, copied)?.into()
            }
            Call::View(shape) => {
                let source = match *shape {
                    None => Pixels::File(body),
                    Some(Shape { width, height, channels }) => {
                        Pixels::Samples { data: body, width, height, channels }
                    }
                };
                let view = photic_calls::view(source, &self.options)?;
                Done { body: Some(view.bytes), report: view.report }
            }
        })
    }
}

impl From<Lowered<Vec<u8>>> for Done {
    fn from(lowered: Lowered<Vec<u8>>) -> Self {
        Self { body: lowered.body, report: lowered.report }
    }
}

impl From<Done> for Written {
    fn from(done: Done) -> Self {
        Self { body: done.body.map(Uint8Array::from), report: done.report }
    }
}

impl Task for Work {
    type Output = Done;
    type JsValue = Written;

    fn compute(&mut self) -> napi::Result<Done> {
        self.run().map_err(thrown)
    }

    fn resolve(&mut self, _env: Env, done: Done) -> napi::Result<Written> {
        Ok(done.into())
    }
}

/// Copies a body, segment by segment.
fn copied(segments: &Segments<'_>) -> Vec<u8> {
    segments.to_vec()
}

/// Returns the error for JavaScript: a line with the code, then one with the hint, then the problem.
fn thrown(error: CallError) -> Error {
    Error::new(Status::InvalidArg, format!("{}\n{}\n{}", error.code, error.hint, error.message))
}

/// Makes a call at once.
fn now(call: Call, body: Uint8Array, options: String) -> napi::Result<Written> {
    Work { call, body, options }.run().map(Written::from).map_err(thrown)
}

/// Makes a call outside of the event loop.
fn later(call: Call, body: Uint8Array, options: String) -> AsyncTask<Work> {
    AsyncTask::new(Work { call, body, options })
}

/// Finds the problems of a request.
#[napi]
pub fn check_sync(body: Uint8Array, options: String) -> napi::Result<Written> {
    now(Call::Check, body, options)
}

/// Finds the problems of a request, outside of the event loop.
#[napi]
pub fn check(body: Uint8Array, options: String) -> AsyncTask<Work> {
    later(Call::Check, body, options)
}

/// Lists every image of a request with its fate.
#[napi]
pub fn explain_sync(body: Uint8Array, options: String) -> napi::Result<Written> {
    now(Call::Explain, body, options)
}

/// Lists every image of a request with its fate, outside of the event loop.
#[napi]
pub fn explain(body: Uint8Array, options: String) -> AsyncTask<Work> {
    later(Call::Explain, body, options)
}

/// Writes a request, a stored conversation or a reply for a wire.
#[napi]
pub fn lower_sync(body: Uint8Array, options: String) -> napi::Result<Written> {
    now(Call::Lower, body, options)
}

/// Writes a request, a stored conversation or a reply for a wire, outside of the event loop.
#[napi]
pub fn lower(body: Uint8Array, options: String) -> AsyncTask<Work> {
    later(Call::Lower, body, options)
}

/// Repairs a request, after the rejections that it met.
#[napi]
pub fn repair_sync(
    body: Uint8Array,
    options: String,
    rejections: Vec<Rejection>,
) -> napi::Result<Written> {
    now(Call::Repair(rejections), body, options)
}

/// Repairs a request, after the rejections that it met, outside of the event loop.
#[napi]
pub fn repair(body: Uint8Array, options: String, rejections: Vec<Rejection>) -> AsyncTask<Work> {
    later(Call::Repair(rejections), body, options)
}

/// Makes a view of an image file, or of samples of this shape.
#[napi]
pub fn view_sync(
    source: Uint8Array,
    options: String,
    shape: Option<Shape>,
) -> napi::Result<Written> {
    now(Call::View(shape), source, options)
}

/// Makes a view of an image file, or of samples of this shape, outside of the event loop.
#[napi]
pub fn view(source: Uint8Array, options: String, shape: Option<Shape>) -> AsyncTask<Work> {
    later(Call::View(shape), source, options)
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
    pub fn repair_sync(&self, body: Uint8Array) -> napi::Result<Written> {
        let turn = Turn { session: Arc::clone(&self.session), body };
        turn.run().map(Written::from).map_err(thrown)
    }

    /// Repairs a request outside of the event loop.
    #[napi]
    pub fn repair(&self, body: Uint8Array) -> AsyncTask<Turn> {
        AsyncTask::new(Turn { session: Arc::clone(&self.session), body })
    }

    /// Returns what was done so far, as JSON.
    #[napi]
    pub fn figures(&self) -> napi::Result<String> {
        serde_json::to_string(&self.session.figures())
            .map_err(|error| Error::from_reason(error.to_string()))
    }
}

/// A request of a session.
pub struct Turn {
    session: Arc<photic_calls::Session>,
    body: Uint8Array,
}

impl Turn {
    fn run(&self) -> Result<Done, CallError> {
        self.session.repair(&self.body, copied).map(Done::from)
    }
}

impl Task for Turn {
    type Output = Done;
    type JsValue = Written;

    fn compute(&mut self) -> napi::Result<Done> {
        self.run().map_err(thrown)
    }

    fn resolve(&mut self, _env: Env, done: Done) -> napi::Result<Written> {
        Ok(done.into())
    }
}
