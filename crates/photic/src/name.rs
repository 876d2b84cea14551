//! The error for an unknown name.

use std::error::Error;
use std::fmt;

/// A name that is none of those expected. The `FromStr` implementations of this crate return it.
///
/// ```
/// let error = "openai".parse::<photic::Wire>().unwrap_err();
/// assert!(error.to_string().starts_with("unknown wire `openai`; expected `openai-chat`, "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    kind: &'static str,
    name: String,
    expected: Vec<&'static str>,
}

impl UnknownName {
    pub(crate) fn new(
        kind: &'static str,
        name: &str,
        expected: impl IntoIterator<Item = &'static str>,
    ) -> Self {
        Self { kind, name: name.to_owned(), expected: expected.into_iter().collect() }
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown {} `{}`; expected ", self.kind, self.name)?;
        for (index, name) in self.expected.iter().enumerate() {
            let separator = match index {
                0 => "",
                _ if index + 1 == self.expected.len() => " or ",
                _ => ", ",
            };
            write!(f, "{separator}`{name}`")?;
        }
        Ok(())
    }
}

impl Error for UnknownName {}
