//! `read`: text, in lines, bounded, with the token that an edit will ask for.
//!
//! Must never return pixels or other binary data, and never decide by a name.

use serde::{Deserialize, Serialize};

use crate::arguments::ReadArguments;
use crate::refusal::{Refusal, RefusalCode};
use crate::tools::Tools;

/// Text of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reading {
    /// The lines that were asked for, as far as they fit.
    pub text: String,
    /// The number of the first, from 1; 0 of an empty file.
    pub first_line: usize,
    /// The number of the last that is here, whole or cut.
    pub last_line: usize,
    /// Lines of the file.
    pub total_lines: usize,
    /// What was left out and how to get it; nothing was if there is nothing here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<String>,
    /// Proof of having read this very content.
    pub fresh: FreshToken,
}

/// Proof that the text of a file was read, for an edit that must not overwrite what nobody saw.
///
/// Only [`Tools::read`] makes one. It is a digest of which file it is and of everything in it, so
/// it holds across restarts and fails as soon as a byte changes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FreshToken(pub(crate) String);

impl Tools {
    /// The text of a source.
    pub async fn read(&self, arguments: &ReadArguments) -> Result<Reading, Refusal> {
        let _ = arguments;
        std::future::ready(Err(Refusal::new(RefusalCode::Unreadable, "not built yet", ""))).await
    }
}
