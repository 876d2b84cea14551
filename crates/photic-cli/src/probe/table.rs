//! The dated results of a probe: printed, exported and imported.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use photic_gateway::learned::{Entry, Evidence};
use photic_probe::ProbeReport;
use serde::{Deserialize, Serialize};

/// Version of the file format.
const VERSION: u32 = 1;

/// Reports with the time of the test.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ProbeTable {
    version: u32,
    /// Time of the test, in seconds since 1970.
    at: u64,
    pub(crate) reports: Vec<ProbeReport>,
}

impl ProbeTable {
    /// A table of reports, dated now.
    pub(super) fn of(mut reports: Vec<ProbeReport>) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let at = since.map_or(0, |since| since.as_secs());
        for report in &mut reports {
            report.as_of = Evidence::probed(at, "").day();
        }
        Self { version: VERSION, at, reports }
    }

    /// The lessons of all reports.
    pub(crate) fn lessons(&self) -> Vec<Entry> {
        self.reports.iter().flat_map(|report| super::lessons(report, self.at)).collect()
    }

    pub(super) fn json(&self) -> anyhow::Result<String> {
        Ok(serde_json::to_string_pretty(self)?)
    }

    pub(super) fn write(&self, file: &Path) -> anyhow::Result<()> {
        std::fs::write(file, format!("{}\n", self.json()?))
            .with_context(|| format!("cannot write `{}`", file.display()))
    }

    /// Reads an exported table.
    pub(crate) fn read(file: &Path) -> anyhow::Result<Self> {
        let name = file.display();
        let text = std::fs::read(file).with_context(|| format!("cannot read `{name}`"))?;
        let table: Self = serde_json::from_slice(&text)
            .with_context(|| format!("`{name}` is not a table of `photic probe`"))?;
        anyhow::ensure!(table.version == VERSION, "`{name}` has an unsupported version");
        Ok(table)
    }
}
