//! What agents were promised, a line each: the evidence that the stores are held to.
//!
//! Owns the format of the lines. Holds no keys and no pictures, only what they are called.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};
use std::path::Path;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Line {
    /// A turn that was answered.
    Turn(Turn),
    /// A picture that was taken in, under a name.
    Upload {
        /// Whose it is.
        tenant: String,
        /// How it is to be asked for.
        reference: String,
        /// BLAKE3 of its bytes.
        picture: String,
    },
    /// An answer that was no success.
    Failure {
        /// Whose request it was.
        tenant: String,
        /// The status.
        status: u16,
        /// What was said.
        says: String,
    },
}

/// A turn that was answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// Whose it is.
    pub tenant: String,
    /// Which session of the agents.
    pub session: u32,
    /// Which turn of it, from 0.
    pub turn: u32,
    /// The session and the turn as the record names them, where it was promised: `s_…/3`.
    pub acknowledged: Option<String>,
    /// BLAKE3 of the body that the upstream got.
    pub upstream: String,
    /// BLAKE3 of the picture that is new in it.
    pub picture: Option<String>,
}

impl Turn {
    /// The session and the number that were promised.
    pub fn promise(&self) -> Option<(&str, u64)> {
        let (session, number) = self.acknowledged.as_deref()?.split_once('/')?;
        Some((session, number.parse().ok()?))
    }
}

/// A journal that is being written, by one thread.
#[derive(Debug)]
pub struct Journal(RefCell<BufWriter<File>>);

impl Journal {
    /// Begins one.
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Self(RefCell::new(BufWriter::new(File::create(path)?))))
    }

    /// Adds a line.
    pub fn write(&self, line: &Line) -> io::Result<()> {
        let mut file = self.0.borrow_mut();
        serde_json::to_writer(&mut *file, line)?;
        file.write_all(b"\n")
    }

    /// Sees to it that all of it is in the file.
    pub fn flush(&self) -> io::Result<()> {
        self.0.borrow_mut().flush()
    }
}

/// Reads a journal.
pub fn read(path: &Path) -> anyhow::Result<Vec<Line>> {
    let file = File::open(path).context("the journal cannot be opened")?;
    let lines = BufReader::new(file).lines();
    lines.map(|line| Ok(serde_json::from_str(&line?)?)).collect()
}
