//! Finds programs of other vendors.
//!
//! Only programs in the folders of system packages count: the sandbox shows only these folders, and
//! a program in a user's folder would expose that folder.

use std::path::{Path, PathBuf};

use crate::refusal::{Refusal, RefusalCode};

/// Folders of packages. Links lead from `/usr/bin` to the others.
const PACKAGE_FOLDERS: [&str; 2] = ["/usr", "/opt"];

/// Finds the first available program: names on the path and in common folders, or absolute paths.
pub(crate) fn find(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.extend(["/usr/bin", "/usr/local/bin"].map(PathBuf::from));
    names.iter().find_map(|name| match Path::new(name) {
        whole if whole.is_absolute() => packaged(whole),
        name => folders.iter().find_map(|folder| packaged(&folder.join(name))),
    })
}

/// The real path of a program, if it belongs to a package.
fn packaged(program: &Path) -> Option<PathBuf> {
    let program = program.canonicalize().ok().filter(|program| program.is_file())?;
    PACKAGE_FOLDERS.iter().any(|place| program.starts_with(place)).then_some(program)
}

/// The refusal for a missing program.
pub(crate) fn absent(what: &str, packages: &str) -> Refusal {
    Refusal::new(
        RefusalCode::Unavailable,
        format!("{what} is not on this machine"),
        format!("install it (`apt install {packages}`), or render it to PNG and view that"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_packaged_programs_are_found() {
        assert_eq!(find(&["photic-no-such-program"]), None);
        let shell = find(&["photic-no-such-program", "sh"]).expect("a shell");
        assert!(shell.is_absolute() && shell.starts_with("/usr"), "{shell:?}");
        assert_eq!(find(&["/usr/bin/env"]), find(&["env"]));

        let own = std::env::temp_dir().join(format!("photic-program-{}", std::process::id()));
        std::fs::write(&own, "#!/bin/sh").expect("a file");
        assert_eq!(find(&[own.to_str().expect("a path")]), None, "not from a folder of a user");
        std::fs::remove_file(&own).expect("the file goes");

        let refusal = absent("Chromium, which draws HTML pages,", "chromium bubblewrap");
        assert_eq!(refusal.code, RefusalCode::Unavailable);
        assert!(refusal.hint.contains("apt install chromium bubblewrap"), "{}", refusal.hint);
    }
}
