//! A wire that no provider has. It shows the parts that a wire consists of. It exists only with
//! the feature `sample-wire`, which only the test `sample_wire` enables.
//!
//! A request is `{"model", "turns": [{"who": "user", "says": [{"text"} | {"png"}]}]}`. A bot's
//! turn may have `"calls": [{"id", "name", "with"}]`. In a tool's turn, `"answers"` is the id of
//! the call it answers. A stream is one JSON document per line.

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
    nests_results: false,
    lists_results: false,
    names_results: false,
    lists_content: true,
    text_only_failures: false,
    unique_call_ids: false,
    plain_call_ids: false,
    id_members: ("id", "answers"),
    content_members: ("says", "says"),
    images_beside: false,
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
    effort: false,
    usage_on_request: false,
    extended: false,
};

/// The implementation.
pub(crate) struct Sample;

implement_protocol!(Sample {
    fn carries(&self, kind: MediaKind, source: &Source<'_>) -> bool {
        kind == MediaKind::Image && matches!(source, Source::Data(_))
    }

    fn stream_writer(&self, _options: StreamOptions) -> Box<dyn crate::wire::StreamWriter> {
        Box::<StreamWriter>::default()
    }

    fn path(&self, _params: &PathParams) -> (Cow<'static, str>, Option<&'static str>) {
        ("/sample/turns".into(), None)
    }

    fn parse_path(&self, path: &str) -> Option<PathParams> {
        (path == "/sample/turns").then(PathParams::default)
    }

    fn error_word(&self, _kind: ErrorKind) -> &'static str {
        "error"
    }

    fn error_body(&self, error: &ErrorWords<'_>) -> Json {
        serde_json::json!({"error": error.message})
    }

    fn model_documents(&self, _base: &str, _root: &str, _model: &str) -> Vec<Question> {
        Vec::new()
    }
});
