//! Publishes pictures in a folder that a web server serves.

use std::path::{Path, PathBuf};

use photic_probe::PictureFile;

/// A folder and the URL under which it is served.
pub(super) struct PublishFolder {
    path: PathBuf,
    address: String,
}

impl PublishFolder {
    pub(super) fn new(path: &Path, address: &str) -> Self {
        Self { path: path.to_owned(), address: address.trim_end_matches('/').to_owned() }
    }

    /// Writes a file under a random name and returns its URL. If writing fails, the endpoint will
    /// report that it cannot fetch it.
    pub(super) fn publish(&self, file: &PictureFile) -> String {
        let name = format!("{:016x}.png", getrandom::u64().unwrap_or_default());
        let _ = std::fs::write(self.path.join(&name), &file.bytes);
        format!("{}/{name}", self.address)
    }
}
