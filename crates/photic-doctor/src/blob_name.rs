//! Names of blobs in sessions whose media were moved out.

use photic::json::{Kind, Value};

/// The prefix of a string that names a blob in place of base64.
pub(crate) const BLOB_PREFIX: &str = "photic-blob:";

/// Longest string that may name a blob, with the type of a data URL.
const MAX_NAME_BYTES: usize = 256;

/// Returns `true` for a string that names a blob: its medium was moved out.
pub(crate) fn is_moved(value: Value<'_, '_>) -> bool {
    named(value).is_some()
}

/// The name of a blob in a string and its range: the whole string, or the end of a data URL.
pub(crate) fn named(value: Value<'_, '_>) -> Option<(std::ops::Range<usize>, String)> {
    let raw = value.raw();
    if value.kind() != Kind::String || raw.len() > MAX_NAME_BYTES {
        return None;
    }
    let at = memchr::memmem::find(raw, BLOB_PREFIX.as_bytes())?;
    let is_alone = at == 1 || (raw.starts_with(b"\"data:") && raw[..at].ends_with(b","));
    let name = raw.get(at + BLOB_PREFIX.len()..raw.len() - 1)?;
    let start = value.span().start + at;
    let range = start..value.span().end - 1;
    is_alone.then(|| (range, String::from_utf8_lossy(name).into_owned()))
}
