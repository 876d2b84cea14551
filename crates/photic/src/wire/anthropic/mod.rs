//! Anthropic Messages: turns of content blocks, tool results inside user turns.
//!
//! Its traps: results come first and together, and an error result holds text only.

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
use stream_in::StreamReader;
use stream_out::StreamWriter;

use super::{
    AllowedTools, ErrorKind, ErrorWords, Http, MessageRules, PathParams, Protocol, escaped,
};
use crate::json::{Out, Segments, Value};
use crate::lift::{Draft, Lifter};
use crate::lower::{Step, Unread, Writer};
use crate::media::{MediaKind, Source};
use crate::profile::capability::Question;
use crate::reply::{Reply, Stop, Usage};
use crate::settings::Word;
use crate::stream::StreamOptions;
use crate::transcript::{Message, Role};

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

impl Protocol for Anthropic {
    fn rules(&self) -> &'static MessageRules {
        &RULES
    }

    fn http(&self) -> &'static Http {
        &http::HTTP
    }

    fn likeness(&self, root: Value<'_, '_>) -> u8 {
        detect::likeness(root)
    }

    fn reply_likeness(&self, root: Value<'_, '_>) -> u8 {
        detect::reply_likeness(root)
    }

    fn fits(&self, root: Value<'_, '_>) -> bool {
        detect::fits(root)
    }

    fn lift<'d, 'a>(&self, lifter: &mut Lifter<'d, 'a>, root: Value<'d, 'a>) -> Draft<'a> {
        lift::lift(lifter, root)
    }

    fn unread<'a>(&self, root: Value<'_, 'a>, unread: &mut Unread<'a>) {
        unread::unread(root, unread);
    }

    fn body<'a>(&self, writer: &mut Writer<'_, 'a>, steps: &[Step<'a>]) -> Segments<'a> {
        lower::body(writer, steps)
    }

    fn unit<'a>(&self, writer: &Writer<'_, 'a>, out: &mut Out<'a>, message: &Message<'a>) {
        lower::unit(writer, out, message);
    }

    fn content<'a>(&self, writer: &Writer<'_, 'a>, out: &mut Out<'a>, message: &Message<'a>) {
        lower::content(writer, out, message);
    }

    fn setting(&self, name: &str) -> Word {
        settings::word(name)
    }

    fn carries(&self, kind: MediaKind, source: &Source<'_>) -> bool {
        kind != MediaKind::Audio && !matches!(source, Source::Missing)
    }

    fn names_document(&self, _source: &Source<'_>) -> bool {
        true
    }

    fn lift_reply<'d, 'a>(
        &self,
        lifter: &mut Lifter<'d, 'a>,
        root: Value<'d, 'a>,
    ) -> (Vec<Message<'a>>, Stop, Option<Usage>) {
        reply::lift_reply(lifter, root)
    }

    fn lower_reply<'a>(&self, writer: &Writer<'_, 'a>, reply: &Reply<'a>) -> Segments<'a> {
        reply::lower_reply(writer, reply)
    }

    fn stream_reader(&self) -> Box<dyn crate::wire::StreamReader> {
        Box::<StreamReader>::default()
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
}
