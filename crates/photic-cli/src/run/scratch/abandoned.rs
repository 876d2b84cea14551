//! Scratch folders that a killed process left behind. They hold copies of configurations, with keys.
//!
//! A folder in use is locked, and the system ends the lock with its process. A number of a process in
//! its name would say less: containers may share the folder, but not the numbers.

use std::fs::File;
use std::path::Path;

/// Locks a folder. Returns `None` if the system cannot.
#[cfg(unix)]
pub(super) fn lock(folder: &Path) -> Option<File> {
    let file = File::open(folder).ok()?;
    file.try_lock().ok()?;
    Some(file)
}

#[cfg(not(unix))]
pub(super) fn lock(_folder: &Path) -> Option<File> {
    None
}

/// Removes the folders of this user whose names have this beginning and whose processes have ended.
#[cfg(unix)]
pub(super) fn remove_all(parent: &Path, beginning: &str) {
    use std::os::unix::fs::MetadataExt as _;

    let user = rustix::process::geteuid().as_raw();
    let Ok(entries) = std::fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let id = name.to_str().and_then(|name| name.strip_prefix(beginning));
        let is_ours = id.is_some_and(is_id)
            && entry.metadata().is_ok_and(|it| it.is_dir() && it.uid() == user);
        if is_ours && let Some(_lock) = lock(&entry.path()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(not(unix))]
pub(super) fn remove_all(_parent: &Path, _beginning: &str) {}

#[cfg(unix)]
fn is_id(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
