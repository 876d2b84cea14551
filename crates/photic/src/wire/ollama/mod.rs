//! Ollama's own chat API: content is one string, and pictures are beside it as bare base64.
//!
//! Its traps: no types, no addresses, and `[img]` in the text marks the place of each picture.

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
use crate::json::Out;
use crate::lower::Writer;
use crate::media::{MediaKind, Source};
use crate::profile::capability::Question;
use crate::stream::StreamOptions;
use crate::transcript::Message;

const RULES: MessageRules = MessageRules {
    flat: false,
    nests_results: false,
    lists_results: false,
    names_results: true,
    lists_content: false,
    text_only_failures: false,
    unique_call_ids: false,
    plain_call_ids: false,
    id_members: ("id", "tool_call_id"),
    content_members: ("content", "content"),
    images_beside: true,
    starts_with_user: false,
    alternates: false,
    rejects_empty_text: false,
    text_documents: false,
    document_urls: false,
    detail: false,
    names_model: true,
    markable: &[],
    strict_tools: false,
    allowed_tools: AllowedTools::No,
    effort: true,
    usage_on_request: false,
    extended: false,
};

/// The implementation.
pub(crate) struct Ollama;

implement_protocol!(Ollama {
    fn images<'a>(
        &self,
        writer: &Writer<'_, 'a>,
        out: &mut Out<'a>,
        message: &Message<'a>,
    ) -> bool {
        lower::images(writer, out, message)
    }

    fn carries(&self, _kind: MediaKind, source: &Source<'_>) -> bool {
        matches!(source, Source::Data(_) | Source::Text(_))
    }

    fn stream_writer(&self, _options: StreamOptions) -> Box<dyn crate::wire::StreamWriter> {
        Box::<StreamWriter>::default()
    }

    fn path(&self, _params: &PathParams) -> (Cow<'static, str>, Option<&'static str>) {
        ("/api/chat".into(), None)
    }

    fn parse_path(&self, path: &str) -> Option<PathParams> {
        (path == "/api/chat").then(PathParams::default)
    }

    fn error_word(&self, kind: ErrorKind) -> &'static str {
        http::error_word(kind)
    }

    fn error_body(&self, error: &ErrorWords<'_>) -> Json {
        http::error_body(error)
    }

    fn model_documents(&self, _base: &str, root: &str, model: &str) -> Vec<Question> {
        vec![Question::show(root, model)]
    }
});

/// The marker for the place of a picture in a text.
const MARKER: &str = "[img]";
