//! The provider APIs ("wires") that photic reads and writes: one folder and one implementation of
//! `Protocol` each.

pub(crate) mod anthropic;
pub(crate) mod bedrock_converse;
mod blocks;
mod detect;
pub(crate) mod gemini;
mod http;
pub(crate) mod ollama;
mod openai;
pub(crate) mod openai_chat;
pub(crate) mod openai_responses;
mod parts;
mod protocol;
#[cfg(feature = "sample-wire")]
mod sample;

pub use detect::{detect, detect_reply};
pub use http::{BaseVersion, ErrorKind, ErrorWords, FramingKind, Http, PathParams, escaped};
pub(crate) use protocol::{AllowedTools, MessageRules, Protocol, StreamReader, StreamWriter};
use serde::{Deserialize, Serialize};

/// Declares [`Wire`] and its registry: a variant, its name in flags, files and reports, and the
/// implementation of [`Protocol`] in its folder.
macro_rules! wires {
    ($($(#[$doc:meta])* $variant:ident = $name:literal => $protocol:expr
        $(; if feature $feature:literal)?,)*) => {
        /// A provider API for conversations.
        #[non_exhaustive]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Wire {
            $($(#[$doc])* $(#[cfg(feature = $feature)])? #[serde(rename = $name)] $variant,)*
        }

        impl Wire {
            /// Every wire, in the order documents list them.
            pub const ALL: [Self; [$($(#[cfg(feature = $feature)])? $name),*].len()] =
                [$($(#[cfg(feature = $feature)])? Self::$variant),*];

            /// The name used in flags, files and reports.
            pub const fn name(self) -> &'static str {
                match self {
                    $($(#[cfg(feature = $feature)])? Self::$variant => $name,)*
                }
            }

            pub(crate) fn protocol(self) -> &'static dyn Protocol {
                match self {
                    $($(#[cfg(feature = $feature)])? Self::$variant => &$protocol,)*
                }
            }
        }
    };
}

wires! {
    /// OpenAI Chat Completions, and every server that imitates it.
    OpenAiChat = "openai-chat" => openai_chat::OpenAiChat,
    /// OpenAI Responses.
    OpenAiResponses = "openai-responses" => openai_responses::OpenAiResponses,
    /// Anthropic Messages.
    Anthropic = "anthropic" => anthropic::Anthropic,
    /// Google's `generateContent` and `streamGenerateContent`.
    Gemini = "gemini" => gemini::Gemini,
    /// `Converse` and `ConverseStream` of Amazon Bedrock.
    BedrockConverse = "bedrock-converse" => bedrock_converse::BedrockConverse,
    /// Ollama's own `/api/chat`.
    Ollama = "ollama" => ollama::Ollama,
    /// A wire that no provider speaks, to test what a wire consists of.
    Sample = "sample" => sample::Sample; if feature "sample-wire",
}

impl Wire {
    /// Its position in [`Wire::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Whether the model is named in the body; elsewhere it is part of the path.
    pub fn names_model(self) -> bool {
        self.rules().names_model
    }

    pub(crate) fn rules(self) -> &'static MessageRules {
        self.protocol().rules()
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
