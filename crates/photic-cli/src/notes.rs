//! Notes about what the provider of a request keeps, removes or changes by itself.

use photic::Note;
use serde::Serialize;

use crate::style::{CYAN, DIM};

/// A note with its explanation.
#[derive(Serialize)]
pub(crate) struct ExplainedNote<'n> {
    #[serde(flatten)]
    note: &'n Note,
    says: &'static str,
}

/// Returns notes with their explanations.
pub(crate) fn explained_notes(notes: &[Note]) -> Vec<ExplainedNote<'_>> {
    notes.iter().map(|note| ExplainedNote { note, says: note.effect.says() }).collect()
}

/// Prints notes.
pub(crate) fn write_notes(out: &mut impl std::io::Write, notes: &[Note]) -> anyhow::Result<()> {
    for note in notes {
        let (field, says) = (&note.field, note.effect.says());
        writeln!(out, "{CYAN}note{CYAN:#}: `{field}` {DIM}at {}{DIM:#}: {says}", note.at)?;
    }
    Ok(())
}
