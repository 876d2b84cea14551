//! Amazon Bedrock's `Converse`: turns of content blocks that are named by their only member.
//!
//! Its traps: turns alternate, a document needs a neutral name and a text beside it, tool turns need
//! declared tools, and which results may hold pictures depends on the model behind it.

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

impl Protocol for BedrockConverse {
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
        // Its models are described by another service.
        Vec::new()
    }
}
