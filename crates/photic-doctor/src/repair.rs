//! The same session with its sick media put right: nothing else changes by a byte.
//!
//! The original is only read. What is written is written beside its place and renamed when it is
//! whole, so that nobody ever finds half a session.

use std::fs::{File, Metadata};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use photic::json::Doc;
use photic::media::Source;

use crate::diagnose::{Ailment, Diagnosis, Medium, Question, Remedy, diagnose};
use crate::edit::{Change, apply};
use crate::error::Error;
use crate::format::{Container, Format, contained};
use crate::measure::{Spot, spots};
use crate::text::Lines;
use crate::{replace, request, table};

/// What was done.
#[derive(Clone, Debug)]
pub struct Repaired {
    /// What was wrong.
    pub diagnosis: Diagnosis,
    /// Media that are shown as other pictures.
    pub remade: usize,
    /// Media that were labeled or spelled anew.
    pub relabeled: usize,
    /// Media that words took the place of.
    pub noticed: usize,
    /// Bytes of what was written.
    pub bytes: u64,
}

/// Writes a repaired session to `to`; nothing at all if there is nothing to repair.
pub fn repair(
    path: &Path,
    to: &Path,
    question: &Question,
    progress: &mut dyn FnMut(u64),
) -> Result<Option<Repaired>, Error> {
    let before = identity(path)?;
    let diagnosis = diagnose(path, question, progress)?;
    if !diagnosis.is_sick() {
        return Ok(None);
    }
    let (format, container) = contained(path)?;
    let mut surgeon = Surgeon::new(format, diagnosis);
    match container {
        Container::Lines => {
            let mut lines = Lines::open(path)?;
            let mut out = Fresh::create(to)?;
            while let Some(line) = lines.next_line()? {
                match surgeon.record(line) {
                    Some(new) => out.write(&filled(new, line, format))?,
                    None => out.write(line)?,
                }
            }
            out.finish(path, &before)?;
        }
        Container::Document => {
            let body = std::fs::read(path).map_err(|error| Error::Read(path.to_owned(), error))?;
            let new = match format {
                Format::Request(wire) => {
                    surgeon.done.remade = surgeon.done.diagnosis.findings.len();
                    let profile = &surgeon.done.diagnosis.profiles[&None];
                    Some(request::repair(wire, &body, profile))
                }
                _ => surgeon.record(&body),
            };
            let mut out = Fresh::create(to)?;
            out.write(new.as_deref().unwrap_or(&body))?;
            out.finish(path, &before)?;
        }
        Container::Table(table) => {
            let fresh = beside(to);
            table::copy(path, &fresh)?;
            table::rewrite(&fresh, table, &mut |text| surgeon.record(text))?;
            settle(path, &before, &fresh, to)?;
        }
    }
    let bytes = std::fs::metadata(to).map_err(|error| Error::Read(to.to_owned(), error))?.len();
    Ok(Some(Repaired { bytes, ..surgeon.done }))
}

/// Walks through the records again, and knows what is to become of the next medium.
struct Surgeon {
    format: Format,
    /// The number of the next medium.
    next: usize,
    done: Repaired,
}

impl Surgeon {
    fn new(format: Format, diagnosis: Diagnosis) -> Self {
        let done = Repaired { diagnosis, remade: 0, relabeled: 0, noticed: 0, bytes: 0 };
        Self { format, next: 0, done }
    }

    /// The record as it should be; nothing if it is fine.
    fn record(&mut self, text: &[u8]) -> Option<Vec<u8>> {
        let doc = Doc::read(text)?;
        let entry = self.format.read(doc.root()?);
        let spots = spots(&entry);
        let first = self.next;
        self.next += spots.len();
        let media = self.done.diagnosis.media.get(first..self.next).unwrap_or_default().to_vec();
        let (mut changes, mut shorter) = (Vec::new(), Vec::new());
        for (spot, medium) in spots.into_iter().zip(&media) {
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
            // The label of another type may be longer, and a line must not be.
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

    fn change(&self, spot: &Spot<'_, '_>, medium: &Medium, ailment: &Ailment) -> Change {
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
            // Only bytes that could be read are ever spelled anew.
            (Remedy::Respell, None) => Change::Words(String::new()),
        }
    }
}

/// Blanks before the end of a line make it as long as it was, where somebody counts on it.
fn filled(mut new: Vec<u8>, old: &[u8], format: Format) -> Vec<u8> {
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

/// A file that takes its place when it is whole.
pub(crate) struct Fresh {
    out: BufWriter<File>,
    part: PathBuf,
    to: PathBuf,
}

impl Fresh {
    pub(crate) fn create(to: &Path) -> Result<Self, Error> {
        let part = beside(to);
        // It gets the mode of the original when it takes its place.
        let file = photic_store::private::replace_file(&part)
            .map_err(|error| Error::Write(part.clone(), error))?;
        Ok(Self { out: BufWriter::with_capacity(1 << 20, file), part, to: to.to_owned() })
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.out.write_all(bytes).map_err(|error| Error::Write(self.part.clone(), error))
    }

    /// Puts it in its place, unless what it was made from is another file by now.
    pub(crate) fn finish(mut self, from: &Path, before: &Identity) -> Result<(), Error> {
        let done = self.out.flush().and_then(|()| self.out.get_ref().sync_all());
        done.map_err(|error| Error::Write(self.part.clone(), error))?;
        settle(from, before, &self.part, &self.to)
    }
}

/// What tells one state of a file, and of a log beside it, from another.
pub(crate) type Identity = ((u64, Option<SystemTime>), Option<(u64, Option<SystemTime>)>);

pub(crate) fn identity(path: &Path) -> Result<Identity, Error> {
    let of = |data: Metadata| (data.len(), data.modified().ok());
    let file = std::fs::metadata(path).map_err(|error| Error::Read(path.to_owned(), error))?;
    Ok((of(file), replace::log_of(path).map(of)))
}

fn settle(from: &Path, before: &Identity, fresh: &Path, to: &Path) -> Result<(), Error> {
    let write = |error| Error::Write(to.to_owned(), error);
    if identity(from)? != *before {
        std::fs::remove_file(fresh).map_err(write)?;
        return Err(Error::Changed(from.to_owned()));
    }
    if let Ok(data) = std::fs::metadata(from) {
        // A session may hold secrets: nobody else may read the copy who could not read it.
        std::fs::set_permissions(fresh, data.permissions()).map_err(write)?;
    }
    std::fs::rename(fresh, to).map_err(write)
}

fn beside(to: &Path) -> PathBuf {
    replace::suffixed(to, ".part")
}
