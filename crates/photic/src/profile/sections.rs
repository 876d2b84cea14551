//! The sections of a profile: one struct each, and the values that their fields may hold.
//!
//! Owns the schema of `profiles/*.toml`; an unknown key is an error there. Defaults read silence
//! cautiously: capability unknown, media hoisted to the user, no limit invented.

use serde::{Deserialize, Serialize};

use super::dialect::{AnswerLimit, AudioPart, CallIds, DocumentPart, ImageAddress, StreamOptions};
use crate::tokens::Detail;

/// A capability that may be unknown. Unknown is tried and learned from, never treated as no.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// Supported.
    Yes,
    /// Not supported.
    No,
    /// No source has stated it.
    #[default]
    Unknown,
}

/// The place in which a wire carries a tool result's media for this model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Placement {
    /// In the tool result itself.
    Native,
    /// In a user message after the whole run of tool results.
    #[default]
    UserAfterTools,
    /// Beside the tool results, in the same turn.
    SiblingSameTurn,
    /// In a user message that a short assistant message separates from the tool results.
    AssistantBridge,
    /// Nowhere: a text says what is not shown.
    TextOnly,
}

/// The content that a tool result marked as an error may hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorResults {
    /// Text only; media must move elsewhere.
    TextOnly,
    /// Any content that a successful one may hold.
    #[default]
    Media,
}

/// The form in which the bytes of a part reach the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Inline, as base64.
    Data,
    /// A URL that the provider fetches.
    Url,
    /// An id from the provider's file store.
    File,
}

/// A role of messages that may hold images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The system prompt.
    System,
    /// The developer prompt.
    Developer,
    /// The user.
    User,
    /// The model, in replayed messages.
    Assistant,
}

/// The endpoint's handling of two user messages in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ConsecutiveUser {
    /// They are allowed.
    #[default]
    Ok,
    /// They must be merged into one, because a chat template demands alternation.
    Merge,
}

/// The form that the content of a tool message may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolContent {
    /// A plain string; a list of parts is rejected or mangled.
    String,
    /// A string or a list of parts.
    #[default]
    Any,
}

/// The server's handling of transparency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Alpha {
    /// The server composites it sensibly.
    #[default]
    Keep,
    /// The server drops it and shows whatever lies beneath; composite before sending.
    Drop,
}

/// The role of a system message in the middle of a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MidSystem {
    /// It stays a system message.
    #[default]
    Native,
    /// It becomes text of the user.
    User,
}

/// The kinds of media that the model perceives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sight {
    /// Images.
    pub images: Capability,
    /// Documents as pages or text.
    pub documents: Capability,
    /// Audio.
    pub audio: Capability,
}

/// The placement of tool-result media, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Placements {
    /// Images.
    pub image: Placement,
    /// Documents.
    pub document: Placement,
    /// Audio.
    pub audio: Placement,
    /// The content that a tool result marked as an error may hold.
    pub error_results: ErrorResults,
}

/// The media types, sources and roles that the wire accepts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Accepts {
    /// Image media types.
    pub image: Vec<String>,
    /// Document media types.
    pub document: Vec<String>,
    /// Audio media types.
    pub audio: Vec<String>,
    /// The sources from which media may come.
    pub sources: Vec<Source>,
    /// Roles that may hold images. [`Placements`] covers tool results.
    pub image_roles: Vec<Role>,
}

impl Default for Accepts {
    fn default() -> Self {
        Self {
            image: vec!["image/png".to_owned(), "image/jpeg".to_owned()],
            document: Vec::new(),
            audio: Vec::new(),
            sources: vec![Source::Data],
            image_roles: vec![Role::User],
        }
    }
}

/// A stricter edge limit for requests that hold many images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Crowd {
    /// The number of images beyond which a request holds a crowd.
    pub above: u32,
    /// Maximum length of the longest side of every image in a crowd, in pixels.
    pub edge: u32,
    /// `true` if documents count towards the number.
    #[serde(default)]
    pub counts_documents: bool,
}

/// The limits beyond which the endpoint rejects a request. `None` means that no limit is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Maximum bytes of one image after base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_base64_bytes: Option<u64>,
    /// Maximum bytes of one image before base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_raw_bytes: Option<u64>,
    /// Maximum number of images in a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<u32>,
    /// Maximum bytes of a request body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_bytes: Option<u64>,
    /// Maximum length of the longest side of an image, in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edge: Option<u32>,
    /// A stricter edge limit for many images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crowd: Option<Crowd>,
    /// Minimum length of the shortest side of an image, in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_edge: Option<u32>,
    /// Maximum number of 32 px patches of an image after the provider's resize.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patches: Option<u32>,
    /// Maximum number of documents in a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documents: Option<u32>,
    /// Maximum bytes of one document before base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document_bytes: Option<u64>,
    /// Maximum number of pages of all documents in a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document_pages: Option<u32>,
    /// Maximum tokens of a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
}

/// The token price of a page of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pages {
    /// Tokens of a page. `None` means that no rate is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u32>,
    /// Tokens of a page at `low`, if that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<u32>,
    /// Tokens of a page at `high`, if that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<u32>,
}

impl Pages {
    /// Returns the tokens of a page at a detail, if a rate is known.
    pub fn tokens_at(&self, detail: Option<Detail>) -> Option<u32> {
        let other = match detail {
            Some(Detail::Low) => self.low,
            Some(Detail::High | Detail::Original) => self.high,
            Some(Detail::Auto | Detail::Medium) | None => None,
        };
        other.or(self.tokens)
    }
}

/// The prices and rules of the prompt cache. Prices are ratios of the base input price.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cache {
    /// The price of a token read from the cache.
    pub read: f64,
    /// The price of a token written to it; 1 if writing carries no fee.
    pub write: f64,
    /// The price of a token written to the long-lived tier, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_long: Option<f64>,
    /// Minimum length of a prefix that is cached, in tokens.
    pub min_tokens: u64,
    /// Maximum number of blocks that a read walks back from a breakpoint. `None` means no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lookback_blocks: Option<u32>,
    /// Maximum number of explicit breakpoints. `None` means that the wire has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breakpoints: Option<u32>,
    /// The lifetime of an unused entry, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_seconds: Option<u64>,
    /// The mark at the end of a prefix to keep. `None` means that marks are not sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<Mark>,
    /// `true` if the endpoint keeps the end of every request without a mark.
    pub marks_tail: bool,
}

/// The member that marks a part as the end of a prefix to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Mark {
    /// `"cache_control":{"type":"ephemeral"}`
    CacheControl,
    /// `"prompt_cache_breakpoint":{"mode":"explicit"}`
    PromptCacheBreakpoint,
}

impl Mark {
    /// Every mark.
    pub const ALL: [Self; 2] = [Self::CacheControl, Self::PromptCacheBreakpoint];

    /// Returns the name of the member.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CacheControl => "cache_control",
            Self::PromptCacheBreakpoint => "prompt_cache_breakpoint",
        }
    }

    /// Returns the value of the member.
    pub const fn value(self) -> &'static str {
        match self {
            Self::CacheControl => "{\"type\":\"ephemeral\"}",
            Self::PromptCacheBreakpoint => "{\"mode\":\"explicit\"}",
        }
    }

    /// Returns the value that keeps a prefix for as long as the wire allows. It is the usual one if
    /// no longer lifetime is known.
    pub const fn long_value(self) -> &'static str {
        match self {
            Self::CacheControl => "{\"type\":\"ephemeral\",\"ttl\":\"1h\"}",
            Self::PromptCacheBreakpoint => self.value(),
        }
    }

    /// Returns `true` if a value asks for a longer lifetime than usual.
    pub(crate) fn is_long(self, value: crate::json::Value<'_, '_>) -> bool {
        match self {
            Self::CacheControl => value.get("ttl").is_some_and(|life| life.is("1h")),
            Self::PromptCacheBreakpoint => false,
        }
    }
}

impl Default for Cache {
    /// Returns the rules of an endpoint without a cache: every token is paid in full every turn.
    fn default() -> Self {
        Self {
            read: 1.0,
            write: 1.0,
            write_long: None,
            min_tokens: 0,
            lookback_blocks: None,
            breakpoints: None,
            ttl_seconds: None,
            mark: None,
            marks_tail: false,
        }
    }
}

/// Other peculiarities of an endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Quirks {
    /// The endpoint's handling of two user messages in a row.
    pub consecutive_user: ConsecutiveUser,
    /// The form that the content of a tool message may have.
    pub tool_content: ToolContent,
    /// The server's handling of transparency.
    pub alpha: Alpha,
    /// The detail to state on an image that has none. `None` leaves it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
    /// The details that the endpoint takes. Empty if it has no such setting or none is known.
    pub details: Vec<Detail>,
    /// The role of a system message in the middle of a conversation.
    pub mid_system: MidSystem,
    /// The substitute for the signature of the thought behind a call, if one is demanded and the
    /// call was made on another wire.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_signature: Option<String>,
    /// The form that call ids must have.
    pub call_ids: CallIds,
    /// The spelling of an image address.
    pub image_address: ImageAddress,
    /// The part that holds a document.
    pub document_part: DocumentPart,
    /// The server's capability to open a picture by a path on its own machine (`file://`).
    pub local_paths: Capability,
    /// The form of `input_audio`.
    pub audio_part: AudioPart,
    /// The setting that bounds an answer.
    pub answer_limit: AnswerLimit,
    /// The endpoint's handling of the stream options.
    pub stream_options: StreamOptions,
}
