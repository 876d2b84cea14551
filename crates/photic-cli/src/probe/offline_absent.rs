//! The model of a build without the feature `offline-probe`: none.

use photic_probe::Task;

use crate::style::Hint;

/// Name of the model in reports.
pub(super) const MODEL: &str = "none";
/// No tasks: there is no model for them.
pub(super) const TASKS: [Task; 0] = [];

/// A server that cannot be started.
pub(super) struct ChartReaderServer {
    /// Base URL of the server.
    pub(super) address: String,
}

impl ChartReaderServer {
    /// Fails: this build has no weights.
    pub(super) fn start() -> anyhow::Result<Self> {
        let hint = Hint(
            "install photic with its default features, or name a model: `photic probe --model MODEL`",
        );
        Err(anyhow::anyhow!("this build of photic has no model for `--offline`").context(hint))
    }
}
