//! Pictures in a folder that somebody serves.

use std::path::{Path, PathBuf};

use photic_probe::File;

/// A folder and the address under which it is served.
pub(super) struct Folder {
    path: PathBuf,
    address: String,
}

impl Folder {
    pub(super) fn new(path: &Path, address: &str) -> Self {
        Self { path: path.to_owned(), address: address.trim_end_matches('/').to_owned() }
    }

    /// Puts a file there, under a name that tells nothing; where it can be fetched. What cannot be
    /// written cannot be fetched either: then the endpoint says so.
    pub(super) fn publish(&self, file: &File) -> String {
        let name = format!("{:016x}.png", getrandom::u64().unwrap_or_default());
        let _ = std::fs::write(self.path.join(&name), &file.bytes);
        format!("{}/{name}", self.address)
    }
}
