//! The wires photic speaks: one folder a wire, one file a direction.

pub(crate) mod anthropic;
pub(crate) mod converse;
mod detect;
mod door;
pub(crate) mod gemini;
pub(crate) mod ollama;
mod openai;
pub(crate) mod openai_chat;
pub(crate) mod openai_responses;

pub use detect::{detect, detect_reply};
pub use door::escaped;
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
    /// Google's `generateContent` and `streamGenerateContent`.
    #[serde(rename = "gemini")]
    Gemini,
    /// `Converse` and `ConverseStream` of Amazon Bedrock.
    #[serde(rename = "bedrock-converse")]
    Converse,
    /// Ollama's own `/api/chat`.
    #[serde(rename = "ollama")]
    Ollama,
}

impl Wire {
    /// Every wire, in the order documents list them.
    pub const ALL: [Self; 6] = [
        Self::OpenAiChat,
        Self::OpenAiResponses,
        Self::Anthropic,
        Self::Gemini,
        Self::Converse,
        Self::Ollama,
    ];

    /// The name used in flags, files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Converse => "bedrock-converse",
            Self::Ollama => "ollama",
        }
    }

    /// Whether one turn of the assistant is several units in a row.
    pub(crate) const fn is_flat(self) -> bool {
        match self {
            Self::OpenAiResponses => true,
            Self::OpenAiChat | Self::Anthropic | Self::Gemini | Self::Converse | Self::Ollama => {
                false
            }
        }
    }

    /// Whether tool results stand inside user messages instead of in units of their own.
    pub(crate) const fn nests_results(self) -> bool {
        match self {
            Self::Anthropic | Self::Gemini | Self::Converse => true,
            Self::OpenAiChat | Self::OpenAiResponses | Self::Ollama => false,
        }
    }

    /// Whether a document may be named by the address it can be fetched from.
    pub(crate) const fn takes_document_addresses(self) -> bool {
        match self {
            Self::OpenAiResponses | Self::Anthropic => true,
            Self::OpenAiChat | Self::Gemini | Self::Converse | Self::Ollama => false,
        }
    }

    /// Whether a result that failed holds words and nothing else.
    pub(crate) const fn fails_in_words(self) -> bool {
        match self {
            Self::Anthropic | Self::Converse => true,
            Self::OpenAiChat | Self::OpenAiResponses | Self::Gemini | Self::Ollama => false,
        }
    }

    /// Whether no two calls of a conversation may share an id; elsewhere, no two of a turn.
    pub(crate) const fn wants_unique_calls(self) -> bool {
        match self {
            Self::Anthropic | Self::Converse => true,
            Self::OpenAiChat | Self::OpenAiResponses | Self::Gemini | Self::Ollama => false,
        }
    }

    /// Whether ids of calls must be plain words.
    pub(crate) const fn wants_plain_ids(self) -> bool {
        match self {
            Self::Anthropic | Self::Converse => true,
            Self::OpenAiChat | Self::OpenAiResponses | Self::Gemini | Self::Ollama => false,
        }
    }

    /// The members that hold the id of a call and of the result that answers it.
    pub(crate) const fn id_members(self) -> (&'static str, &'static str) {
        match self {
            Self::OpenAiChat | Self::Ollama => ("id", "tool_call_id"),
            Self::OpenAiResponses => ("call_id", "call_id"),
            Self::Anthropic => ("id", "tool_use_id"),
            Self::Gemini => ("id", "id"),
            Self::Converse => ("toolUseId", "toolUseId"),
        }
    }

    /// Whether the first message must be the user's.
    pub(crate) const fn starts_with_user(self) -> bool {
        match self {
            Self::Anthropic | Self::Gemini | Self::Converse => true,
            Self::OpenAiChat | Self::OpenAiResponses | Self::Ollama => false,
        }
    }

    /// Whether an empty text part makes the provider reject the request.
    pub(crate) const fn rejects_empty_text(self) -> bool {
        match self {
            Self::Anthropic | Self::Gemini | Self::Converse => true,
            Self::OpenAiChat | Self::OpenAiResponses | Self::Ollama => false,
        }
    }

    /// Whether a document may be plain text.
    pub(crate) const fn has_text_documents(self) -> bool {
        match self {
            Self::Anthropic => true,
            Self::OpenAiChat
            | Self::OpenAiResponses
            | Self::Gemini
            | Self::Converse
            | Self::Ollama => false,
        }
    }

    /// Whether a result says the name of its tool.
    pub(crate) const fn names_results(self) -> bool {
        match self {
            Self::Gemini | Self::Ollama => true,
            Self::OpenAiChat | Self::OpenAiResponses | Self::Anthropic | Self::Converse => false,
        }
    }

    /// Whether the content of a result is always a list of blocks.
    pub(crate) const fn lists_results(self) -> bool {
        match self {
            Self::Converse => true,
            Self::OpenAiChat
            | Self::OpenAiResponses
            | Self::Anthropic
            | Self::Gemini
            | Self::Ollama => false,
        }
    }

    /// Whether two turns of the assistant in a row are refused.
    pub(crate) const fn alternates(self) -> bool {
        match self {
            Self::Converse => true,
            Self::OpenAiChat
            | Self::OpenAiResponses
            | Self::Anthropic
            | Self::Gemini
            | Self::Ollama => false,
        }
    }

    /// Whether the model stands in the body; elsewhere it is part of the path.
    pub const fn names_model(self) -> bool {
        match self {
            Self::OpenAiChat | Self::OpenAiResponses | Self::Anthropic | Self::Ollama => true,
            Self::Gemini | Self::Converse => false,
        }
    }

    /// Whether a medium that came like that can be written, where a plan shows it.
    pub(crate) const fn carries(
        self,
        kind: crate::profile::MediaKind,
        source: &crate::media::Source<'_>,
    ) -> bool {
        use crate::media::Source;
        use crate::profile::MediaKind::{Audio, Document, Image};
        match (self, kind, source) {
            (_, _, Source::Missing)
            | (Self::OpenAiChat, Document, Source::Url(_))
            | (Self::OpenAiChat, Image, Source::File(_))
            | (Self::OpenAiChat | Self::OpenAiResponses, Audio, Source::Url(_) | Source::File(_))
            | (Self::Anthropic, Audio, _)
            | (Self::Gemini, _, Source::Url(_))
            | (Self::Converse | Self::Ollama, _, Source::Url(_) | Source::File(_)) => false,
            (
                Self::OpenAiChat
                | Self::OpenAiResponses
                | Self::Anthropic
                | Self::Gemini
                | Self::Converse
                | Self::Ollama,
                Image | Document | Audio,
                Source::Data(_) | Source::Text(_) | Source::Url(_) | Source::File(_),
            ) => true,
        }
    }

    /// Whether an image can say how closely it is to be looked at.
    pub(crate) const fn says_detail(self) -> bool {
        match self {
            Self::OpenAiChat | Self::OpenAiResponses => true,
            Self::Anthropic | Self::Gemini | Self::Converse | Self::Ollama => false,
        }
    }

    /// Whether a document that came like that is sent with its name.
    pub(crate) const fn names_document(self, source: &crate::media::Source<'_>) -> bool {
        use crate::media::Source;
        match (self, source) {
            (Self::OpenAiChat | Self::OpenAiResponses, Source::Data(_)) | (Self::Anthropic, _) => {
                true
            }
            (
                Self::OpenAiChat
                | Self::OpenAiResponses
                | Self::Gemini
                | Self::Converse
                | Self::Ollama,
                _,
            ) => false,
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
