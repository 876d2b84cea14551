//! Paths: their version, and the wires that they belong to.

use photic::Wire;

/// Returns `true` if a path is complete without a version before it.
pub(crate) fn is_complete(path: &str) -> bool {
    Wire::ALL.iter().any(|wire| starts_with_any(path, wire.http().unversioned))
}

/// Returns `true` if a path without its version belongs to a wire and to no other.
pub(crate) fn is_below(path: &str, wire: Wire) -> bool {
    starts_with_any(path, wire.http().prefixes)
}

fn starts_with_any(path: &str, starts: &[&str]) -> bool {
    starts.iter().any(|start| path.starts_with(start))
}

/// Removes `/v1` from the beginning of a path. Some clients count it to the base URL, others do not.
pub(crate) fn without_version(path: &str) -> &str {
    match path.strip_prefix("/v1") {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => rest,
        _ => path,
    }
}
