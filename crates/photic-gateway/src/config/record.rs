//! Whether conversations are kept, and where.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether conversations are kept, and where.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecordConfig {
    /// The directory of the record and its blobs; without one, or with an empty name, nothing is
    /// kept.
    #[schemars(example = "sessions/")]
    pub directory: Option<PathBuf>,
    /// Whether notices name pictures, so that a model with the `view` tool of `photic mcp` over the
    /// same directory can ask to see them again. What a person attached then gives way like what a
    /// tool returned.
    pub references: bool,
    /// Whether a reply waits until its turn is kept. Its header `x-photic-turn` then names the turn;
    /// a reply without it was not kept.
    pub acknowledge: bool,
}

impl RecordConfig {
    pub(crate) fn directory(&self) -> Option<&Path> {
        self.directory.as_deref().filter(|path| !path.as_os_str().is_empty())
    }
}
