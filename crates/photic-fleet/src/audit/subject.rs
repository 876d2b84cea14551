//! Subjects of audit entries: names, never content.

use std::fmt;

use photic_store::{Handle, MediaRef, SessionId};

use crate::keys::KeyId;

/// The subject of an action. It can be built from opaque names and from hosts only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject(String);

/// Error of a text that is not a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the audit names hosts, and nothing else by text")]
pub struct NoSubject;

/// Longest host name.
const MAX_HOST_LENGTH: usize = 253;

impl Subject {
    /// Creates the subject for the tenant itself.
    pub const fn tenant() -> Self {
        Self(String::new())
    }

    /// Creates the subject for a turn of a session.
    pub fn turn(session: &SessionId, number: u64) -> Self {
        Self(format!("{session}/{number}"))
    }

    /// Creates the subject for a host with an optional port. Paths, queries and credentials are
    /// rejected.
    pub fn host(text: &str) -> Result<Self, NoSubject> {
        let is_one = (1..=MAX_HOST_LENGTH).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]_".contains(&byte));
        is_one.then(|| Self(format!("host:{}", text.to_ascii_lowercase()))).ok_or(NoSubject)
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&Handle> for Subject {
    fn from(handle: &Handle) -> Self {
        Self(handle.as_str().to_owned())
    }
}

impl From<&MediaRef> for Subject {
    fn from(reference: &MediaRef) -> Self {
        Self(reference.as_str().to_owned())
    }
}

impl From<&SessionId> for Subject {
    fn from(session: &SessionId) -> Self {
        Self(session.as_str().to_owned())
    }
}

impl From<&KeyId> for Subject {
    fn from(key: &KeyId) -> Self {
        Self(format!("key:{key}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_can_be_written_down() {
        for (good, text) in [
            (Subject::host("Example.org"), "host:example.org"),
            (Subject::host("[2001:db8::1]:8443"), "host:[2001:db8::1]:8443"),
        ] {
            assert_eq!(good.unwrap().as_str(), text);
        }
        let long = "a".repeat(254);
        for bad in ["", "https://example.org", "example.org/path?key=1", "me@example.org", &long] {
            assert_eq!(Subject::host(bad), Err(NoSubject), "{bad}");
        }
    }
}
