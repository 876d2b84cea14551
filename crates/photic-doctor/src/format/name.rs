//! The name by which an agent resumes a session, and the folder it belongs to.

use std::path::Path;

use photic::json::Value;
use serde::Serialize;

use super::kind::SessionFormat;
use super::record::string;

/// The name of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SessionName {
    /// The ID that the agent resumes it by.
    pub id: String,
    /// The folder in which the agent was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
}

impl SessionName {
    /// Reads the name from a record that has one.
    pub(crate) fn of_record(format: SessionFormat, root: Value<'_, '_>) -> Option<Self> {
        let is = |kind: &str| root.get("type").is_some_and(|name| name.is(kind));
        let (object, member) = match format {
            SessionFormat::ClaudeCode | SessionFormat::QwenCode | SessionFormat::GeminiCli => {
                (root, "sessionId")
            }
            SessionFormat::Codex if is("session_meta") => (root.get("payload")?, "id"),
            SessionFormat::Pi if is("session") => (root, "id"),
            _ => return None,
        };
        Some(Self { id: string(object, member)?, folder: string(object, "cwd") })
    }

    /// Corrects the name by that of the file: Claude Code copies records of earlier sessions with
    /// their ID, and finds a session by the name of its file.
    pub(crate) fn corrected(mut self, format: SessionFormat, path: &Path) -> Self {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if format == SessionFormat::ClaudeCode && is_uuid(stem) {
            stem.clone_into(&mut self.id);
        }
        self
    }
}

/// Returns `true` for a UUID.
fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.concat().bytes().all(|digit| digit.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_claude_code_names_the_session() {
        let name = SessionName { id: "old".to_owned(), folder: None };
        let file = "0c9d1d2e-89ab-4cde-8f01-23456789abcd";
        let path = std::path::PathBuf::from(format!("/x/{file}.jsonl"));
        let corrected = |format, path: &Path| name.clone().corrected(format, path).id;
        assert_eq!(corrected(SessionFormat::ClaudeCode, &path), file);
        assert_eq!(corrected(SessionFormat::ClaudeCode, Path::new("/x/copy.jsonl")), "old");
        assert_eq!(corrected(SessionFormat::Codex, &path), "old");
    }
}
