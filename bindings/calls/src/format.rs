//! The formats of bodies that are read.

use photic::{Dump, Finding, Transcript, UnknownName, Wire};

/// The format of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyFormat {
    /// A request of a wire.
    Wire(Wire),
    /// A conversation as a framework stores it.
    Dump(Dump),
}

impl BodyFormat {
    /// Finds a format by its name.
    pub fn from_name(name: &str) -> Result<Self, UnknownName> {
        let dump = || Dump::from_name(name).map(Self::Dump);
        match Wire::from_name(name).map(Self::Wire).or_else(dump) {
            Some(format) => Ok(format),
            None => name.parse().map(Self::Wire),
        }
    }

    /// Detects the format of a body.
    pub fn detect(body: &[u8]) -> Option<Self> {
        let dump = photic::detect_dump(body).map(Self::Dump);
        dump.or_else(|| photic::detect(body).map(Self::Wire))
    }

    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wire(wire) => wire.name(),
            Self::Dump(dump) => dump.name(),
        }
    }

    /// Lifts a body of this format.
    pub fn lift(self, body: &[u8]) -> (Transcript<'_>, Vec<Finding>) {
        match self {
            Self::Wire(wire) => photic::lift(wire, body),
            Self::Dump(dump) => photic::lift_dump(dump, body),
        }
    }
}
