//! The WebAssembly module of the npm package `photic`: the calls of the addon, for runtimes that load no addon.
//!
//! JavaScript asks for room for an input with [`reserve`], writes the bytes there, makes a [`call`] and reads the
//! outputs at [`pointer`]. Every input is used up by one call; outputs stay until [`clear`]. The module imports only
//! the clock, random numbers and a few functions of WASI that the standard library links, and does no I/O.

use std::cell::RefCell;

use photic_calls::{CallError, Options, Pixels, Rejected, Segments, Session};
use serde::Deserialize;

/// The largest input in bytes. A longer one would leave no room for the output.
const MAX_INPUT: usize = 1 << 30;

thread_local! {
    static INPUTS: RefCell<[Vec<u8>; 2]> = const { RefCell::new([Vec::new(), Vec::new()]) };
    static OUTPUTS: RefCell<[Vec<u8>; 2]> = const { RefCell::new([Vec::new(), Vec::new()]) };
    static SESSION: RefCell<Option<Session>> = const { RefCell::new(None) };
}

/// The arguments of a call beside the body.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Arguments {
    /// The options, as JSON.
    options: String,
    rejections: Vec<Rejection>,
    shape: Option<Shape>,
    path: String,
    host: String,
}

/// An error that a provider answered with.
#[derive(Deserialize)]
struct Rejection {
    status: u16,
    text: String,
}

/// The width, height and number of channels of samples.
#[derive(Deserialize)]
struct Shape {
    width: u32,
    height: u32,
    channels: u8,
}

/// A body and a report.
struct Done {
    body: Option<Vec<u8>>,
    report: String,
}

impl Done {
    const fn report(report: String) -> Self {
        Self { body: None, report }
    }
}

/// Makes room for an input of this length: 0 is the body, 1 the arguments. Returns the address, or 0 if there is none.
#[expect(unsafe_code, reason = "the name is exported")]
#[unsafe(no_mangle)]
pub extern "C" fn reserve(which: u32, length: usize) -> *mut u8 {
    INPUTS.with_borrow_mut(|inputs| {
        let Some(input) = inputs.get_mut(which as usize).filter(|_| length <= MAX_INPUT) else {
            return std::ptr::null_mut();
        };
        *input = Vec::new();
        if input.try_reserve_exact(length).is_err() {
            return std::ptr::null_mut();
        }
        input.resize(length, 0);
        input.as_mut_ptr()
    })
}

/// Makes a call with the reserved inputs. Returns 0 if there is a report, 1 if there is a body, too, and 2 for an
/// error, which stands in the place of the report.
#[expect(unsafe_code, reason = "the name is exported")]
#[unsafe(no_mangle)]
pub extern "C" fn call(number: u32) -> u32 {
    let [body, arguments] = INPUTS.with_borrow_mut(std::mem::take);
    let (status, body, report) = match done(number, &body, &arguments) {
        Ok(Done { body: Some(body), report }) => (1, body, report),
        Ok(Done { body: None, report }) => (0, Vec::new(), report),
        Err(error) => (2, Vec::new(), format!("{}\n{}\n{}", error.code, error.hint, error.message)),
    };
    OUTPUTS.set([body, report.into_bytes()]);
    status
}

/// Returns the address of an output: 0 is the body, 1 the report.
#[expect(unsafe_code, reason = "the name is exported")]
#[unsafe(no_mangle)]
pub extern "C" fn pointer(which: u32) -> *const u8 {
    OUTPUTS.with_borrow(|outputs| outputs.get(which as usize).map_or(std::ptr::null(), Vec::as_ptr))
}

/// Returns the length of an output.
#[expect(unsafe_code, reason = "the name is exported")]
#[unsafe(no_mangle)]
pub extern "C" fn length(which: u32) -> usize {
    OUTPUTS.with_borrow(|outputs| outputs.get(which as usize).map_or(0, Vec::len))
}

/// Frees the outputs.
#[expect(unsafe_code, reason = "the name is exported")]
#[unsafe(no_mangle)]
pub extern "C" fn clear() {
    OUTPUTS.take();
}

/// Makes the call of this number. The numbers are those of `wasm.cjs`.
fn done(number: u32, body: &[u8], arguments: &[u8]) -> Result<Done, CallError> {
    let arguments: Arguments = serde_json::from_slice(arguments)
        .map_err(|error| CallError::new("bad_option", error.to_string(), "please report this"))?;
    let options = || Options::read(&arguments.options);
    let copied = |segments: &Segments<'_>| segments.to_vec();
    Ok(match number {
        0 => Done::report(photic_calls::check(body, &options()?)?),
        1 => Done::report(photic_calls::explain(body, &options()?)?),
        2 => {
            let lowered = photic_calls::lower(body, &options()?, copied)?;
            Done { body: lowered.body, report: lowered.report }
        }
        3 => {
            let rejections: Vec<Rejected> = arguments
                .rejections
                .iter()
                .map(|one| Rejected { status: one.status, text: one.text.clone() })
                .collect();
            let repaired = photic_calls::repair(body, &options()?, &rejections, copied)?;
            Done { body: repaired.body, report: repaired.report }
        }
        4 => {
            let source = match arguments.shape {
                None => Pixels::File(body),
                Some(Shape { width, height, channels }) => {
                    Pixels::Samples { data: body, width, height, channels }
                }
            };
            let view = photic_calls::view(source, &arguments.options)?;
            Done { body: Some(view.bytes), report: view.report }
        }
        5 => Done::report(photic_calls::profile(&options()?)?),
        6 => {
            let route = photic_calls::route(&arguments.path, &arguments.host);
            Done::report(route.unwrap_or_else(|| "null".to_owned()))
        }
        7 => in_session(options()?, |session| {
            let repaired = session.repair(body, copied)?;
            Ok(Done { body: repaired.body, report: repaired.report })
        })?,
        8 => in_session(options()?, |session| {
            let figures = serde_json::to_string(&session.figures());
            figures.map(Done::report).map_err(|error| {
                CallError::new("internal", error.to_string(), "please report this")
            })
        })?,
        other => {
            let message = format!("there is no call {other}");
            return Err(CallError::new("internal", message, "please report this"));
        }
    })
}

/// Makes a call in the session of this instance. The first call begins it.
fn in_session(
    options: Options,
    call: impl FnOnce(&Session) -> Result<Done, CallError>,
) -> Result<Done, CallError> {
    SESSION.with_borrow_mut(|session| call(session.get_or_insert_with(|| Session::new(options))))
}
