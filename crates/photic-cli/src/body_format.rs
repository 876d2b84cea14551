//! The formats of bodies that commands read.

use photic::{Dump, Finding, Transcript, Wire};
use serde::Serialize;

/// The format of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyFormat {
    /// A request of a wire.
    Wire(Wire),
    /// A conversation as a framework stores it.
    Dump(Dump),
}

impl BodyFormat {
    /// The names of all formats.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        Wire::ALL.map(Wire::name).into_iter().chain(Dump::ALL.map(Dump::name))
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let dump = || Dump::from_name(name).map(Self::Dump);
        Wire::from_name(name).map(Self::Wire).or_else(dump)
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Wire(wire) => wire.name(),
            Self::Dump(dump) => dump.name(),
        }
    }

    /// Lifts a body of this format.
    pub(crate) fn lift(self, body: &[u8]) -> (Transcript<'_>, Vec<Finding>) {
        match self {
            Self::Wire(wire) => photic::lift(wire, body),
            Self::Dump(dump) => photic::lift_dump(dump, body),
        }
    }
}

impl Serialize for BodyFormat {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
