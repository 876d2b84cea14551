//! The child process: confines itself, reads one request, draws, answers, and exits.

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use super::confine::confine;
use super::protocol::{self, WorkerResult};
use crate::request::Request;

/// Stack for the nesting that the parsers allow, in an unoptimized build.
const STACK: usize = 64 << 20;

/// The main function of a worker program: call it with the arguments that the parent added, and
/// exit with its result. It writes only to standard output.
pub fn serve(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    match answer(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        // The parent sees that there is no answer.
        Err(_) => ExitCode::FAILURE,
    }
}

/// Reads the request and answers it.
fn answer(arguments: impl IntoIterator<Item = OsString>) -> io::Result<()> {
    let mut numbers = arguments.into_iter().map(|argument| argument.to_str()?.parse().ok());
    let (Some(Some(processor_seconds)), Some(Some(memory))) = (numbers.next(), numbers.next())
    else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    confine(processor_seconds, memory)?;
    let asked = protocol::asked(&mut io::stdin().lock())?;
    let draw = move || {
        let request = Request {
            bytes: &asked.source,
            wanted: asked.wanted,
            fonts: &asked.fonts,
            files: &asked.files,
        };
        if asked.words {
            crate::words(&request).map(WorkerResult::Text)
        } else {
            crate::draw(&request).map(WorkerResult::Page)
        }
    };
    let drawn = std::thread::Builder::new().stack_size(STACK).spawn(draw)?.join();
    let drawn = drawn.map_err(|_| io::ErrorKind::Other)?;
    protocol::tell(&mut io::stdout().lock(), drawn)
}
