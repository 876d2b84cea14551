//! Lists the entries of folders beneath the roots, with facts from the first bytes of files.

use std::io;
use std::path::{Path, PathBuf};

use cap_std::fs::FileType;
use photic_pixels::header::{self, Frames};

use super::near::{MAX_VISITED, below, entries};
use super::{
    RootedPath, Roots, Spelling, absent, escaped, missing, names, normalized, outside, plain,
};
use crate::content::Content;
use crate::list::{FolderEntry, Listing, NamePattern};
use crate::refusal::{Refusal, RefusalCode};
use crate::source::shown;

/// Largest number of entries in one listing.
const MAX_ENTRIES: usize = 200;
/// Number of first bytes that suffice for most files.
const FIRST_BYTES: usize = 4096;

impl Roots {
    /// Returns the paths of the roots as they were given, made absolute.
    pub(crate) fn paths(&self) -> Vec<String> {
        self.folders.iter().map(|root| root.named.to_string_lossy().into_owned()).collect()
    }

    /// Lists a folder, or all roots. With a pattern, everything below whose name matches.
    pub(crate) fn list(
        &self,
        folder: Option<&str>,
        pattern: Option<&NamePattern>,
        sniff_bytes: usize,
    ) -> Result<Listing, Refusal> {
        let starts = match folder {
            Some(folder) => vec![self.folder(folder)?],
            None => (0..self.folders.len()).map(|index| (index, PathBuf::new())).collect(),
        };
        let mut budget = MAX_VISITED;
        let mut found = Vec::new();
        for (index, way) in &starts {
            let here = self.found(*index, way, pattern, &mut budget);
            let here = here.map_err(|error| unreadable(folder.unwrap_or("."), &error))?;
            found.extend(here.into_iter().map(|(way, kind)| ((*index, way), kind)));
        }
        let total = found.len();
        let spelling = folder.map_or(Spelling::Relative, |folder| Spelling::of(Path::new(folder)));
        let described = found.into_iter().take(MAX_ENTRIES).map(|(place, kind)| {
            let path = self.spelled(&place, spelling);
            self.described(&place, path, kind, sniff_bytes)
        });
        let entries = described.collect();
        let folders = starts.iter().map(|(index, way)| {
            let path: PathBuf = self.folders[*index].named.join(way).components().collect();
            path.to_string_lossy().into_owned()
        });
        Ok(Listing { folders: folders.collect(), entries, total, complete: budget > 0 })
    }

    /// Returns what a pattern matches below a folder, or what is in it.
    fn found(
        &self,
        index: usize,
        way: &Path,
        pattern: Option<&NamePattern>,
        budget: &mut usize,
    ) -> io::Result<Vec<(PathBuf, FileType)>> {
        let dir = &self.folders[index].dir;
        // A file is listed as itself.
        if !way.as_os_str().is_empty() && dir.metadata(way)?.is_file() {
            return Ok(vec![(way.to_owned(), dir.symlink_metadata(way)?.file_type())]);
        }
        let Some(pattern) = pattern else { return entries(dir, way, budget) };
        let mut all = below(dir, way, budget);
        all.retain(|(path, _)| {
            path.file_name()
                .and_then(|name| name.to_str())
                .is_some_and(|name| pattern.matches(name))
        });
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(all)
    }

    /// Finds a folder, or the only one that a name can mean.
    fn folder(&self, source: &str) -> Result<RootedPath, Refusal> {
        let path = plain(source)?;
        if self.folders.is_empty() {
            return Err(outside(source));
        }
        let (index, way) = self.place(path).ok_or_else(|| outside(source))?;
        let dir = &self.folders[index].dir;
        let opened = if way.as_os_str().is_empty() { Path::new(".") } else { &way };
        match dir.metadata(opened) {
            Ok(_) => Ok((index, normalized(&way))),
            Err(error) if missing(&error) => match names::only(dir, &way) {
                Ok(found) => Ok((index, found)),
                Err(names::NoMatch::Absent) => {
                    let is_folder = |kind: FileType| kind.is_dir();
                    let near = self.near(&(index, way), Spelling::of(path), is_folder);
                    let says = format!("there is no folder `{}`", shown(source));
                    Err(Refusal { says, ..absent(source, near) })
                }
                Err(ambiguous @ names::NoMatch::Ambiguous { .. }) => {
                    Err(ambiguous.refusal(source, path))
                }
            },
            // As of a file, the target of an absolute link may lie inside.
            Err(error) if escaped(&error) => {
                self.through_links(&(index, way)).ok_or_else(|| outside(source))
            }
            Err(error) => Err(unreadable(source, &error)),
        }
    }

    /// Describes an entry by its type and the first bytes of a file.
    fn described(
        &self,
        place: &RootedPath,
        path: String,
        kind: FileType,
        sniff_bytes: usize,
    ) -> FolderEntry {
        let (index, way) = place;
        let plain = |kind| FolderEntry { path: path.clone(), kind, ..FolderEntry::default() };
        let kind = if kind.is_symlink() {
            match self.folders[*index].dir.metadata(way) {
                Ok(metadata) => metadata.file_type(),
                Err(_) => return plain("link that is not followed"),
            }
        } else {
            kind
        };
        if kind.is_dir() {
            return FolderEntry {
                path: format!("{path}/"),
                kind: "folder",
                ..FolderEntry::default()
            };
        }
        let Ok(mut opened) = self.try_open(place, &path) else {
            return plain("not a file that may be read");
        };
        let size = opened.size;
        let mut read = |most: usize| opened.head(most.min(sniff_bytes)).unwrap_or_default();
        let mut head = read(FIRST_BYTES);
        let is_cut = |head: &[u8]| match header::probe(head) {
            Ok(header) => matches!(header.frames, Frames::AtLeast(_)),
            Err(_) => Content::of(head) == Content::Torn,
        };
        if size > FIRST_BYTES as u64 && is_cut(&head) {
            head = read(usize::MAX);
        }
        let content = Content::of(&head);
        let header = matches!(content, Content::Bitmap(_)).then(|| header::probe(&head).ok());
        let header = header.flatten();
        let pages = header.as_ref().and_then(|header| match header.frames {
            Frames::Known(pages) if pages > 1 => Some(pages),
            _ => None,
        });
        let kind = match content {
            Content::Empty => "empty",
            Content::Torn => "picture",
            other => other.name(),
        };
        FolderEntry {
            path,
            kind,
            byte_size: Some(size),
            size: header.map(|header| (header.width, header.height)),
            pages,
        }
    }
}

fn unreadable(source: &str, error: &io::Error) -> Refusal {
    let name = shown(source);
    Refusal::new(
        RefusalCode::NoPermission,
        format!("the folder `{name}` cannot be listed: {}", error.kind()),
        "name another folder",
    )
}
