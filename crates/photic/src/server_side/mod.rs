//! Content that a provider keeps, and changes that it makes to a request by itself.
//!
//! Pictures that are not in the body can be neither planned nor counted, and a provider that
//! removes or shrinks pictures makes an estimate wrong. Nothing of that is a problem of the
//! request, so it is reported as notes. The fields that cause it are data
//! (`profiles/server_side.toml`).

mod clearing;
mod rules;

pub(crate) use clearing::{CLEARED, cleared};
pub use clearing::{ClearToolResults, Clearing};

use serde::{Deserialize, Serialize};

use crate::finding::Position;
use crate::json::Value;
use crate::media::{MediaId, Source};
use crate::transcript::Transcript;
use rules::{RULES, Rule};

/// An effect of a field or an item: the provider keeps, removes or changes something by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effect {
    /// The provider keeps the conversation before this request.
    Continues,
    /// The provider folded earlier messages into a summary.
    Folded,
    /// The provider stores the bytes of a medium.
    Stored,
    /// The provider may replace old tool results by a text.
    ClearsResults,
    /// The provider may remove old reasoning.
    ClearsThinking,
    /// The provider may replace old messages by a summary.
    Compacts,
    /// The provider may compress pictures.
    CompressesImages,
    /// The provider shrinks pictures that are too large.
    DownsizesImages,
}

impl Effect {
    /// Returns the stable name, as it is serialized.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Continues => "continues",
            Self::Folded => "folded",
            Self::Stored => "stored",
            Self::ClearsResults => "clears_results",
            Self::ClearsThinking => "clears_thinking",
            Self::Compacts => "compacts",
            Self::CompressesImages => "compresses_images",
            Self::DownsizesImages => "downsizes_images",
        }
    }

    /// Returns a sentence that says what the effect means for pictures.
    pub const fn says(self) -> &'static str {
        match self {
            Self::Continues => {
                "the provider keeps the conversation before this request; pictures in it are neither planned nor counted"
            }
            Self::Folded => {
                "the provider folded earlier messages into this item; pictures in them are not shown any more"
            }
            Self::Stored => {
                "the provider stores these bytes; their type and size are unknown, and their tokens are a guess"
            }
            Self::ClearsResults => {
                "the provider may replace old tool results by a text, and the pictures in them; hoisted pictures stay"
            }
            Self::ClearsThinking => "the provider may remove old reasoning; pictures stay",
            Self::Compacts => {
                "the provider may replace old messages by a summary, and the pictures in them"
            }
            Self::CompressesImages => {
                "the provider may compress pictures; tokens and coordinates can differ from the estimate, unless the field is `disabled`"
            }
            Self::DownsizesImages => {
                "the provider shrinks pictures that are too large without a word; coordinates then refer to the smaller picture, unless the field is `error`"
            }
        }
    }

    /// Returns `true` if pictures of the conversation are not in the body.
    pub const fn is_unplanned(self) -> bool {
        matches!(self, Self::Continues | Self::Folded | Self::Stored)
    }

    /// Returns `true` if the tokens of the request may differ from the estimate.
    pub const fn blurs_tokens(self) -> bool {
        !matches!(self, Self::ClearsThinking)
    }
}

/// A field of a request that makes the provider keep, remove or change something by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Note {
    /// The effect.
    pub effect: Effect,
    /// The name of the field, or the type of the item.
    pub field: String,
    /// Its position in the body.
    pub at: Position,
    /// `true` if the request is a part of a conversation, and the provider keeps the rest. Sent to
    /// another API, it would be half a request.
    pub is_half: bool,
    /// The provider's own code for a request whose other half is missing.
    #[serde(skip)]
    pub refused_as: Option<&'static str>,
}

/// Lists what the provider of a request keeps, removes or changes by itself.
///
/// ```
/// use photic::{Effect, Wire};
///
/// let body = br#"{"model":"m","previous_response_id":"resp_1","input":"And this one?"}"#;
/// let (transcript, _) = photic::lift(Wire::OpenAiResponses, body);
/// let notes = photic::notes(&transcript);
/// assert_eq!((notes[0].effect, notes[0].is_half), (Effect::Continues, true));
/// ```
pub fn notes(transcript: &Transcript<'_>) -> Vec<Note> {
    let mut notes = Vec::new();
    for (rule, value) in found(transcript, |_| true) {
        notes.push(Note {
            effect: rule.effect,
            field: rule.field().to_owned(),
            at: transcript.position_of(value.id(), None),
            is_half: rule.is_refused(),
            refused_as: rule.refused_as.as_deref(),
        });
    }
    for (id, media) in MediaId::first(transcript.media.len()).zip(&transcript.media) {
        if let (Source::File(_), Some(at)) = (&media.source, transcript.position(id)) {
            let field = "file_id".to_owned();
            let effect = Effect::Stored;
            notes.push(Note { effect, field, at, is_half: false, refused_as: None });
        }
    }
    notes
}

/// Finds the values that some rules are about. A dump is not sent to a provider.
fn found<'t, 'a>(
    transcript: &'t Transcript<'a>,
    which: impl Fn(&Rule) -> bool,
) -> Vec<(&'static Rule, Value<'t, 'a>)> {
    let Some(root) = transcript.doc.root().filter(|_| transcript.dump.is_none()) else {
        return Vec::new();
    };
    let rules = RULES.iter().filter(|rule| rule.wire == transcript.wire && which(rule));
    rules.flat_map(|rule| rule.values(root).into_iter().map(move |value| (rule, value))).collect()
}
