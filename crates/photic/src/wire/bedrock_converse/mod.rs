//! Amazon Bedrock's `Converse`: turns of content blocks that are named by their only member.
//!
//! Its traps: turns alternate, a document needs a neutral name and a text beside it, and tool
//! turns need declared tools. Whether a result may hold pictures depends on the model.

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

const RULES: MessageRules = MessageRules {
    flat: false,
    nests_results: true,
    lists_results: true,
    names_results: false,
    lists_content: false,
    text_only_failures: true,
    unique_call_ids: true,
    plain_call_ids: true,
    id_members: ("toolUseId", "toolUseId"),
    content_members: ("content", "content"),
    images_beside: false,
    starts_with_user: true,
    alternates: true,
    rejects_empty_text: true,
    text_documents: false,
    document_urls: false,
    detail: false,
    names_model: false,
    markable: &[],
    strict_tools: true,
    allowed_tools: AllowedTools::No,
    effort: false,
    usage_on_request: false,
    extended: false,
};

/// The implementation.
pub(crate) struct BedrockConverse;

implement_protocol!(BedrockConverse {
    fn carries(&self, _kind: MediaKind, source: &Source<'_>) -> bool {
        matches!(source, Source::Data(_) | Source::Text(_))
    }

    fn stream_writer(&self, _options: StreamOptions) -> Box<dyn crate::wire::StreamWriter> {
        Box::<StreamWriter>::default()
    }

    fn path(&self, params: &PathParams) -> (Cow<'static, str>, Option<&'static str>) {
        http::path(params)
    }

    fn parse_path(&self, path: &str) -> Option<PathParams> {
        http::parse_path(path)
    }

    fn error_word(&self, kind: ErrorKind) -> &'static str {
        http::error_word(kind)
    }

    fn error_body(&self, error: &ErrorWords<'_>) -> Json {
        http::error_body(error)
    }

    fn model_documents(&self, _base: &str, _root: &str, _model: &str) -> Vec<Question> {
        // Another service describes its models.
        Vec::new()
    }
});
