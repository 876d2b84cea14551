//! Notes about what the provider of a request keeps, removes or changes by itself.

use photic::Note;

use crate::style::{CYAN, DIM};

/// Prints notes.
pub(crate) fn write_notes(out: &mut impl std::io::Write, notes: &[Note]) -> anyhow::Result<()> {
    for note in notes {
        let (field, says) = (&note.field, note.effect.says());
        writeln!(out, "{CYAN}note{CYAN:#}: `{field}` {DIM}at {}{DIM:#}: {says}", note.at)?;
    }
    Ok(())
}
