//! What was found, dated: printed, exported and imported.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use photic_gateway::learned::{Entry, Evidence};
use photic_probe::Report;
use serde::{Deserialize, Serialize};

const VERSION: u32 = 1;

/// Reports of one moment.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Table {
    version: u32,
    /// When, in seconds since 1970.
    at: u64,
    pub(crate) reports: Vec<Report>,
}

impl Table {
    /// The table of reports of this moment, which get its date.
    pub(super) fn of(mut reports: Vec<Report>) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let at = since.map_or(0, |since| since.as_secs());
        for report in &mut reports {
            report.as_of = Evidence::probed(at, "").day();
        }
        Self { version: VERSION, at, reports }
    }

    /// What it teaches.
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

    /// The table that a file holds.
    pub(crate) fn read(file: &Path) -> anyhow::Result<Self> {
        let name = file.display();
        let text = std::fs::read(file).with_context(|| format!("cannot read `{name}`"))?;
        let table: Self =
            serde_json::from_slice(&text).with_context(|| format!("`{name}` is no table"))?;
        anyhow::ensure!(table.version == VERSION, "`{name}` is of another version");
        Ok(table)
    }
}
