//! The journal of the agents: one line for each acknowledgement. The stores are checked against it.
//!
//! It contains no keys and no pictures, only their names.

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
    /// An answered turn.
    Turn(Turn),
    /// An uploaded picture.
    Upload {
        /// Name of the tenant.
        tenant: String,
        /// Its reference.
        reference: String,
        /// BLAKE3 of its bytes.
        picture: String,
    },
    /// An answer that was not a success.
    Failure {
        /// Name of the tenant.
        tenant: String,
        /// The status.
        status: u16,
        /// The message.
        says: String,
    },
}

/// An answered turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// Name of the tenant.
    pub tenant: String,
    /// Number of the session among the agents.
    pub session: u32,
    /// Number of the turn, from 0.
    pub turn: u32,
    /// Session and turn as named by the record, if it was acknowledged: `s_…/3`.
    pub acknowledged: Option<String>,
    /// BLAKE3 of the body that the provider received.
    pub upstream: String,
    /// BLAKE3 of the new picture in it.
    pub picture: Option<String>,
}

impl Turn {
    /// Returns the acknowledged session and number.
    pub fn promise(&self) -> Option<(&str, u64)> {
        let (session, number) = self.acknowledged.as_deref()?.split_once('/')?;
        Some((session, number.parse().ok()?))
    }
}

/// A journal that one thread writes.
#[derive(Debug)]
pub struct Journal(RefCell<BufWriter<File>>);

impl Journal {
    /// Creates a journal.
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Self(RefCell::new(BufWriter::new(File::create(path)?))))
    }

    /// Appends a line.
    pub fn write(&self, line: &Line) -> io::Result<()> {
        let mut file = self.0.borrow_mut();
        serde_json::to_writer(&mut *file, line)?;
        file.write_all(b"\n")
    }

    /// Writes all buffered lines to the file.
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
