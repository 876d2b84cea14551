//! A private folder for one run, with changed copies of an agent's configuration.
//!
//! Only its owner can read it, and it is removed at the end. No file of the user is changed: what an
//! agent writes into a folder that looks like its own is moved there at the end, except the files
//! that were changed for it.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// A private folder. It is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
    /// The files that were written at the start.
    own: Vec<PathBuf>,
    /// The folders that look like one of the user's, and those.
    overlays: Vec<(PathBuf, PathBuf)>,
}

/// A folder that looks like one of the user's, except for some entries.
#[derive(Clone, Debug)]
pub(crate) struct Overlay {
    /// The path within the scratch folder.
    pub(crate) path: PathBuf,
    /// The user's folder. It may be missing.
    pub(crate) of: PathBuf,
    /// Entries that are not linked, because the scratch folder has its own.
    pub(crate) except: Vec<String>,
}

impl Scratch {
    /// Creates a folder in the folder for temporary files.
    pub(crate) fn new() -> io::Result<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|_| io::Error::other("there are no random numbers"))?;
        let name = format!("photic-run-{:032x}", u128::from_ne_bytes(bytes));
        let path = std::env::temp_dir().join(name);
        create_private(&path)?;
        Ok(Self { path, own: Vec::new(), overlays: Vec::new() })
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file that only its owner can read.
    pub(crate) fn write(&mut self, path: &Path, text: &str) -> io::Result<()> {
        let path = self.path.join(path);
        if let Some(parent) = path.parent() {
            create_private(parent)?;
        }
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&path)?.write_all(text.as_bytes())?;
        self.own.push(path);
        Ok(())
    }

    /// Creates a folder whose entries are links to those of the user's folder.
    pub(crate) fn overlay(&mut self, overlay: &Overlay) -> io::Result<()> {
        let path = self.path.join(&overlay.path);
        create_private(&path)?;
        let entries = match fs::read_dir(&overlay.of) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            entries => Some(entries?),
        };
        for entry in entries.into_iter().flatten() {
            let entry = entry?;
            let name = entry.file_name();
            if !overlay.except.iter().any(|one| name == one.as_str()) {
                link(&entry.path(), &path.join(name))?;
            }
        }
        self.overlays.push((path, overlay.of.clone()));
        Ok(())
    }

    /// Moves what was written into overlays to the user's folders.
    fn keep_new_files(&self) -> io::Result<()> {
        for (overlay, of) in &self.overlays {
            for entry in fs::read_dir(overlay)? {
                let entry = entry?;
                let from = entry.path();
                let is_ours = self.own.contains(&from)
                    || self.overlays.iter().any(|(path, _)| path.starts_with(&from));
                if !is_ours && !entry.file_type()?.is_symlink() {
                    fs::create_dir_all(of)?;
                    move_to(&from, &of.join(entry.file_name()))?;
                }
            }
        }
        Ok(())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The folder is removed in any case: copies of a configuration may hold keys.
        let _ = self.keep_new_files();
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Creates a folder that only its owner can enter, and the folders above it.
fn create_private(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(from, to)
}

#[cfg(windows)]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    if from.is_dir() {
        std::os::windows::fs::symlink_dir(from, to)
    } else {
        std::os::windows::fs::symlink_file(from, to)
    }
}

/// Moves a file or folder, also to another file system. What is there already is replaced; folders
/// are joined.
fn move_to(from: &Path, to: &Path) -> io::Result<()> {
    if from.is_dir() {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            move_to(&entry.path(), &to.join(entry.file_name()))?;
        }
        return Ok(());
    }
    if fs::rename(from, to).is_err() {
        fs::copy(from, to)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn the_users_folder_gets_what_is_new_and_keeps_what_was_changed_for_the_run() {
        use std::os::unix::fs::PermissionsExt as _;
        let user = std::env::temp_dir().join(format!("photic-scratch-test-{}", std::process::id()));
        let _ = fs::remove_dir_all(&user);
        fs::create_dir_all(user.join("sessions")).unwrap();
        fs::write(user.join("settings.json"), "theirs").unwrap();
        fs::write(user.join("auth.json"), "old").unwrap();
        let mut scratch = Scratch::new().unwrap();
        let path = scratch.path().to_owned();
        let except = vec!["settings.json".to_owned()];
        scratch.overlay(&Overlay { path: "home/agent".into(), of: user.clone(), except }).unwrap();
        scratch.write(Path::new("home/agent/settings.json"), "ours").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o700);
        assert_eq!(mode(&path.join("home/agent/settings.json")), 0o600);
        // The agent writes through a link, over a link, and beside them.
        let agent = path.join("home/agent");
        fs::write(agent.join("sessions/1"), "new").unwrap();
        fs::write(agent.join("auth.json.tmp"), "new").unwrap();
        fs::rename(agent.join("auth.json.tmp"), agent.join("auth.json")).unwrap();
        fs::create_dir_all(agent.join("logs")).unwrap();
        fs::write(agent.join("logs/a"), "log").unwrap();
        drop(scratch);
        assert!(!path.exists());
        let read = |name: &str| fs::read_to_string(user.join(name)).unwrap();
        assert_eq!(read("settings.json"), "theirs");
        assert_eq!([read("sessions/1"), read("auth.json"), read("logs/a")], ["new", "new", "log"]);
        fs::remove_dir_all(user).unwrap();
    }
}
