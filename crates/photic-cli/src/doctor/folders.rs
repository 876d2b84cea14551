//! The folders in which agents keep their sessions.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Default folders, relative to the user's home.
const DEFAULT_FOLDERS: [&str; 10] = [
    ".claude/projects",
    ".codex/sessions",
    ".pi/agent/sessions",
    ".omp/agent/sessions",
    ".gemini/tmp",
    ".qwen/projects",
    ".local/share/opencode",
    ".local/share/goose/sessions",
    "Library/Application Support/opencode",
    "Library/Application Support/Block/goose/sessions",
];

/// Environment variables that move the folders, and the folder below each.
const VARIABLE_FOLDERS: [(&str, &str); 5] = [
    ("CLAUDE_CONFIG_DIR", "projects"),
    ("CODEX_HOME", "sessions"),
    ("PI_CODING_AGENT_DIR", "sessions"),
    ("XDG_DATA_HOME", "opencode"),
    ("XDG_DATA_HOME", "goose/sessions"),
];

/// Largest depth of folders that are searched.
const MAX_DEPTH: usize = 8;

/// The folders that exist on this machine.
pub(super) fn usual() -> Vec<PathBuf> {
    let home = std::env::home_dir().into_iter();
    let usual = home.flat_map(|home| DEFAULT_FOLDERS.map(|folder| home.join(folder)));
    let moved = VARIABLE_FOLDERS.iter().filter_map(|(variable, folder)| {
        let base = std::env::var_os(variable).filter(|base| !base.is_empty())?;
        Some(Path::new(&base).join(folder))
    });
    let mut folders: Vec<PathBuf> = usual.chain(moved).filter(|folder| folder.is_dir()).collect();
    folders.sort();
    folders.dedup();
    folders
}

/// The files below some folders that may be sessions, the newest first.
pub(super) fn sessions(folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut found: Vec<(SystemTime, PathBuf)> = Vec::new();
    let mut open: Vec<(PathBuf, usize)> = folders.iter().map(|one| (one.clone(), 0)).collect();
    while let Some((folder, depth)) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            // Links are not followed: they may form a circle.
            let (Ok(data), path) = (entry.metadata(), entry.path()) else { continue };
            if data.is_dir() && depth < MAX_DEPTH {
                open.push((path, depth + 1));
            } else if data.is_file() && could_be(&path) {
                found.push((data.modified().unwrap_or(SystemTime::UNIX_EPOCH), path));
            }
        }
    }
    found.sort_by(|left, right| right.cmp(left));
    found.into_iter().map(|(_, path)| path).collect()
}

/// Returns `true` for file extensions of sessions.
fn could_be(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("jsonl" | "json" | "db"))
}
