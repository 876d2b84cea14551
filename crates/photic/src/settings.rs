//! What a request says beside its messages, in words that every wire shares.
//!
//! On its own wire a body keeps these fields as they stand; this is for the other wires.

use std::borrow::Cow;

use crate::json::Str;
use crate::wire::Wire;

/// The neutral settings of a request.
#[derive(Clone, Debug, Default)]
pub struct Settings<'a> {
    /// The model asked for.
    pub model: Option<Str<'a>>,
    /// The most tokens to answer with.
    pub max_tokens: Option<&'a [u8]>,
    /// Strings that end the answer.
    pub stop: Vec<Str<'a>>,
    /// The tools offered.
    pub tools: Vec<Tool<'a>>,
    /// Which tool must or may be called.
    pub tool_choice: Option<ToolChoice<'a>>,
    /// Whether several calls may be made at once.
    pub parallel_calls: Option<bool>,
    /// The form the answer must have.
    pub format: Option<Format<'a>>,
    /// How hard to think.
    pub effort: Option<Str<'a>>,
    /// Whether a stream should end with what it cost, where that has to be asked for.
    pub usage_in_stream: bool,
    /// Fields that mean the same under the same name wherever they are known.
    pub shared: Vec<(&'static str, &'a [u8])>,
    /// Whether part of the conversation is kept by the provider.
    pub continues_elsewhere: bool,
    /// Fields of the source wire that no other wire has a word for.
    pub untranslatable: Vec<Str<'a>>,
    /// Fields we do not know; they travel as they are.
    pub unknown: Vec<(Str<'a>, &'a [u8])>,
}

impl<'a> Settings<'a> {
    /// The value of a field that all wires share.
    pub(crate) fn shared(&self, name: &str) -> Option<&'a [u8]> {
        self.shared.iter().find(|(shared, _)| *shared == name).map(|(_, raw)| *raw)
    }

    /// The tools that every wire can offer.
    pub(crate) fn functions(&self) -> impl Iterator<Item = &Tool<'a>> {
        self.tools.iter().filter(|tool| matches!(tool, Tool::Function { .. }))
    }
}

/// A tool on offer.
#[derive(Clone, Debug)]
pub enum Tool<'a> {
    /// A function with a schema.
    Function {
        /// Its name.
        name: Str<'a>,
        /// What it does.
        description: Option<Str<'a>>,
        /// The JSON schema of its arguments.
        schema: Option<Cow<'a, [u8]>>,
        /// Whether arguments must match the schema exactly.
        strict: Option<bool>,
    },
    /// A tool that only its own wire knows.
    Foreign,
}

/// Which tool must or may be called.
#[derive(Clone, Debug)]
pub enum ToolChoice<'a> {
    /// The model chooses.
    Auto,
    /// None.
    None,
    /// At least one.
    Any,
    /// This one.
    Named(Str<'a>),
}

/// The form an answer must have.
#[derive(Clone, Debug)]
pub enum Format<'a> {
    /// Some JSON object.
    Json,
    /// JSON of a schema: its name, the schema, whether it is strict.
    Schema(Option<Str<'a>>, Cow<'a, [u8]>, Option<bool>),
}

/// What becomes of a shared field on a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shared {
    /// It keeps its name and place.
    Same,
    /// The wire says it in another place, which its writer knows.
    Elsewhere,
    /// The wire has no word for it.
    Absent,
}

/// Fields that keep value and meaning between the wires.
pub(crate) const SHARED: [&str; 12] = [
    "temperature",
    "top_p",
    "stream",
    "metadata",
    "store",
    "service_tier",
    "user",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
    "prompt_cache_options",
    "top_logprobs",
];

impl Wire {
    /// What becomes of one of [`SHARED`].
    pub(crate) fn shares(self, field: &str) -> Shared {
        let everywhere = matches!(field, "temperature" | "top_p" | "stream");
        match self {
            Self::OpenAiChat | Self::OpenAiResponses => Shared::Same,
            Self::Anthropic if everywhere => Shared::Same,
            Self::Gemini | Self::Converse | Self::Ollama if everywhere => Shared::Elsewhere,
            Self::Anthropic | Self::Gemini | Self::Converse | Self::Ollama => Shared::Absent,
        }
    }
}
