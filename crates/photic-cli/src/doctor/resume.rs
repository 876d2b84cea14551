//! The command by which an agent goes on with a session. The table is `data/resume.toml`.

use std::path::Path;

use anyhow::Context as _;
use photic_doctor::{Diagnosis, SessionFormat};
use serde::{Deserialize, Serialize};

use crate::style::quoted;

/// The table.
static TABLE: &str = include_str!("../../data/resume.toml");

/// The commands of an agent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Agent {
    format: String,
    #[expect(dead_code, reason = "for readers of the table")]
    version: String,
    by_id: String,
    latest: String,
    /// `true` if the agent looks for sessions of the folder that it is started in.
    folder: bool,
    #[expect(dead_code, reason = "for readers of the table")]
    source: String,
    #[expect(dead_code, reason = "for readers of the table")]
    ran: String,
}

/// The command that goes on with a session.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Resume {
    /// The command.
    pub(super) command: String,
    /// The folder to run it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) folder: Option<String>,
    /// `true` if the command names the file, so that a copy in any place can be resumed.
    #[serde(skip)]
    pub(super) is_of_file: bool,
}

impl Resume {
    /// The command for a session; `None` for requests, which no agent goes on with.
    pub(super) fn of(file: &Path, found: &Diagnosis) -> anyhow::Result<Option<Self>> {
        if matches!(found.format, SessionFormat::Request(_)) {
            return Ok(None);
        }
        let agents = table()?;
        let Some(agent) = agents.iter().find(|agent| agent.format == found.format.name()) else {
            return Ok(None);
        };
        let file = file.to_string_lossy();
        // Only the table is filled in: an ID is what the session says, and may hold such a word.
        let is_of_file = agent.by_id.contains("{file}");
        let command = match &found.session {
            _ if is_of_file => agent.by_id.replace("{file}", &quoted(&file)),
            Some(session) => agent.by_id.replace("{id}", &quoted(&session.id)),
            None => agent.latest.clone(),
        };
        let folder = found.session.as_ref().and_then(|session| session.folder.clone());
        Ok(Some(Self { command, folder: folder.filter(|_| agent.folder), is_of_file }))
    }

    /// The command with its folder, as a line for a shell.
    pub(super) fn line(&self) -> String {
        match &self.folder {
            Some(folder) => format!("cd {} && {}", quoted(folder), self.command),
            None => self.command.clone(),
        }
    }
}

/// Reads the table.
fn table() -> anyhow::Result<Vec<Agent>> {
    #[derive(Deserialize)]
    struct Table {
        agent: Vec<Agent>,
    }
    let table: Table = toml::from_str(TABLE).context("cannot read the table of agents")?;
    Ok(table.agent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_of_sessions_has_commands() {
        let agents = table().unwrap();
        for format in SessionFormat::SESSIONS {
            let agent = agents.iter().find(|agent| agent.format == format.name());
            let agent = agent.unwrap_or_else(|| panic!("{}", format.name()));
            assert!(agent.by_id.contains("{id}") || agent.by_id.contains("{file}"));
            assert!(!agent.latest.contains('{'));
        }
        assert_eq!(agents.len(), SessionFormat::SESSIONS.len());
    }

    #[test]
    fn a_folder_comes_before_the_command() {
        let command = "claude --resume s".to_owned();
        let folder = Some("/my work".to_owned());
        let resume = Resume { command, folder, is_of_file: false };
        assert_eq!(resume.line(), "cd '/my work' && claude --resume s");
    }
}
