//! Writes a copy of a session with its media repaired. Nothing else changes by a byte.
//!
//! The original is only read. The copy is written under a temporary name and renamed when it is
//! complete.

use std::fs::{File, Metadata};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use photic::json::Doc;
use photic::media::Source;

use crate::diagnose::{Diagnosis, DiagnosisTarget, Medium, Problem, Remedy, diagnose};
use crate::edit::{Change, apply};
use crate::error::Error;
use crate::format::kind::SessionFormat;
use crate::format::{Container, contained};
use crate::lines::Lines;
use crate::media_in_record::{LocatedMedia, located_media};
use crate::{replace, request, sqlite};

/// The result of a repair.
#[derive(Clone, Debug)]
pub struct RepairReport {
    /// The problems before the repair.
    pub diagnosis: Diagnosis,
    /// Number of media that were converted.
    pub remade: usize,
    /// Number of media whose type or spelling was corrected.
    pub relabeled: usize,
    /// Number of media that were replaced by a notice.
    pub noticed: usize,
    /// `true` if the last line was cut off and is left out; [`Diagnosis::cut_line`] tells which.
    pub is_shortened: bool,
    /// Bytes of the written file.
    pub bytes: u64,
}

/// Writes a repaired session to `to`. Returns `None`, and writes nothing, if there is nothing to
/// repair.
pub fn repair(
    path: &Path,
    to: &Path,
    question: &DiagnosisTarget,
    progress: &mut dyn FnMut(u64),
) -> Result<Option<RepairReport>, Error> {
    let before = identity(path)?;
    let diagnosis = diagnose(path, question, progress)?;
    if !diagnosis.is_broken() {
        return Ok(None);
    }
    let (format, container) = contained(path)?;
    let mut repairer = Repairer::new(format, diagnosis);
    match container {
        Container::Lines => {
            let mut lines = Lines::open(path)?;
            let mut out = AtomicFile::create(to)?;
            let cut = repairer.done.diagnosis.cut_line.as_ref().map(|line| line.record);
            let mut number = 0;
            while let Some(line) = lines.next_line()? {
                number += 1;
                if cut == Some(number) {
                    repairer.done.is_shortened = true;
                    continue;
                }
                match repairer.record(line) {
                    Some(new) => out.write(&padded(new, line, format))?,
                    None => out.write(line)?,
                }
            }
            out.finish(path, &before)?;
        }
        Container::Document => {
            let body = std::fs::read(path).map_err(|error| Error::Read(path.to_owned(), error))?;
            let new = match format {
                SessionFormat::Request(wire) => {
                    repairer.done.remade = repairer.done.diagnosis.findings.len();
                    let profile = &repairer.done.diagnosis.profiles[&None];
                    Some(request::repair(wire, &body, profile))
                }
                _ => repairer.record(&body),
            };
            let mut out = AtomicFile::create(to)?;
            out.write(new.as_deref().unwrap_or(&body))?;
            out.finish(path, &before)?;
        }
        Container::SessionTable(table) => {
            let fresh = temporary_name(to);
            sqlite::copy(path, &fresh)?;
            sqlite::rewrite(&fresh, table, &mut |text| repairer.record(text))?;
            rename_finished(path, &before, &fresh, to)?;
        }
    }
    let bytes = std::fs::metadata(to).map_err(|error| Error::Read(to.to_owned(), error))?.len();
    Ok(Some(RepairReport { bytes, ..repairer.done }))
}

/// Goes through the records again and repairs their media.
struct Repairer {
    format: SessionFormat,
    /// The number of the next medium.
    next: usize,
    done: RepairReport,
}

impl Repairer {
    fn new(format: SessionFormat, diagnosis: Diagnosis) -> Self {
        let done = RepairReport {
            diagnosis,
            remade: 0,
            relabeled: 0,
            noticed: 0,
            is_shortened: false,
            bytes: 0,
        };
        Self { format, next: 0, done }
    }

    /// The repaired record; `None` if it needs no repair.
    fn record(&mut self, text: &[u8]) -> Option<Vec<u8>> {
        let doc = Doc::read(text)?;
        let entry = self.format.read(doc.root()?);
        let located_media = located_media(&entry);
        let first = self.next;
        self.next += located_media.len();
        let media = self.done.diagnosis.media.get(first..self.next).unwrap_or_default().to_vec();
        let (mut changes, mut shorter) = (Vec::new(), Vec::new());
        for (spot, medium) in located_media.into_iter().zip(&media) {
            if let Some(ailment) = &medium.ailment {
                changes.push((spot, self.change(&spot, medium, ailment)));
                shorter.push(match &ailment.remedy {
                    Remedy::Relabel(words) => Some(words.clone()),
                    Remedy::Respell | Remedy::Remake(..) | Remedy::Notice(_) => None,
                });
            }
        }
        if changes.is_empty() {
            return None;
        }
        let mut new = apply(text, &changes);
        if self.format.keeps_offsets() && new.len() > text.len() {
            // The name of another type may be longer, but the line must not be.
            for ((_, change), words) in changes.iter_mut().zip(&shorter) {
                if let Some(words) = words {
                    *change = Change::Words(words.clone());
                }
            }
            new = apply(text, &changes);
        }
        for (_, change) in &changes {
            match change {
                Change::Label(_) => self.done.relabeled += 1,
                Change::Bytes { .. } => self.done.remade += 1,
                Change::Words(_) => self.done.noticed += 1,
            }
        }
        Some(new)
    }

    /// The change that repairs a medium.
    fn change(&self, spot: &LocatedMedia<'_, '_>, medium: &Medium, ailment: &Problem) -> Change {
        let media = spot.block.media();
        let payload = match &media.source {
            Source::Data(payload) => Some(payload),
            Source::Text(_) | Source::Url(_) | Source::File(_) | Source::Missing => None,
        };
        let declared = media.declared.as_ref().map(|name| name.decode().into_owned());
        let media_type = medium.media_type.map(str::to_owned).or(declared).unwrap_or_default();
        match (&ailment.remedy, payload) {
            (Remedy::Relabel(_), Some(_)) => Change::Label(media_type),
            (Remedy::Respell, Some(payload)) => {
                let base64 = String::from_utf8_lossy(payload.base64()).into_owned();
                Change::Bytes { media_type, base64 }
            }
            (Remedy::Remake(recipe, words), Some(payload)) => {
                let profile = &self.done.diagnosis.profiles[&medium.at.conversation];
                let limits = photic_pixels::DecodeLimits::default();
                match photic_pixels::fitted(&payload.decode(), recipe.fit(), profile, &limits) {
                    Ok(made) => Change::Bytes { media_type: made.media_type, base64: made.base64 },
                    Err(_) => Change::Words(words.clone()),
                }
            }
            (Remedy::Notice(words) | Remedy::Remake(_, words) | Remedy::Relabel(words), _) => {
                Change::Words(words.clone())
            }
            // Only readable bytes get this remedy.
            (Remedy::Respell, None) => Change::Words(String::new()),
        }
    }
}

/// Pads a line with blanks to its old length, if an index stores offsets.
fn padded(mut new: Vec<u8>, old: &[u8], format: SessionFormat) -> Vec<u8> {
    if format.keeps_offsets() && new.len() < old.len() {
        let has_end = new.ends_with(b"\n");
        if has_end {
            new.pop();
        }
        let length = old.len() - usize::from(has_end);
        new.resize(length, b' ');
        if has_end {
            new.push(b'\n');
        }
    }
    new
}

/// A file that gets its name when it is complete.
pub(crate) struct AtomicFile {
    out: BufWriter<File>,
    part: PathBuf,
    to: PathBuf,
}

impl AtomicFile {
    /// Creates the temporary file.
    pub(crate) fn create(to: &Path) -> Result<Self, Error> {
        let part = temporary_name(to);
        // It gets the permissions of the original at the end.
        let file = photic_store::private::replace_file(&part)
            .map_err(|error| Error::Write(part.clone(), error))?;
        Ok(Self { out: BufWriter::with_capacity(1 << 20, file), part, to: to.to_owned() })
    }

    /// Appends bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.out.write_all(bytes).map_err(|error| Error::Write(self.part.clone(), error))
    }

    /// Renames the file, unless the original has changed.
    pub(crate) fn finish(mut self, from: &Path, before: &Identity) -> Result<(), Error> {
        let done = self.out.flush().and_then(|()| self.out.get_ref().sync_all());
        done.map_err(|error| Error::Write(self.part.clone(), error))?;
        rename_finished(from, before, &self.part, &self.to)
    }
}

/// Size and time of a file and of its log, to detect changes.
pub(crate) type Identity = ((u64, Option<SystemTime>), Option<(u64, Option<SystemTime>)>);

/// The current identity of a file.
pub(crate) fn identity(path: &Path) -> Result<Identity, Error> {
    let of = |data: Metadata| (data.len(), data.modified().ok());
    let file = std::fs::metadata(path).map_err(|error| Error::Read(path.to_owned(), error))?;
    Ok((of(file), replace::log_of(path).map(of)))
}

/// Renames a finished file, unless the original has changed.
fn rename_finished(from: &Path, before: &Identity, fresh: &Path, to: &Path) -> Result<(), Error> {
    let write = |error| Error::Write(to.to_owned(), error);
    if identity(from)? != *before {
        std::fs::remove_file(fresh).map_err(write)?;
        return Err(Error::Changed(from.to_owned()));
    }
    if let Ok(data) = std::fs::metadata(from) {
        // A session may hold secrets: the copy must not be readable by more users.
        std::fs::set_permissions(fresh, data.permissions()).map_err(write)?;
    }
    std::fs::rename(fresh, to).map_err(write)
}

/// The temporary name of a file.
fn temporary_name(to: &Path) -> PathBuf {
    replace::suffixed(to, ".part")
}
