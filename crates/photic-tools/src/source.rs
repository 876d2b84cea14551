//! Parses sources: paths, handles and URLs.

use crate::refusal::{Refusal, RefusalCode};

/// Prefix of handles.
const HANDLE: &str = "img_";
/// Number of letters after the prefix.
const HANDLE_LETTERS: usize = 16;

/// A parsed source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source<'a> {
    Path(&'a str),
    Handle(&'a str),
    Address(&'a str),
}

impl<'a> Source<'a> {
    /// Parses a source. A file with the name of a handle can be written `./img_…`.
    pub(crate) fn of(text: &'a str) -> Result<Self, Refusal> {
        if let Some((scheme, _)) = text.split_once(':').filter(|(scheme, _)| is_scheme(scheme)) {
            return match scheme.to_ascii_lowercase().as_str() {
                "https" | "http" if text[scheme.len()..].starts_with("://") => {
                    Ok(Self::Address(text))
                }
                "file" => Err(no("`file:` addresses are not read", "pass the plain path")),
                "data" => Err(no(
                    "the source is a `data:` address",
                    "save the picture below a root and pass its path",
                )),
                // Another text with a colon may be a file name.
                _ if text[scheme.len()..].starts_with("://") => Err(no(
                    "addresses of this scheme are not fetched",
                    "pass a path or an `https` address",
                )),
                _ => Ok(Self::Path(text)),
            };
        }
        let handle = text.strip_prefix(HANDLE).is_some_and(|rest| {
            rest.len() == HANDLE_LETTERS
                && rest.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        });
        Ok(if handle { Self::Handle(text) } else { Self::Path(text) })
    }
}

/// Shortens a name for use in a sentence: one line, at most 200 characters, without control
/// characters.
pub(crate) fn shown(name: &str) -> String {
    const MAX_LENGTH: usize = 200;
    let mut shown: String = visible(name).chars().take(MAX_LENGTH).collect();
    if name.chars().nth(MAX_LENGTH).is_some() {
        shown.push('…');
    }
    shown
}

/// Replaces characters that cannot be seen, such as line breaks.
pub(crate) fn visible(name: &str) -> String {
    name.chars().map(|c| if unseen(c) { '\u{fffd}' } else { c }).collect()
}

/// Formats a URL for use in a sentence, without credentials and query.
pub(crate) fn address_shown(address: &str) -> String {
    let place = address.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = place.split_once("://").unwrap_or(("", place));
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = authority.rsplit('@').next().unwrap_or_default();
    shown(&format!("{scheme}://{host}/{path}"))
}

/// Returns whether a character is invisible: control characters and changes of text direction.
fn unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

fn is_scheme(text: &str) -> bool {
    text.len() > 1
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

fn no(says: &str, hint: &str) -> Refusal {
    Refusal::new(RefusalCode::BadSource, says, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_sorted() {
        for path in ["a.png", "./img_0123456789abcdef", "img_notes.txt", "C:/x", "a:b", "img_short"]
        {
            assert_eq!(Source::of(path).ok(), Some(Source::Path(path)), "{path}");
        }
        let handle = "img_0123456789abcdef";
        assert_eq!(Source::of(handle).ok(), Some(Source::Handle(handle)));
        for address in ["https://a.example/b.png", "HTTP://a.example"] {
            assert_eq!(Source::of(address).ok(), Some(Source::Address(address)));
        }
        for bad in ["file:///etc/passwd", "data:image/png;base64,AAAA", "gopher://a"] {
            assert!(Source::of(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_lets_somebody_in_is_not_repeated() {
        let shown = address_shown("https://me:secret@a.example/b.png?sig=secret#secret");
        assert_eq!(shown, "https://a.example/b.png");
    }
}
