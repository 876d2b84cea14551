//! Helpers of every tidy test: the root of the workspace, its files, and the report of complaints.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the root of the workspace.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("the crate lies two folders deep").to_path_buf()
}

/// Returns every file that is, or would be, in the repository: paths from the root, with `/`.
pub(crate) fn listed() -> Vec<String> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let paths = String::from_utf8(output.stdout).expect("paths are UTF-8");
    // A file deleted but not yet committed is still listed.
    let there = |path: &&str| !path.is_empty() && root().join(path).is_file();
    paths.split('\0').filter(there).map(str::to_owned).collect()
}

/// Returns `true` if the file is Rust by its name.
pub(crate) fn rust(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "rs")
}

/// Returns the Rust files below `crates/*/src`, with their text.
pub(crate) fn sources() -> Vec<(String, String)> {
    let source = |path: &String| {
        let mut steps = path.split('/');
        let place = (steps.next(), steps.nth(1));
        place == (Some("crates"), Some("src")) && rust(path)
    };
    let read = |path: String| {
        let text = std::fs::read_to_string(root().join(&path)).expect("sources are UTF-8");
        (path, text)
    };
    let sources: Vec<_> = listed().into_iter().filter(source).map(read).collect();
    assert!(sources.len() > 10, "the list of sources is broken");
    sources
}

/// Fails with every complaint at once.
pub(crate) fn report(rule: &str, complaints: &[String]) {
    assert!(complaints.is_empty(), "{rule}\n  {}", complaints.join("\n  "));
}
