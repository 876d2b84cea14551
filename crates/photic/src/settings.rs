//! What a request says beside its messages, in words that every wire shares.
//!
//! On its own wire a body keeps these fields as they stand; this is for the other wires.

use crate::json::Str;

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
        schema: Option<&'a [u8]>,
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
    Schema(Option<Str<'a>>, &'a [u8], Option<bool>),
}

/// Fields that keep name, value and meaning between the wires named here.
///
/// The order of the flags is Chat Completions, Responses, Messages.
pub(crate) const SHARED: [(&str, [bool; 3]); 12] = [
    ("temperature", [true, true, true]),
    ("top_p", [true, true, true]),
    ("stream", [true, true, true]),
    ("metadata", [true, true, false]),
    ("store", [true, true, false]),
    ("service_tier", [true, true, false]),
    ("user", [true, true, false]),
    ("safety_identifier", [true, true, false]),
    ("prompt_cache_key", [true, true, false]),
    ("prompt_cache_retention", [true, true, false]),
    ("prompt_cache_options", [true, true, false]),
    ("top_logprobs", [true, true, false]),
];
