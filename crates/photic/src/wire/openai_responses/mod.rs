//! OpenAI Responses: a flat list of typed items.
//!
//! Its traps: `image_url` is a string here, and a call and its output are items of their own.

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
use super::{AllowedTools, ErrorKind, ErrorWords, MessageRules, PathParams};
use crate::media::{MediaKind, Source};
use crate::profile::capability::Question;
use crate::stream::StreamOptions;
use crate::transcript::Role;

const RULES: MessageRules = MessageRules {
    flat: true,
    nests_results: false,
    lists_results: false,
    names_results: false,
    lists_content: true,
    text_only_failures: false,
    unique_call_ids: false,
    plain_call_ids: false,
    id_members: ("call_id", "call_id"),
    content_members: ("content", "output"),
    images_beside: false,
    starts_with_user: false,
    alternates: false,
    rejects_empty_text: false,
    text_documents: false,
    document_urls: true,
    detail: true,
    names_model: true,
    markable: &[Role::User, Role::Tool],
    strict_tools: true,
    allowed_tools: AllowedTools::Yes,
    effort: true,
    usage_on_request: false,
    extended: false,
};

/// The implementation.
pub(crate) struct OpenAiResponses;

implement_protocol!(OpenAiResponses {
    fn carries(&self, kind: MediaKind, source: &Source<'_>) -> bool {
        match kind {
            MediaKind::Image | MediaKind::Document => !matches!(source, Source::Missing),
            MediaKind::Audio => matches!(source, Source::Data(_) | Source::Text(_)),
        }
    }

    fn names_document(&self, source: &Source<'_>) -> bool {
        matches!(source, Source::Data(_))
    }

    fn stream_writer(&self, _options: StreamOptions) -> Box<dyn crate::wire::StreamWriter> {
        Box::<StreamWriter>::default()
    }

    fn path(&self, _params: &PathParams) -> (Cow<'static, str>, Option<&'static str>) {
        ("/v1/responses".into(), None)
    }

    fn parse_path(&self, path: &str) -> Option<PathParams> {
        (path == "/responses").then(PathParams::default)
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
