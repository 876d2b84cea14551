//! Prints the findings of a session in a few lines: `diagnose SESSION [MODEL]`.
//!
//! `tests/e2e/suites/93-doctor` measures it: it does what `photic doctor` does without the output.

use std::path::PathBuf;

use photic_doctor::{DiagnosisTarget, diagnose};

#[expect(clippy::print_stdout, reason = "an example speaks")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args_os().skip(1);
    let session: PathBuf = words.next().ok_or("usage: diagnose SESSION [MODEL]")?.into();
    let model = words.next().map(|model| model.to_string_lossy().into_owned());
    let found = diagnose(&session, &DiagnosisTarget { model, wire: None }, &mut |_| {})?;
    for medium in found.broken() {
        if let Some(ailment) = &medium.ailment {
            println!("{} at {}: {}", ailment.code.name(), medium.at, ailment.why);
        }
    }
    println!("{} of {} media make it sick", found.broken().count(), found.media.len());
    Ok(())
}
