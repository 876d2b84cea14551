//! A private folder for a session on standard input, and for a copy that goes to standard output.
//!
//! Sessions are read more than once, and some are databases, so they have to be in a file.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// The name of standard input for messages.
pub(super) const STANDARD_INPUT: &str = "standard input";

/// A folder that only its owner can open. It is removed when this is dropped, with all files in it.
pub(super) struct PrivateFolder(PathBuf);

impl PrivateFolder {
    /// Creates a folder among the temporary files.
    pub(super) fn create() -> anyhow::Result<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok().context("there are no random numbers")?;
        let name = format!("photic-doctor-{:032x}", u128::from_ne_bytes(bytes));
        let folder = std::env::temp_dir().join(name);
        create_private(&folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
        Ok(Self(folder))
    }

    /// Reads standard input to its end. Returns the file that it is kept in.
    pub(super) fn read_standard_input(&self) -> anyhow::Result<PathBuf> {
        let path = self.0.join("session");
        let mut file = std::fs::File::create_new(&path)
            .with_context(|| format!("cannot create `{}`", path.display()))?;
        std::io::copy(&mut std::io::stdin().lock(), &mut file)
            .and_then(|_| file.flush())
            .context("cannot read standard input")?;
        Ok(path)
    }

    /// A file that is written before it is printed.
    pub(super) fn output(&self) -> PathBuf {
        self.0.join("output")
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        // What is left is in the folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
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
