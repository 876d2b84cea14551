//! A session on standard input, kept in a private file as long as it is needed.
//!
//! Sessions are read more than once, and some are databases, so they have to be in a file.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// A private file with what was on standard input. It is removed when this is dropped, with the
/// files beside it that a repair wrote.
pub(super) struct StandardInput {
    folder: PathBuf,
    file: PathBuf,
}

impl StandardInput {
    /// The name of it for messages.
    pub(super) const NAME: &'static str = "standard input";

    /// Reads standard input to its end.
    pub(super) fn read() -> anyhow::Result<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok().context("there are no random numbers")?;
        let name = format!("photic-doctor-{:032x}", u128::from_ne_bytes(bytes));
        let folder = std::env::temp_dir().join(name);
        create_private(&folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
        let this = Self { file: folder.join("session"), folder };
        let mut file = std::fs::File::create_new(&this.file)
            .with_context(|| format!("cannot create `{}`", this.file.display()))?;
        std::io::copy(&mut std::io::stdin().lock(), &mut file)
            .and_then(|_| file.flush())
            .context("cannot read standard input")?;
        Ok(this)
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.file
    }

    /// A file that is written before it is printed.
    pub(super) fn output(&self) -> PathBuf {
        self.folder.join("output")
    }
}

impl Drop for StandardInput {
    fn drop(&mut self) {
        // What is left is in the folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Creates a folder that only its owner can open.
#[cfg(unix)]
fn create_private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().mode(0o700).create(path)
}

/// Creates a folder; the one for temporary files belongs to the user already.
#[cfg(not(unix))]
fn create_private(path: &Path) -> std::io::Result<()> {
    std::fs::create_dir(path)
}
