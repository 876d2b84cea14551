//! A private folder for one run, with changed copies of an agent's configuration.
//!
//! Only its owner can read it, and it is removed at the end. No file of the user is changed: what an
//! agent writes into a folder that looks like its own is moved there at the end, except the files
//! that were changed for it. What cannot be moved stays in the folder, which is then named on
//! standard error.

mod abandoned;

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The beginnings of the folder's name: before it is locked, in use, and if it is kept.
const NEW: &str = "photic-new-";
const RUN: &str = "photic-run-";
const KEPT: &str = "photic-kept-";

/// A private folder. It is removed when it is dropped, unless the agent wrote something into it that
/// cannot be moved to the user's folders.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
    /// Held as long as the folder is in use.
    _lock: Option<fs::File>,
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
    /// Creates a folder in the folder for temporary files, and removes those of killed processes.
    pub(crate) fn new() -> io::Result<Self> {
        let parent = std::env::temp_dir();
        abandoned::remove_all(&parent, RUN);
        Self::in_folder(&parent)
    }

    fn in_folder(parent: &Path) -> io::Result<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|_| io::Error::other("there are no random numbers"))?;
        let name = format!("{:032x}", u128::from_ne_bytes(bytes));
        let new = parent.join([NEW, &name].concat());
        create_private(&new)?;
        // It gets its name with the lock, so that no other process takes it for an abandoned one.
        let (lock, path) = match abandoned::lock(&new) {
            Some(lock) => (Some(lock), parent.join([RUN, &name].concat())),
            None => (None, new.clone()),
        };
        if path != new {
            fs::rename(&new, &path)?;
        }
        Ok(Self { path, _lock: lock, own: Vec::new(), overlays: Vec::new() })
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

    /// Moves what was written into overlays to the user's folders. Returns the paths of what could
    /// not be moved.
    fn keep_new_files(&self) -> Vec<PathBuf> {
        let mut left = Vec::new();
        for (overlay, of) in &self.overlays {
            let entries = match fs::read_dir(overlay) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(_) => {
                    left.push(overlay.clone());
                    continue;
                }
            };
            for entry in entries.flatten() {
                let (from, to) = (entry.path(), of.join(entry.file_name()));
                let is_ours = self.own.contains(&from)
                    || self.overlays.iter().any(|(path, _)| path.starts_with(&from))
                    || fs::read_link(&from).is_ok_and(|target| target == to);
                if !is_ours {
                    self.move_to(&from, &to, &mut left);
                }
            }
        }
        left
    }

    /// Moves a file or folder, also to another file system. A file that is there already is
    /// replaced; folders are joined. Links are not followed.
    fn move_to(&self, from: &Path, to: &Path, left: &mut Vec<PathBuf>) {
        let is_folder = fs::symlink_metadata(from).is_ok_and(|it| it.is_dir());
        let moved = if is_folder { self.join_to(from, to, left) } else { self.move_file(from, to) };
        if moved.is_err() {
            left.push(from.to_owned());
        }
    }

    /// Moves the entries of a folder to another, which is created if it is missing.
    fn join_to(&self, from: &Path, to: &Path, left: &mut Vec<PathBuf>) -> io::Result<()> {
        let is_new = !to.is_dir();
        if is_new {
            create_private(to)?;
        }
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            self.move_to(&entry.path(), &to.join(entry.file_name()), left);
        }
        if is_new {
            fs::set_permissions(to, fs::metadata(from)?.permissions())?;
        }
        Ok(())
    }

    fn move_file(&self, from: &Path, to: &Path) -> io::Result<()> {
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent)?;
        }
        if let Ok(target) = fs::read_link(from)
            && let Some(target) = self.outside(&target)
        {
            // It names a place in the scratch folder, which will be gone.
            return replace(to, |new| link(&target, new));
        }
        fs::rename(from, to).or_else(|_| copy_to(from, to))
    }

    /// The place in the user's folders that a place in an overlay is moved to.
    fn outside(&self, path: &Path) -> Option<PathBuf> {
        let places = self.overlays.iter().filter_map(|(overlay, of)| {
            let rest = path.strip_prefix(overlay).ok()?;
            Some((overlay.as_os_str().len(), of.join(rest)))
        });
        places.max_by_key(|(length, _)| *length).map(|(_, place)| place)
    }

    /// Ends the run: moves what the agent wrote, and removes the folder. If something could not be
    /// moved, the folder stays, without the changed copies, and its new path is returned.
    fn finish(&self) -> Option<PathBuf> {
        let left = self.keep_new_files();
        if left.is_empty() {
            let _ = fs::remove_dir_all(&self.path);
            return None;
        }
        // Copies of a configuration may hold keys.
        for copy in &self.own {
            let _ = fs::remove_file(copy);
        }
        let name = self.path.file_name()?.to_string_lossy();
        let name = name.replacen(NEW, KEPT, 1).replacen(RUN, KEPT, 1);
        let kept = self.path.with_file_name(name);
        let is_renamed = fs::rename(&self.path, &kept).is_ok();
        Some(if is_renamed { kept } else { self.path.clone() })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some(kept) = self.finish() {
            // The reader may be gone.
            let _ = writeln!(
                anstream::stderr(),
                "photic: some files that the command wrote could not be moved to your folder; they \
                 are in `{}`",
                kept.display()
            );
        }
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

/// Copies a link or a file to another file system. Anything else, such as a socket, is of no use
/// there.
fn copy_to(from: &Path, to: &Path) -> io::Result<()> {
    let kind = fs::symlink_metadata(from)?.file_type();
    if kind.is_symlink() {
        let target = fs::read_link(from)?;
        replace(to, |new| link(&target, new))
    } else if kind.is_file() {
        replace(to, |new| fs::copy(from, new).map(drop))
    } else {
        Ok(())
    }
}

/// Puts a new file into a place, which keeps what it has if the file cannot be written.
fn replace(to: &Path, write: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let mut name = to.file_name().unwrap_or_default().to_owned();
    name.push(".photic-new");
    let new = to.with_file_name(name);
    let _ = fs::remove_file(&new);
    let written = write(&new).and_then(|()| fs::rename(&new, to));
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}

#[cfg(test)]
mod tests;
