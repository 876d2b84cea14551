//! The settings that a test may loosen or tighten: switches of one endpoint, and its limits.
//!
//! This module owns the defaults (the wire's own rules at their strictest) and the dated published
//! limits. It must never read a profile of `photic`: a test that needs one copies the numbers by
//! hand.

use super::patches::Patches;

/// The depth to which a picture is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pixels {
    /// The magic number only, for made-up bytes.
    Magic,
    /// The header must give a size.
    Header,
    /// The container must be whole to its last block, checksums included.
    #[default]
    Whole,
}

/// The rules of one endpoint. The default is each wire at its strictest, without numeric limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches, each named at its use")]
pub struct Rules {
    /// Chat, Gemini, Converse, Ollama: results may hold images. Off.
    pub tool_images: bool,
    /// Gemini: the first call of a turn must carry a thought signature. Off.
    pub call_signatures: bool,
    /// No image anywhere, as a text-only model has it. Off.
    pub text_only: bool,
    /// Unknown part types and fields are violations. Off.
    pub strict_unknown: bool,
    /// Base64 of pictures is allowed in text, for cases that must stay unchanged. Off.
    pub base64_text: bool,
    /// The arguments of tool calls count as text when looking for base64. Off.
    pub scan_arguments: bool,
    /// Messages: `system` messages are allowed inside the conversation. Off.
    pub system_messages: bool,
    /// Messages: neighbors of one role count as one turn, as the service merges them. Off.
    pub merge_turns: bool,
    /// A body may repeat a key of an object. Off.
    pub duplicate_keys: bool,
    /// Images by `http(s)` address are taken. On.
    pub remote_images: bool,
    /// Images by a path on the server's machine (`file://`) are taken. Off.
    pub local_paths: bool,
    /// Images by file id are taken. On.
    pub file_images: bool,
    /// Documents are taken at all. On.
    pub documents: bool,
    /// Responses and Messages: results may hold images. On.
    pub result_images: bool,
    /// Responses and Messages: results may hold documents. On.
    pub result_documents: bool,
    /// Chat: the content of a `tool` message may be a list of parts. On.
    pub tool_lists: bool,
    /// Every image of the two `OpenAI` wires must state its `detail`. Off.
    pub needs_detail: bool,
    /// Chat: a `user` message may follow a `tool` message directly. On.
    pub user_after_tool: bool,
    /// Chat: two consecutive `user` messages are allowed. On.
    pub consecutive_user: bool,
    /// Chat: ids of calls are nine letters or digits. Off.
    pub nine_letter_ids: bool,
    /// Chat: documents and sounds are strings, and images may be. Off.
    pub short_parts: bool,
    /// Chat: settings that are newer than `max_tokens` are refused. Off.
    pub first_settings: bool,
    /// Settings, tools and their schemas are judged as the model's owner does. Off.
    pub settings: bool,
    /// The model, if the wire names it in the path.
    pub model: Option<&'static str>,
    /// Messages: the version of the API.
    pub version: Option<&'static str>,
    /// The image types the endpoint takes.
    pub media_types: &'static [&'static str],
    /// The document types the endpoint takes, if known; plain text always is.
    pub document_types: Option<&'static [&'static str]>,
    /// The formats of sound that the endpoint takes in `input_audio`.
    pub audio_formats: &'static [&'static str],
    /// The values of `detail` the endpoint takes.
    pub details: &'static [&'static str],
    /// The depth to which a picture is checked.
    pub pixels: Pixels,
    /// Limits in numbers.
    pub limits: Limits,
}

impl Rules {
    /// Returns the rules of a wire with the limits its owner publishes.
    pub fn of(wire: &str) -> Self {
        let rules = Self { limits: Limits::of(wire), ..Self::default() };
        match wire {
            "gemini" => Self {
                remote_images: false,
                media_types: &["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"],
                ..rules
            },
            "bedrock-converse" => Self { remote_images: false, consecutive_user: false, ..rules },
            "ollama" => Self {
                remote_images: false,
                file_images: false,
                documents: false,
                media_types: &["image/png", "image/jpeg", "image/webp"],
                ..rules
            },
            _ => rules,
        }
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            tool_images: false,
            call_signatures: false,
            text_only: false,
            strict_unknown: false,
            base64_text: false,
            scan_arguments: false,
            system_messages: false,
            merge_turns: false,
            duplicate_keys: false,
            remote_images: true,
            local_paths: false,
            file_images: true,
            documents: true,
            result_images: true,
            result_documents: true,
            tool_lists: true,
            needs_detail: false,
            user_after_tool: true,
            consecutive_user: true,
            nine_letter_ids: false,
            short_parts: false,
            first_settings: false,
            settings: false,
            model: None,
            version: None,
            media_types: &["image/png", "image/jpeg", "image/webp", "image/gif"],
            document_types: None,
            audio_formats: &["wav", "mp3"],
            details: &["auto", "low", "high", "original"],
            pixels: Pixels::default(),
            limits: Limits::default(),
        }
    }
}

/// Limits in numbers; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Images in one request.
    pub images: Option<usize>,
    /// Characters of base64 of one image.
    pub image_base64: Option<usize>,
    /// Bytes of one image before base64.
    pub image_raw: Option<usize>,
    /// Bytes of the whole body.
    pub body: Option<usize>,
    /// Maximum side of an image in pixels.
    pub edge: Option<u32>,
    /// Minimum side of an image in pixels.
    pub min_edge: Option<u32>,
    /// A lower maximum side if a request holds many images.
    pub many: Option<Many>,
    /// Patches of one image after the provider's own resize.
    pub patches: Option<Patches>,
    /// Documents in one request.
    pub documents: Option<usize>,
    /// Bytes of one document before base64.
    pub document_raw: Option<usize>,
    /// Cache breakpoints in the request, including those the service sets by itself.
    pub breakpoints: Option<usize>,
}

/// The stricter limit of requests with many images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Many {
    /// The limit holds if there are more images than this.
    pub over: usize,
    /// Maximum side of every image in that case.
    pub edge: u32,
    /// `true` if documents count towards the number.
    pub documents: bool,
}

impl Limits {
    /// Returns the limits that the wire's owner published (November 2026); no limits for other
    /// names.
    pub fn of(wire: &str) -> Self {
        match wire {
            "openai-chat" | "openai-responses" => Self {
                images: Some(1500),
                body: Some(512 << 20),
                edge: Some(65_535),
                breakpoints: Some(4),
                ..Self::default()
            },
            "anthropic" => Self {
                images: Some(600),
                image_base64: Some(10 << 20),
                body: Some(32 << 20),
                edge: Some(8000),
                many: Some(Many { over: 20, edge: 2000, documents: false }),
                breakpoints: Some(4),
                ..Self::default()
            },
            "gemini" => Self { images: Some(3600), body: Some(100_000_000), ..Self::default() },
            "bedrock-converse" => Self {
                images: Some(20),
                image_raw: Some(3_750_000),
                body: Some(20_000_000),
                edge: Some(8000),
                documents: Some(5),
                document_raw: Some(4_500_000),
                ..Self::default()
            },
            _ => Self::default(),
        }
    }
}
