//! Settings of the record of conversations.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Recording of conversations on disk.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecordConfig {
    /// Directory of the record and its blobs. If unset or empty, nothing is recorded.
    #[schemars(example = "sessions/")]
    pub directory: Option<PathBuf>,
    /// If true, notices contain references to images, so that a model with the `view` tool of
    /// `photic mcp` over the same directory can look at them again. Images that users attached may
    /// then be replaced by notices, like those that tools returned.
    pub references: bool,
    /// If true, a reply waits until its turn is recorded, and its header `x-photic-turn` names the
    /// turn. A reply without that header was not recorded.
    pub acknowledge: bool,
    /// If true, the reply to each turn is recorded, up to 1 MiB. Without it, the record has an answer
    /// of the model only if a later request of the client contains it.
    pub replies: bool,
}

impl RecordConfig {
    pub(crate) fn directory(&self) -> Option<&Path> {
        self.directory.as_deref().filter(|path| !path.as_os_str().is_empty())
    }
}
