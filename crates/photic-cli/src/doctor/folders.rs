//! Where agents keep their sessions.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Below the home of the user, as far as they are there.
const USUAL: [&str; 10] = [
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

/// Variables by which agents are told to keep them elsewhere, and what is below.
const MOVED: [(&str, &str); 5] = [
    ("CLAUDE_CONFIG_DIR", "projects"),
    ("CODEX_HOME", "sessions"),
    ("PI_CODING_AGENT_DIR", "sessions"),
    ("XDG_DATA_HOME", "opencode"),
    ("XDG_DATA_HOME", "goose/sessions"),
];

/// Folders go no deeper than agents make them.
const DEPTH: usize = 8;

pub(super) fn usual() -> Vec<PathBuf> {
    let home = std::env::home_dir().into_iter();
    let usual = home.flat_map(|home| USUAL.map(|folder| home.join(folder)));
    let moved = MOVED.iter().filter_map(|(variable, folder)| {
        let base = std::env::var_os(variable).filter(|base| !base.is_empty())?;
        Some(Path::new(&base).join(folder))
    });
    let mut folders: Vec<PathBuf> = usual.chain(moved).filter(|folder| folder.is_dir()).collect();
    folders.sort();
    folders.dedup();
    folders
}

/// The files below some folders that could be sessions, the newest first.
pub(super) fn sessions(folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut found: Vec<(SystemTime, PathBuf)> = Vec::new();
    let mut open: Vec<(PathBuf, usize)> = folders.iter().map(|one| (one.clone(), 0)).collect();
    while let Some((folder, depth)) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            // Links are not followed: they may lead in a circle.
            let (Ok(data), path) = (entry.metadata(), entry.path()) else { continue };
            if data.is_dir() && depth < DEPTH {
                open.push((path, depth + 1));
            } else if data.is_file() && could_be(&path) {
                found.push((data.modified().unwrap_or(SystemTime::UNIX_EPOCH), path));
            }
        }
    }
    found.sort_by(|left, right| right.cmp(left));
    found.into_iter().map(|(_, path)| path).collect()
}

fn could_be(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("jsonl" | "json" | "db"))
}
