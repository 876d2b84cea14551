//! Ollama's own chat: content is one string, and pictures stand beside it as bare base64.
//!
//! Its traps: no types, no addresses, and `[img]` in the text says where each picture belongs.

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

use super::{AllowedTools, ErrorKind, ErrorWords, Http, MessageRules, PathParams, Protocol};
use crate::json::{Out, Segments, Value};
use crate::lift::{Draft, Lifter};
use crate::lower::{Step, Unread, Writer};
use crate::media::{MediaKind, Source};
use crate::profile::capability::Question;
use crate::reply::{Reply, Stop, Usage};
use crate::settings::Word;
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

impl Protocol for Ollama {
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

    fn images<'a>(
        &self,
        writer: &Writer<'_, 'a>,
        out: &mut Out<'a>,
        message: &Message<'a>,
    ) -> bool {
        lower::images(writer, out, message)
    }

    fn setting(&self, name: &str) -> Word {
        settings::word(name)
    }

    fn carries(&self, _kind: MediaKind, source: &Source<'_>) -> bool {
        matches!(source, Source::Data(_) | Source::Text(_))
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
}

/// Where a picture belongs, in a text.
const MARKER: &str = "[img]";
