//! A turn that was written to the record.

use photic_store::SessionId;

/// The turn of a session that was written to the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) session: SessionId,
    pub(crate) number: u64,
}
