//! Directories that are nobody else's: they hold what people said and showed.

use std::fs::DirBuilder;
use std::io;
use std::path::Path;

/// Makes a directory and those above it, for this user alone, where they are missing.
pub(crate) fn make(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(path)
}
