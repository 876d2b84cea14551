//! Files and directories that only their owner can read, because they hold conversations and
//! pictures.
//!
//! New ones get the modes 0700 and 0600 regardless of the umask. Existing ones with looser modes
//! are tightened if they belong to this user, and refused otherwise. Symbolic links are not
//! followed for writing. On systems other than Unix the defaults of the system apply.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Creates a directory and its missing parents for this user only. The mode of an existing
/// directory is kept if it contains other files.
pub fn make_directory(path: &Path) -> io::Result<()> {
    // The current directory exists already.
    if path.as_os_str().is_empty() {
        return Ok(());
    }
    let mut builder = DirBuilder::new();
    private_directory(builder.recursive(true)).create(path)?;
    refuse_if_others_may_write(path)?;
    if holds_only_ours(path)? { tighten_directory(path) } else { Ok(()) }
}

/// Creates a directory for this user only. Fails if it exists.
pub fn create_directory(path: &Path) -> io::Result<()> {
    private_directory(&mut DirBuilder::new()).create(path)
}

/// Opens a file for writing, for this user only. Creates it if it does not exist.
pub fn create_file(path: &Path) -> io::Result<File> {
    tighten_file(path)?;
    private_file(OpenOptions::new().write(true).create(true)).open(path)
}

/// Creates a file for this user only. Fails if it exists.
pub fn create_new_file(path: &Path) -> io::Result<File> {
    private_file(OpenOptions::new().write(true).create_new(true)).open(path)
}

/// Creates a file for this user only and replaces an existing one.
pub fn replace_file(path: &Path) -> io::Result<File> {
    match create_new_file(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            create_new_file(path)
        }
        other => other,
    }
}

/// Returns whether a directory contains nothing but files of photic.
fn holds_only_ours(directory: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        let is_ours = matches!(&*name, "blobs" | "answers")
            || name.starts_with("record.db")
            || name.starts_with("learned.");
        if !is_ours {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(unix)]
mod unix {
    use std::fs::{self, DirBuilder, Metadata, OpenOptions, Permissions};
    use std::io;
    use std::os::unix::fs::{
        DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
    };
    use std::path::Path;

    use rustix::fs::OFlags;
    use rustix::process::geteuid;

    /// Permissions of group and others.
    const EVERYBODY_ELSE: u32 = 0o077;
    /// Permissions of others.
    const STRANGERS: u32 = 0o007;

    pub(super) fn private_directory(builder: &mut DirBuilder) -> &mut DirBuilder {
        builder.mode(0o700)
    }

    pub(super) fn private_file(options: &mut OpenOptions) -> &mut OpenOptions {
        let no_link = OFlags::NOFOLLOW.bits().cast_signed();
        options.mode(0o600).custom_flags(no_link)
    }

    /// Removes the permissions of others from a directory of this user.
    pub fn tighten_directory(path: &Path) -> io::Result<()> {
        let facts = fs::symlink_metadata(path)?;
        // The user's own link may point anywhere.
        if facts.is_symlink() { Ok(()) } else { tighten(path, &facts, 0o700) }
    }

    /// Removes the permissions of others from a file. A missing file is fine. Fails for a symbolic
    /// link, and for a file of another user that others can read.
    pub fn tighten_file(path: &Path) -> io::Result<()> {
        let facts = match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other?,
        };
        if facts.is_symlink() {
            let says = format!("`{}` is a symbolic link; remove it", path.display());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, says));
        }
        tighten(path, &facts, 0o600)
    }

    fn tighten(path: &Path, facts: &Metadata, mode: u32) -> io::Result<()> {
        if facts.mode() & EVERYBODY_ELSE == 0 {
            return Ok(());
        }
        if facts.uid() == geteuid().as_raw() {
            return match fs::set_permissions(path, Permissions::from_mode(mode)) {
                // The file can still be read.
                Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => Ok(()),
                other => other,
            };
        }
        if facts.mode() & STRANGERS == 0 {
            return Ok(());
        }
        let shown = path.display();
        let says = format!(
            "`{shown}` is open to others and belongs to somebody else: `chmod o-rwx {shown}`, or \
             name another place"
        );
        Err(io::Error::new(io::ErrorKind::PermissionDenied, says))
    }

    /// Fails if others can replace files in the directory.
    pub(super) fn refuse_if_others_may_write(path: &Path) -> io::Result<()> {
        let facts = fs::metadata(path)?;
        let is_sticky = facts.mode() & 0o1000 != 0;
        if facts.mode() & 0o002 == 0 || is_sticky {
            return Ok(());
        }
        let shown = path.display();
        let says =
            format!("anybody may change `{shown}`: `chmod o-w {shown}`, or name another place");
        Err(io::Error::new(io::ErrorKind::PermissionDenied, says))
    }
}

#[cfg(unix)]
use unix::{private_directory, private_file, refuse_if_others_may_write};
#[cfg(unix)]
pub use unix::{tighten_directory, tighten_file};

#[cfg(not(unix))]
mod other {
    use std::fs::{DirBuilder, OpenOptions};
    use std::io;
    use std::path::Path;

    pub(super) fn private_directory(builder: &mut DirBuilder) -> &mut DirBuilder {
        builder
    }

    pub(super) fn private_file(options: &mut OpenOptions) -> &mut OpenOptions {
        options
    }

    pub(super) fn refuse_if_others_may_write(_: &Path) -> io::Result<()> {
        Ok(())
    }

    /// Does nothing: directories of a user are private here.
    pub fn tighten_directory(_: &Path) -> io::Result<()> {
        Ok(())
    }

    /// Does nothing: files of a user are private here.
    pub fn tighten_file(_: &Path) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(not(unix))]
use other::{private_directory, private_file, refuse_if_others_may_write};
#[cfg(not(unix))]
pub use other::{tighten_directory, tighten_file};

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::PathBuf;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("photic-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
    }

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn what_is_made_is_nobody_elses_and_what_is_loose_is_tightened() {
        let folder = Folder::new("private");
        let (outer, inner) = (folder.0.join("a"), folder.0.join("a/b"));
        make_directory(&inner).unwrap();
        assert_eq!((mode(&outer), mode(&inner)), (0o700, 0o700));
        let file = inner.join("record.db");
        create_file(&file).unwrap();
        assert_eq!(mode(&file), 0o600);
        set(&file, 0o644);
        set(&inner, 0o755);
        create_file(&file).unwrap();
        make_directory(&inner).unwrap();
        assert_eq!((mode(&file), mode(&inner)), (0o600, 0o700));
        set(&file, 0o666);
        tighten_file(&file).unwrap();
        assert_eq!(mode(&file), 0o600);
    }

    #[test]
    fn a_folder_that_holds_other_things_stays_as_it_is() {
        let folder = Folder::new("shared");
        fs::write(folder.0.join("index.html"), "").unwrap();
        set(&folder.0, 0o755);
        make_directory(&folder.0).unwrap();
        assert_eq!(mode(&folder.0), 0o755);
        set(&folder.0, 0o777);
        let says = make_directory(&folder.0).unwrap_err().to_string();
        assert!(says.contains("chmod o-w"), "{says}");
        set(&folder.0, 0o1777);
        make_directory(&folder.0).unwrap();
    }

    #[test]
    fn links_are_not_followed() {
        let folder = Folder::new("links");
        let (target, link) = (folder.0.join("target"), folder.0.join("link"));
        fs::write(&target, "theirs").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(create_file(&link).is_err());
        assert!(create_new_file(&link).is_err());
        replace_file(&link).unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"theirs");
        assert!(!fs::symlink_metadata(&link).unwrap().is_symlink());
    }
}
