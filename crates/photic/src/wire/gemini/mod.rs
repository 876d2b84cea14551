//! Google's `generateContent`: contents of parts, results as `functionResponse` parts of the user.
//!
//! Its traps: a result carries media in `parts` only on Gemini 3 and later, a result names its
//! tool, and a replayed call needs the signature of the reasoning behind it. Ids of calls are
//! optional.

mod detect;
mod http;
mod lift;
mod lower;
mod reply;
mod schema;
mod settings;
mod spelling;
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

const RULES: MessageRules = MessageRules {
    flat: false,
    nests_results: true,
    lists_results: false,
    names_results: true,
    lists_content: false,
    text_only_failures: false,
    unique_call_ids: false,
    plain_call_ids: false,
    id_members: ("id", "id"),
    content_members: ("parts", "parts"),
    images_beside: false,
    starts_with_user: true,
    alternates: false,
    rejects_empty_text: true,
    text_documents: false,
    document_urls: false,
    detail: false,
    names_model: false,
    markable: &[],
    strict_tools: false,
    allowed_tools: AllowedTools::IfForced,
    effort: true,
    usage_on_request: false,
    extended: false,
};

/// The implementation.
pub(crate) struct Gemini;

implement_protocol!(Gemini {
    fn carries(&self, _kind: MediaKind, source: &Source<'_>) -> bool {
        !matches!(source, Source::Url(_) | Source::Missing)
    }

    fn stream_writer(&self, options: StreamOptions) -> Box<dyn crate::wire::StreamWriter> {
        if options.array {
            return Box::new(StreamWriter::of_array());
        }
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

    fn model_documents(&self, _base: &str, root: &str, model: &str) -> Vec<Question> {
        vec![Question::get(format!("{root}/v1beta/models/{}", escaped(model)))]
    }
});
