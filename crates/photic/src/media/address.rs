//! The kinds of addresses that a medium may come as.

use crate::json::Str;

/// The prefix of an address that names a medium the host has.
pub const REFERENCE: &str = "photic:";

/// Returns `true` if an address names a medium that the host has.
pub(crate) fn is_reference(text: &Str<'_>) -> bool {
    text.bytes().starts_with(REFERENCE.as_bytes())
}

/// Returns `true` if a text begins like a web address.
pub(crate) fn is_web_address(text: &Str<'_>) -> bool {
    let bytes = text.bytes();
    ["https:", "http:"].iter().any(|scheme| {
        bytes.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme.as_bytes()))
    })
}
