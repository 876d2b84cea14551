//! File access below the roots, and nowhere else.
//!
//! A root is a directory that is opened when the tools are built. The kernel resolves every path
//! beneath it (`openat2` with `RESOLVE_BENEATH` and `RESOLVE_NO_MAGICLINKS`, or an equivalent walk
//! by `cap-std`), so nothing can be swapped between a check and the open. Checks apply to the
//! opened descriptor. Refusals never reveal anything about files outside, not even whether they
//! exist.

mod listing;
mod names;
mod near;
mod special;

use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, FileType, OpenOptions};

use crate::refusal::{Refusal, RefusalCode};
use crate::source::shown;

/// Longest path in bytes, more than any operating system accepts.
const MAX_PATH_BYTES: usize = 4096;

/// Policy for files with several hard links.
///
/// The other name may be outside the roots, and cannot be seen from here: anyone who can create
/// links could bring any file of the file system inside. Package managers that link from a store
/// (pnpm, Nix) and build caches use hard links legitimately, so an operator may allow them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HardLinks {
    /// Refuses them.
    #[default]
    Refuse,
    /// Reads them like any other file.
    Allow,
}

/// The folders whose files may be read.
#[derive(Debug)]
pub(crate) struct Roots {
    folders: Vec<Root>,
    /// The root and folder in which relative paths begin.
    start: (usize, PathBuf),
    hard_links: HardLinks,
}

#[derive(Debug)]
struct Root {
    dir: Dir,
    /// Its absolute path as given.
    named: PathBuf,
    /// Its path without symbolic links.
    real: PathBuf,
}

/// An open regular file below a root.
#[derive(Debug)]
pub(crate) struct Opened {
    file: std::fs::File,
    /// Size in bytes when it was opened.
    pub(crate) size: u64,
    /// Its path from the root, for display.
    pub(crate) name: String,
    /// Text that distinguishes it from files with the same name in other roots.
    pub(crate) identity: String,
}

/// Index of a root and a path below it.
type RootedPath = (usize, PathBuf);

impl Roots {
    pub(crate) fn open(
        roots: &[PathBuf],
        cwd: Option<&Path>,
        hard_links: HardLinks,
    ) -> io::Result<Self> {
        let open = |path: &PathBuf| {
            let named = std::path::absolute(path)?;
            let open = || {
                let dir = Dir::open_ambient_dir(path, ambient_authority())?;
                Ok(Root { dir, real: std::fs::canonicalize(path)?, named: named.clone() })
            };
            open().map_err(|error: io::Error| {
                io::Error::new(error.kind(), format!("root `{}`: {error}", path.display()))
            })
        };
        let roots = roots.iter().map(open).collect::<io::Result<Vec<Root>>>()?;
        let mut this = Self { folders: roots, start: (0, PathBuf::new()), hard_links };
        if let Some(cwd) = cwd {
            let cwd = std::fs::canonicalize(cwd)?;
            this.start = this.beneath(&cwd).ok_or_else(|| {
                io::Error::new(io::ErrorKind::InvalidInput, "the working directory is in no root")
            })?;
        }
        Ok(this)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.folders.is_empty()
    }

    /// Opens a path, or the only file that it can mean.
    pub(crate) fn file(&self, source: &str) -> Result<Opened, Refusal> {
        let path = plain(source)?;
        if self.folders.is_empty() {
            return Err(outside(source));
        }
        let place = self.place(path).ok_or_else(|| outside(source))?;
        match self.try_open(&place, source) {
            // A slash at the end asks for a folder, so similar names are not tried.
            Err(OpenFailure::Io(error)) if missing(&error) && !source.ends_with('/') => {
                let found = names::only(&self.folders[place.0].dir, &place.1);
                let way = found.map_err(|no_match| match no_match {
                    names::NoMatch::Absent => {
                        let is_file = |kind: FileType| kind.is_file();
                        absent(source, self.near(&place, Spelling::of(path), is_file))
                    }
                    ambiguous @ names::NoMatch::Ambiguous { .. } => ambiguous.refusal(source, path),
                })?;
                self.try_open(&(place.0, way), source).map_err(|failed| failed.refusal(source))
            }
            Err(OpenFailure::Io(error)) if escaped(&error) => {
                // An absolute link may still end inside. Its target is only used to find the path,
                // which is then opened beneath a root like any other.
                let place = self.through_links(&place).ok_or_else(|| outside(source))?;
                self.try_open(&place, source).map_err(|failed| failed.refusal(source))
            }
            other => other.map_err(|failed| failed.refusal(source)),
        }
    }

    /// Follows the links of a path, also absolute ones, to a path beneath a root.
    fn through_links(&self, (index, way): &RootedPath) -> Option<RootedPath> {
        let real = std::fs::canonicalize(self.folders[*index].real.join(way)).ok()?;
        self.beneath(&real)
    }

    /// Finds the root of a path, and the path below it.
    fn place(&self, path: &Path) -> Option<RootedPath> {
        if path.is_absolute() {
            return self.beneath(path);
        }
        Some((self.start.0, self.start.1.join(path)))
    }

    /// Returns paths with names near to one that does not exist, as they can be passed.
    fn near(
        &self,
        (index, way): &RootedPath,
        spelling: Spelling,
        wanted: fn(FileType) -> bool,
    ) -> Vec<String> {
        let base = match spelling {
            Spelling::Relative => self.start.1.as_path(),
            Spelling::Absolute => Path::new(""),
        };
        // The top of a file system is too much to search.
        let top = self.folders[*index].real.parent().is_none() && base.as_os_str().is_empty();
        let dir = &self.folders[*index].dir;
        let found = near::near(dir, way, (!top).then_some(base), wanted);
        found.into_iter().map(|way| self.spelled(&(*index, way), spelling)).collect()
    }

    /// Writes a path as the tools take it: relative where relative paths begin, if asked for.
    fn spelled(&self, (index, way): &RootedPath, spelling: Spelling) -> String {
        let relative = way.strip_prefix(&self.start.1).ok();
        let relative =
            relative.filter(|_| *index == self.start.0 && spelling == Spelling::Relative);
        let absolute = || self.folders[*index].named.join(way);
        relative.map_or_else(absolute, Path::to_owned).to_string_lossy().into_owned()
    }

    /// Finds the root of an absolute path, the innermost of several, and the path below it.
    fn beneath(&self, path: &Path) -> Option<RootedPath> {
        let ways = self.folders.iter().enumerate().flat_map(|(index, root)| {
            let way = |start: &Path| {
                let way = path.strip_prefix(start).ok()?;
                Some((start.components().count(), index, way.to_owned()))
            };
            [way(&root.named), way(&root.real)].into_iter().flatten()
        });
        let (_, index, way) = ways.max_by_key(|(depth, ..)| *depth)?;
        Some((index, way))
    }

    fn try_open(&self, (index, way): &RootedPath, source: &str) -> Result<Opened, OpenFailure> {
        let root = &self.folders[*index];
        let way: &Path = if way.as_os_str().is_empty() { Path::new(".") } else { way };
        // Checked before the open, so that no device is opened, and again on the descriptor.
        let before = root.dir.metadata(way).map_err(OpenFailure::Io)?;
        if !before.is_file() {
            return Err(OpenFailure::Refused(not_a_file(source, before.is_dir())));
        }
        let mut options = OpenOptions::new();
        options.read(true);
        special::without_waiting(&mut options);
        let file = root.dir.open_with(way, &options).map_err(OpenFailure::Io)?.into_std();
        let metadata = file.metadata().map_err(OpenFailure::Io)?;
        if !metadata.is_file() || special::is_generated(&file) {
            return Err(OpenFailure::Refused(not_a_file(source, metadata.is_dir())));
        }
        if self.hard_links == HardLinks::Refuse && special::hard_link_count(&metadata) > 1 {
            return Err(OpenFailure::Refused(hard_link(source)));
        }
        let way = normalized(way);
        let identity = format!("{}\0{}", root.real.display(), way.display());
        // Below the root of the file system, the path is an absolute one.
        let name = if root.real.parent().is_none() { root.real.join(&way) } else { way };
        Ok(Opened { file, size: metadata.len(), name: shown(&name.to_string_lossy()), identity })
    }
}

impl Opened {
    /// Reads the whole file. Fails if it has more than `most` bytes, even if it grows meanwhile.
    pub(crate) fn bytes(&mut self, most: u64) -> Result<Vec<u8>, Refusal> {
        if self.size > most {
            return Err(too_large(&self.name, self.size, most));
        }
        let mut bytes = Vec::with_capacity(self.size as usize);
        let read = (&mut self.file).take(most + 1).read_to_end(&mut bytes);
        let read = read.map_err(|error| OpenFailure::Io(error).refusal(&self.name))? as u64;
        if read > most { Err(too_large(&self.name, read, most)) } else { Ok(bytes) }
    }

    /// Reads the first bytes.
    pub(crate) fn head(&mut self, most: usize) -> Result<Vec<u8>, Refusal> {
        use std::io::Seek as _;
        let mut bytes = Vec::new();
        let read = (&mut self.file).take(most as u64).read_to_end(&mut bytes);
        read.and_then(|_| self.file.rewind())
            .map_err(|error| OpenFailure::Io(error).refusal(&self.name))?;
        Ok(bytes)
    }
}

/// The way in which a path is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spelling {
    /// From the folder in which relative paths begin, if it lies below that.
    Relative,
    /// From the top of the file system.
    Absolute,
}

impl Spelling {
    /// Returns the spelling of a path.
    fn of(path: &Path) -> Self {
        if path.is_absolute() { Self::Absolute } else { Self::Relative }
    }
}

/// Reason why a file was not opened.
enum OpenFailure {
    Io(io::Error),
    Refused(Refusal),
}

impl OpenFailure {
    fn refusal(self, source: &str) -> Refusal {
        let name = shown(source);
        match self {
            Self::Refused(refusal) => refusal,
            Self::Io(error) if escaped(&error) || special::is_link_loop(&error) => outside(source),
            Self::Io(error) if missing(&error) => absent(source, Vec::new()),
            Self::Io(error) if error.kind() == io::ErrorKind::PermissionDenied => Refusal::new(
                RefusalCode::NoPermission,
                format!("`{name}` may not be read by this user"),
                "change its permissions, or name another file",
            ),
            Self::Io(error) => Refusal::new(
                RefusalCode::Unreadable,
                format!("`{name}` cannot be read: {}", error.kind()),
                "try again; if it stays so, the disk has a problem",
            ),
        }
    }
}

/// Checks that a source can be a path.
fn plain(source: &str) -> Result<&Path, Refusal> {
    let bad = |says: String, hint: &str| Err(Refusal::new(RefusalCode::BadSource, says, hint));
    if source.trim().is_empty() {
        return bad("the source is empty".to_owned(), "name a file");
    }
    if source.contains('\0') {
        return bad("the source holds a NUL character".to_owned(), "pass the plain path");
    }
    if source.len() > MAX_PATH_BYTES {
        let says = format!("the source is {} bytes long, longer than a path can be", source.len());
        return bad(says, "pass the plain path; text and pictures do not go into `source`");
    }
    Ok(Path::new(source))
}

/// Removes `.` and pairs of a folder and `..`.
fn normalized(way: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for component in way.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                tidy.pop();
            }
            other => tidy.push(other),
        }
    }
    tidy
}

/// Recognizes a path that leaves the root. `cap-std` reports it without an error number of the
/// operating system.
fn escaped(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

fn missing(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidFilename, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | InvalidFilename)
}

fn absent(source: &str, near: Vec<String>) -> Refusal {
    let name = shown(source);
    let hint = if !near.is_empty() {
        "if one of the candidates is meant, pass it as it is written"
    } else if source.starts_with('~') {
        "`~` is not expanded; pass the whole path"
    } else if source.contains('%') {
        "nothing is decoded: pass the path as it stands on the disk"
    } else {
        "check the name, or list the folder"
    };
    let says = format!("there is no file `{name}`");
    Refusal::new(RefusalCode::Absent, says, hint).with_candidates(near)
}

fn outside(source: &str) -> Refusal {
    Refusal::new(
        RefusalCode::OutsideRoots,
        format!("`{}` leads out of the folders that may be read", shown(source)),
        "ask for a file inside, with a path from the working directory",
    )
}

fn not_a_file(source: &str, folder: bool) -> Refusal {
    let name = shown(source);
    let (what, hint) = if folder {
        ("a folder", "list it, and name a file in it")
    } else {
        ("no regular file", "name a regular file")
    };
    Refusal::new(RefusalCode::NotAFile, format!("`{name}` is {what}"), hint)
}

fn hard_link(source: &str) -> Refusal {
    Refusal::new(
        RefusalCode::HardLink,
        format!("`{}` has another name, which may lie outside the roots", shown(source)),
        "copy the file, or let the operator allow hard links",
    )
}

fn too_large(name: &str, size: u64, most: u64) -> Refusal {
    Refusal::new(
        RefusalCode::TooLarge,
        format!("`{name}` has {size} bytes; {most} are allowed"),
        "use a smaller file, or a part of it",
    )
}
