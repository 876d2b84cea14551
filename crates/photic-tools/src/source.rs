//! What a source is: a path, a handle, or an address.

use crate::refusal::{Refusal, RefusalCode};

/// How handles begin.
const HANDLE: &str = "img_";
/// What follows.
const HANDLE_LETTERS: usize = 16;

/// What a caller wants to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source<'a> {
    Path(&'a str),
    Handle(&'a str),
    Address(&'a str),
}

impl<'a> Source<'a> {
    /// Sorts a source. A file that is called like a handle can be named `./img_…`.
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
                // Anything else with a colon may be the name of a file.
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

/// A name as it can stand in a sentence: one line, not long, nothing that moves a cursor.
pub(crate) fn shown(name: &str) -> String {
    const MOST: usize = 200;
    let visible = |c: char| if unseen(c) { '\u{fffd}' } else { c };
    let mut shown: String = name.chars().take(MOST).map(visible).collect();
    if name.chars().nth(MOST).is_some() {
        shown.push('…');
    }
    shown
}

/// Control characters, and those that turn the direction of text around.
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
