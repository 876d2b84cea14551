//! Anthropic Messages: turns of content blocks, tool results inside user turns.
//!
//! Its traps: results must come first and together, and an error result holds only text.

mod detect;
mod http;
mod lift;
mod lower;
mod reply;
mod settings;
mod stream_in;
mod stream_out;
mod unread;

use std::borrow::Cow;

use serde_json::Value as Json;
use stream_out::StreamWriter;

use super::protocol::implement_protocol;
use super::{AllowedTools, ErrorKind, ErrorWords, MessageRules, PathParams, escaped};
use crate::media::{MediaKind, Source};
use crate::profile::capability::Question;
use crate::stream::StreamOptions;
use crate::transcript::Role;

const RULES: MessageRules = MessageRules {
    flat: false,
    nests_results: true,
    lists_results: false,
    names_results: false,
    lists_content: false,
    text_only_failures: true,
    unique_call_ids: true,
    plain_call_ids: true,
    id_members: ("id", "tool_use_id"),
    content_members: ("content", "content"),
    images_beside: false,
    starts_with_user: true,
    alternates: false,
    rejects_empty_text: true,
    text_documents: true,
    document_urls: true,
    detail: false,
    names_model: true,
    markable: &[Role::User, Role::Tool, Role::Assistant],
    strict_tools: true,
    allowed_tools: AllowedTools::No,
    effort: true,
    usage_on_request: false,
    extended: false,
};

/// The implementation.
pub(crate) struct Anthropic;

implement_protocol!(Anthropic {
    fn carries(&self, kind: MediaKind, source: &Source<'_>) -> bool {
        kind != MediaKind::Audio && !matches!(source, Source::Missing)
    }

    fn names_document(&self, _source: &Source<'_>) -> bool {
        true
    }

    fn stream_writer(&self, _options: StreamOptions) -> Box<dyn crate::wire::StreamWriter> {
        Box::<StreamWriter>::default()
    }

    fn path(&self, _params: &PathParams) -> (Cow<'static, str>, Option<&'static str>) {
        ("/v1/messages".into(), None)
    }

    fn parse_path(&self, path: &str) -> Option<PathParams> {
        (path == "/messages").then(PathParams::default)
    }

    fn error_word(&self, kind: ErrorKind) -> &'static str {
        http::error_word(kind)
    }

    fn error_body(&self, error: &ErrorWords<'_>) -> Json {
        http::error_body(error)
    }

    fn model_documents(&self, _base: &str, root: &str, model: &str) -> Vec<Question> {
        vec![Question::get(format!("{root}/v1/models/{}", escaped(model)))]
    }
});
