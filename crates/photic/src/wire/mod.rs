//! The wires photic speaks: one folder a wire, one file a direction.

pub(crate) mod anthropic;
mod detect;
pub(crate) mod openai_chat;
pub(crate) mod openai_responses;

pub use detect::{detect, detect_reply};
use serde::{Deserialize, Serialize};

/// A provider protocol for conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Wire {
    /// OpenAI Chat Completions, and every server that imitates it.
    #[serde(rename = "openai-chat")]
    OpenAiChat,
    /// OpenAI Responses.
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    /// Anthropic Messages.
    #[serde(rename = "anthropic")]
    Anthropic,
}

impl Wire {
    /// Every wire, in the order documents list them.
    pub const ALL: [Self; 3] = [Self::OpenAiChat, Self::OpenAiResponses, Self::Anthropic];

    /// The name used in flags, files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
        }
    }

    /// Whether one turn of the assistant is several units in a row.
    pub(crate) const fn is_flat(self) -> bool {
        match self {
            Self::OpenAiResponses => true,
            Self::OpenAiChat | Self::Anthropic => false,
        }
    }

    /// Whether tool results stand inside user messages instead of in units of their own.
    pub(crate) const fn nests_results(self) -> bool {
        match self {
            Self::Anthropic => true,
            Self::OpenAiChat | Self::OpenAiResponses => false,
        }
    }

    /// Whether a document may be named by the address it can be fetched from.
    pub(crate) const fn takes_document_addresses(self) -> bool {
        match self {
            Self::OpenAiResponses | Self::Anthropic => true,
            Self::OpenAiChat => false,
        }
    }

    /// Whether no two calls of a conversation may share an id; elsewhere, no two of a turn.
    pub(crate) const fn wants_unique_calls(self) -> bool {
        match self {
            Self::Anthropic => true,
            Self::OpenAiChat | Self::OpenAiResponses => false,
        }
    }

    /// Whether ids of calls must be plain words.
    pub(crate) const fn wants_plain_ids(self) -> bool {
        match self {
            Self::Anthropic => true,
            Self::OpenAiChat | Self::OpenAiResponses => false,
        }
    }

    /// The members that hold the id of a call and of the result that answers it.
    pub(crate) const fn id_members(self) -> (&'static str, &'static str) {
        match self {
            Self::OpenAiChat => ("id", "tool_call_id"),
            Self::OpenAiResponses => ("call_id", "call_id"),
            Self::Anthropic => ("id", "tool_use_id"),
        }
    }

    /// Whether the first message must be the user's.
    pub(crate) const fn starts_with_user(self) -> bool {
        match self {
            Self::Anthropic => true,
            Self::OpenAiChat | Self::OpenAiResponses => false,
        }
    }

    /// Whether an empty text part makes the provider reject the request.
    pub(crate) const fn rejects_empty_text(self) -> bool {
        match self {
            Self::Anthropic => true,
            Self::OpenAiChat | Self::OpenAiResponses => false,
        }
    }

    /// Whether a document may be plain text.
    pub(crate) const fn has_text_documents(self) -> bool {
        match self {
            Self::Anthropic => true,
            Self::OpenAiChat | Self::OpenAiResponses => false,
        }
    }

    /// The wire of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|wire| wire.name() == name)
    }
}

impl std::fmt::Display for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
