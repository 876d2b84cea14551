//! Diagnoses a session: reads its file, and hands its records to what knows them.
//!
//! | module | what it diagnoses |
//! |---|---|
//! | `session` | the records of a session, one at a time |
//! | `request` | a file that is one request |
//! | `problem` | a conversation, by the plan for its endpoint |
//! | `cut` | lines that were cut off |
//! | `explain` | the sentence about a problem |
//! | `target` | the endpoint and its profile |
//! | `diagnosis` | the result |

mod cut;
mod diagnosis;
mod explain;
mod problem;
mod request;
mod session;
mod target;

use std::path::Path;

pub use cut::CutLine;
pub use diagnosis::{Diagnosis, MediaPosition, Medium, Problem, Remedy};
pub use target::{DiagnosisTarget, profile};

use crate::error::Error;
use crate::format::kind::SessionFormat;
use crate::format::{Container, contained};
use crate::lines::Lines;
use crate::{replace, sqlite};
use request::of_request;
use session::SessionScan;

/// Diagnoses a session. `progress` is called with the number of bytes read.
///
/// # Errors
///
/// Fails if the file cannot be read or has an unknown format.
pub fn diagnose(
    path: &Path,
    question: &DiagnosisTarget,
    progress: &mut dyn FnMut(u64),
) -> Result<Diagnosis, Error> {
    let (format, container) = contained(path)?;
    let read = |error| Error::Read(path.to_owned(), error);
    let log = replace::log_of(path).map_or(0, |data| data.len());
    let bytes = std::fs::metadata(path).map_err(read)?.len() + log;
    if let SessionFormat::Request(wire) = format {
        let body = std::fs::read(path).map_err(read)?;
        return Ok(of_request(wire, &body, question));
    }
    let mut scan = SessionScan::new(format);
    match container {
        Container::Lines => {
            let mut lines = Lines::open(path)?;
            let mut done = 0;
            while let Some(line) = lines.next_line()? {
                scan.record(line, None);
                done += line.len() as u64;
                progress(done);
            }
        }
        Container::Document => scan.record(&std::fs::read(path).map_err(read)?, None),
        Container::SessionTable(table) => {
            let mut done = 0;
            sqlite::each(path, table, &mut |row| {
                scan.model(&row.conversation, row.model.clone());
                let number = usize::try_from(row.number).unwrap_or_default();
                scan.record(row.text, Some((&row.conversation, number)));
                done += row.text.len() as u64;
                progress(done);
                Ok(())
            })?;
        }
    }
    let mut found = scan.judge(question, bytes);
    found.session = found.session.map(|name| name.corrected(format, path));
    Ok(found)
}
