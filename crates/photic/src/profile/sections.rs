//! The sections of a profile: one struct each, and the words their fields may hold.
//!
//! Owns the schema of `profiles/*.toml`; an unknown key is an error there. Defaults are the
//! cautious reading of silence: capability unknown, media hoisted to the user, no limit invented.

use serde::{Deserialize, Serialize};

use super::dialect::{AnswerLimit, AudioPart, CallIds, DocumentPart, ImageAddress, StreamOptions};
use crate::tokens::Detail;

/// Whether something can be done; unknown is tried and learned from, never treated as no.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// It can.
    Yes,
    /// It cannot.
    No,
    /// Nobody has said.
    #[default]
    Unknown,
}

/// Where a wire carries a tool result's media for this model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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

/// What a tool result marked as an error may hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorResults {
    /// Text and nothing else; media must move elsewhere.
    TextOnly,
    /// Whatever a successful one may hold.
    #[default]
    Media,
}

/// How the bytes of a part may reach the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Inline, as base64.
    Data,
    /// An address the provider fetches.
    Url,
    /// An id from the provider's file store.
    File,
}

/// A message role, as far as holding images goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The system prompt.
    System,
    /// The developer prompt.
    Developer,
    /// The user.
    User,
    /// The model, replayed.
    Assistant,
}

/// Whether two user messages may stand in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConsecutiveUser {
    /// They may.
    #[default]
    Ok,
    /// They must become one: a chat template demands alternation.
    Merge,
}

/// What the content of a tool message may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolContent {
    /// A plain string; a list of parts is rejected or mangled.
    String,
    /// A string or a list of parts.
    #[default]
    Any,
}

/// What the server does with transparency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Alpha {
    /// Composites it sensibly.
    #[default]
    Keep,
    /// Drops it, showing whatever lies beneath; composite before sending.
    Drop,
}

/// Where a system message in the middle of a conversation goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MidSystem {
    /// It stays a system message.
    #[default]
    Native,
    /// It becomes text of the user.
    User,
}

/// What the model perceives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sight {
    /// Images.
    pub images: Capability,
    /// Documents as pages or text.
    pub documents: Capability,
    /// Sound.
    pub audio: Capability,
}

/// Where tool-result media goes, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Placements {
    /// Images.
    pub image: Placement,
    /// Documents.
    pub document: Placement,
    /// Sound.
    pub audio: Placement,
    /// What a tool result marked as an error may hold.
    pub error_results: ErrorResults,
}

/// What the wire takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Accepts {
    /// Image media types.
    pub image: Vec<String>,
    /// Document media types.
    pub document: Vec<String>,
    /// Audio media types.
    pub audio: Vec<String>,
    /// How media may come.
    pub sources: Vec<Source>,
    /// Roles that may hold images; tool results are the business of [`Placements`].
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

/// A stricter edge that applies once a request holds many images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Crowd {
    /// More images than this make a crowd.
    pub above: u32,
    /// Longest side of every image in a crowd, in pixels.
    pub edge: u32,
    /// Whether documents count towards the number.
    #[serde(default)]
    pub counts_documents: bool,
}

/// What makes the endpoint reject a request; absent means no limit is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Most bytes of one image after base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_base64_bytes: Option<u64>,
    /// Most bytes of one image before base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_raw_bytes: Option<u64>,
    /// Most images in a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<u32>,
    /// Most bytes of a request body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_bytes: Option<u64>,
    /// Longest side of an image, in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edge: Option<u32>,
    /// A stricter edge for many images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crowd: Option<Crowd>,
    /// Shortest side of an image, in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_edge: Option<u32>,
    /// Most 32 px patches of an image after the provider's resize.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patches: Option<u32>,
    /// Most documents in a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documents: Option<u32>,
    /// Most bytes of one document before base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document_bytes: Option<u64>,
    /// Most pages of all documents in a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document_pages: Option<u32>,
    /// Most tokens of a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
}

/// What a page of a document costs, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pages {
    /// A page; absent means that no rate is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u32>,
    /// A page at `low`, where that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<u32>,
    /// A page at `high`, where that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<u32>,
}

impl Pages {
    /// What a page costs at a detail.
    pub fn tokens_at(&self, detail: Option<Detail>) -> Option<u32> {
        let other = match detail {
            Some(Detail::Low) => self.low,
            Some(Detail::High | Detail::Original) => self.high,
            Some(Detail::Auto | Detail::Medium) | None => None,
        };
        other.or(self.tokens)
    }
}

/// What the prompt cache costs and saves, as ratios of the base input price.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cache {
    /// A token read from the cache.
    pub read: f64,
    /// A token written to it; 1 where writing carries no fee.
    pub write: f64,
    /// A token written to the long-lived tier, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_long: Option<f64>,
    /// Shortest prefix that is cached, in tokens.
    pub min_tokens: u64,
    /// How many blocks a read walks back from a breakpoint; absent means no such limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lookback_blocks: Option<u32>,
    /// Most explicit breakpoints; absent means the wire has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breakpoints: Option<u32>,
    /// How long an entry lives unused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_seconds: Option<u64>,
    /// How a part is marked as the end of a prefix to keep; absent means marks are not sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<Mark>,
    /// Whether the end of every request is kept without a mark.
    pub marks_tail: bool,
}

/// The member that marks a part as the end of a prefix to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// `"cache_control":{"type":"ephemeral"}`
    CacheControl,
    /// `"prompt_cache_breakpoint":{"mode":"explicit"}`
    PromptCacheBreakpoint,
}

impl Mark {
    /// Every mark.
    pub const ALL: [Self; 2] = [Self::CacheControl, Self::PromptCacheBreakpoint];

    /// The name of the member.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CacheControl => "cache_control",
            Self::PromptCacheBreakpoint => "prompt_cache_breakpoint",
        }
    }

    /// Its value.
    pub const fn value(self) -> &'static str {
        match self {
            Self::CacheControl => "{\"type\":\"ephemeral\"}",
            Self::PromptCacheBreakpoint => "{\"mode\":\"explicit\"}",
        }
    }

    /// Its value where the prefix is to be kept as long as the wire allows; the usual one where no
    /// longer life is known.
    pub const fn long_value(self) -> &'static str {
        match self {
            Self::CacheControl => "{\"type\":\"ephemeral\",\"ttl\":\"1h\"}",
            Self::PromptCacheBreakpoint => self.value(),
        }
    }

    /// Whether a value asks for a longer life than usual.
    pub(crate) fn is_long(self, value: crate::json::Value<'_, '_>) -> bool {
        match self {
            Self::CacheControl => value.get("ttl").is_some_and(|life| life.is("1h")),
            Self::PromptCacheBreakpoint => false,
        }
    }
}

impl Default for Cache {
    /// No cache: every token is paid in full every turn.
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

/// What else is peculiar.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Quirks {
    /// Whether two user messages may stand in a row.
    pub consecutive_user: ConsecutiveUser,
    /// What the content of a tool message may be.
    pub tool_content: ToolContent,
    /// What the server does with transparency.
    pub alpha: Alpha,
    /// The detail to state on an image that has none; absent means leave it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
    /// The details the endpoint takes; empty means it has no such knob or none is known.
    pub details: Vec<Detail>,
    /// Where a system message in the middle of a conversation goes.
    pub mid_system: MidSystem,
    /// What stands in for the signature of the thought behind a call, where one is demanded and the
    /// call was made on another wire.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_signature: Option<String>,
    /// What the ids of calls must look like.
    pub call_ids: CallIds,
    /// How the address of an image is spelled.
    pub image_address: ImageAddress,
    /// The part that holds a document.
    pub document_part: DocumentPart,
    /// Whether a picture may be named by a path on the server's machine (`file://`).
    pub local_paths: Capability,
    /// What `input_audio` is.
    pub audio_part: AudioPart,
    /// The setting that bounds an answer.
    pub answer_limit: AnswerLimit,
    /// Whether a stream has options.
    pub stream_options: StreamOptions,
}
