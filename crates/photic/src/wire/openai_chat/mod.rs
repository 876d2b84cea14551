//! OpenAI Chat Completions, and the many servers that imitate it.
//!
//! Its trap: a `tool` message carries only text, so images must go into a user message.

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

pub(crate) use reply::error;
use serde_json::Value as Json;
use stream_out::StreamWriter;

use super::protocol::implement_protocol;
use super::{AllowedTools, ErrorKind, ErrorWords, MessageRules, PathParams};
use crate::media::{MediaKind, Source};
use crate::profile::capability::Question;
use crate::stream::StreamOptions;
use crate::transcript::Role;

const RULES: MessageRules = MessageRules {
    flat: false,
    nests_results: false,
    lists_results: false,
    names_results: false,
    lists_content: false,
    text_only_failures: false,
    unique_call_ids: false,
    plain_call_ids: false,
    id_members: ("id", "tool_call_id"),
    content_members: ("content", "content"),
    images_beside: false,
    starts_with_user: false,
    alternates: false,
    rejects_empty_text: false,
    text_documents: false,
    document_urls: false,
    detail: true,
    names_model: true,
    markable: &[Role::User, Role::Tool],
    strict_tools: true,
    allowed_tools: AllowedTools::Yes,
    effort: true,
    usage_on_request: true,
    extended: true,
};

/// The implementation.
pub(crate) struct OpenAiChat;

implement_protocol!(OpenAiChat {
    fn carries(&self, kind: MediaKind, source: &Source<'_>) -> bool {
        match kind {
            MediaKind::Image => !matches!(source, Source::File(_) | Source::Missing),
            MediaKind::Document => !matches!(source, Source::Url(_) | Source::Missing),
            MediaKind::Audio => matches!(source, Source::Data(_) | Source::Text(_)),
        }
    }

    fn names_document(&self, source: &Source<'_>) -> bool {
        matches!(source, Source::Data(_))
    }

    fn stream_writer(&self, options: StreamOptions) -> Box<dyn crate::wire::StreamWriter> {
        Box::new(StreamWriter::new(options.usage))
    }

    fn path(&self, _params: &PathParams) -> (Cow<'static, str>, Option<&'static str>) {
        ("/v1/chat/completions".into(), None)
    }

    fn parse_path(&self, path: &str) -> Option<PathParams> {
        (path == "/chat/completions").then(PathParams::default)
    }

    fn error_word(&self, kind: ErrorKind) -> &'static str {
        crate::wire::openai::error_word(kind)
    }

    fn error_body(&self, error: &ErrorWords<'_>) -> Json {
        crate::wire::openai::error_body(error)
    }

    fn model_documents(&self, base: &str, root: &str, model: &str) -> Vec<Question> {
        crate::wire::openai::model_documents(base, root, model)
    }
});
