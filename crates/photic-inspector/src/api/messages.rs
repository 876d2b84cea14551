//! The messages of a turn: as the agent sent them, as the model got them, and the recorded reply.

use photic::Transcript;
use photic::settings::Tool;
use photic::transcript::{Message, Part, Role};
use photic_store::record::StoredReply;
use photic_store::{BodySide, PlannedTurn, SessionId, numbered_source};
use serde_json::{Value, json};

use super::index::TurnFacts;
use super::labels::arguments_text;
use super::layout::{fields_of, message_spans};
use super::object::Object;
use super::reply::reply_parts;
use super::spans::cut;
use crate::failure::Failure;
use crate::inspector::Inspector;
use crate::request::ApiRequest;

/// Most messages of a page.
const MAX_MESSAGES: u64 = 50;
/// Longest text of a part, in bytes.
const MAX_TEXT: usize = 8 << 10;
/// Longest reply that is read, in bytes.
const MAX_REPLY: usize = 4 << 20;

/// The side whose messages are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    Client,
    Model,
    Reply,
}

impl View {
    /// Reads the parameter `side`.
    pub(crate) fn of(ask: &ApiRequest) -> Result<Self, Failure> {
        match ask.parameter("side") {
            None | Some("model") => Ok(Self::Model),
            Some("client") => Ok(Self::Client),
            Some("reply") => Ok(Self::Reply),
            Some(_) => Err(Failure::bad_request("`side` must be `client`, `model` or `reply`")),
        }
    }
}

/// The turn whose messages are written.
struct Context<'c> {
    turn: &'c TurnFacts,
    planned: &'c PlannedTurn,
    transcript: &'c Transcript<'c>,
    base: String,
}

impl Inspector {
    /// Returns a page of messages.
    pub(crate) async fn messages(
        &self,
        id: &SessionId,
        number: u64,
        ask: &ApiRequest,
    ) -> Result<Value, Failure> {
        let view = View::of(ask)?;
        let (from, limit) = (ask.number("from")?.unwrap_or(0), ask.limit(MAX_MESSAGES)?);
        self.message_page(id, number, view, (from, limit), ask.parameter("as") == Some("now")).await
    }

    /// Returns messages from a number on. `as_now` accepts a body that this version makes instead of
    /// the one that was sent.
    pub(crate) async fn message_page(
        &self,
        id: &SessionId,
        number: u64,
        view: View,
        (from, limit): (u64, usize),
        as_now: bool,
    ) -> Result<Value, Failure> {
        let index = self.index(id).await?;
        let turn = index.turn(number)?;
        let planned = self.planned(id, number).await?;
        let is_same = match view {
            View::Model => self.is_reproduced(id, number).await? != Some(false),
            View::Client | View::Reply => true,
        };
        if !is_same && !as_now {
            return Err(Failure::not_reproduced(number));
        }
        if view == View::Reply {
            let reply = self.history.reply(id, number).await?;
            let reply = reply.ok_or_else(|| Failure::not_found("the reply to this turn"))?;
            return Ok(reply_page(&reply));
        }
        let (wire, body) = match view {
            View::Client | View::Reply => (planned.turn.wire, &planned.client),
            View::Model => (planned.profile.wire, &planned.model),
        };
        let (transcript, _) = photic::lift(wire, body);
        let side = if view == View::Client { "client" } else { "model" };
        let base = format!("/sessions/{id}/turns/{number}/text?side={side}");
        let context = Context { turn, planned: &planned, transcript: &transcript, base };
        let fields = fields_of(&transcript, message_spans(&transcript).len());
        let messages = transcript.messages.get(fields..).unwrap_or_default();
        let start = usize::try_from(from).unwrap_or(usize::MAX).min(messages.len());
        let end = start.saturating_add(limit).min(messages.len());
        let items = (start..end).map(|at| context.message(at, at + fields, &messages[at]));
        let items: Vec<Value> = items.collect();
        let new_from = new_from(&planned, view, messages.len(), fields, turn);
        let system = transcript.messages.get(..fields).unwrap_or_default();
        let system = system.iter().flat_map(|message| &message.parts).find_map(|part| match part {
            Part::Text(text) => Some(text_part(&text.text.decode(), None)),
            _ => None,
        });
        let tools: Vec<String> = transcript.settings.tools.iter().filter_map(tool_name).collect();
        let is_first = start == 0;
        Ok(Object::new()
            .with("items", items)
            .with("total", messages.len())
            .with("new_from", new_from)
            .maybe("next", (end < messages.len()).then_some(end))
            .maybe("made_now", (!is_same).then_some(true))
            .maybe("system", system.filter(|_| is_first))
            .maybe("tools", Some(tools).filter(|tools| is_first && !tools.is_empty()))
            .value())
    }

    /// Returns a whole text of a message, for a part that was cut.
    pub(crate) async fn text(
        &self,
        id: &SessionId,
        number: u64,
        ask: &ApiRequest,
    ) -> Result<String, Failure> {
        let planned = self.planned(id, number).await?;
        let (wire, body) = match View::of(ask)? {
            View::Client => (planned.turn.wire, &planned.client),
            _ => (planned.profile.wire, &planned.model),
        };
        let wanted = (ask.number("message")?.unwrap_or(0), ask.number("part")?.unwrap_or(0));
        let (transcript, _) = photic::lift(wire, body);
        let message = usize::try_from(wanted.0).ok().and_then(|at| transcript.messages.get(at));
        let mut texts = Vec::new();
        texts_of(message.map(|one| one.parts.as_slice()).unwrap_or_default(), &mut texts);
        let text = usize::try_from(wanted.1).ok().and_then(|at| texts.into_iter().nth(at));
        text.ok_or_else(|| Failure::not_found("this text"))
    }

    /// Returns a body or reply of a turn as a file.
    pub(crate) async fn body_file(
        &self,
        id: &SessionId,
        number: u64,
        ask: &ApiRequest,
    ) -> Result<Vec<u8>, Failure> {
        Ok(match View::of(ask)? {
            View::Client => self.body(id, number, BodySide::Client).await?.to_vec(),
            View::Model => self.body(id, number, BodySide::Model).await?.to_vec(),
            View::Reply => {
                let reply = self.history.reply(id, number).await?;
                reply.ok_or_else(|| Failure::not_found("the reply to this turn"))?.bytes
            }
        })
    }
}

/// Returns the first message that the turn before does not have.
fn new_from(
    planned: &PlannedTurn,
    view: View,
    messages: usize,
    fields: usize,
    turn: &TurnFacts,
) -> usize {
    let by_client = planned.previous_end.map(|end| end.saturating_sub(fields));
    let new = match (view, turn.row.change) {
        // Messages that photic inserted are among those of the model.
        (View::Model, Some(change)) if !change.is_frame_changed => {
            usize::try_from(change.same).ok()
        }
        _ => by_client,
    };
    new.unwrap_or(0).min(messages)
}

/// Collects the texts of parts in the order in which they are numbered.
fn texts_of(parts: &[Part<'_>], texts: &mut Vec<String>) {
    for part in parts {
        match part {
            Part::Text(text) | Part::Refusal(text) => texts.push(text.text.decode().into_owned()),
            Part::Call(call) => texts.push(arguments_text(&call.arguments)),
            Part::TextWithMedia(mixed) => {
                texts.extend(mixed.pieces.iter().map(|piece| piece.decode().into_owned()));
            }
            Part::Nested(nested) => texts_of(&nested.parts, texts),
            Part::Result(result) => texts_of(&result.content, texts),
            Part::Media(_) | Part::Thinking(_) | Part::Mark(_) | Part::Opaque(_) => {}
        }
    }
}

fn text_part(text: &str, href: Option<String>) -> Value {
    let (text, more) = cut(text, MAX_TEXT);
    Object::new()
        .with("kind", "text")
        .with("text", text)
        .maybe("more", more)
        .maybe("href", href.filter(|_| more.is_some()))
        .value()
}

fn role(role: Role) -> &'static str {
    match role {
        Role::System | Role::Developer => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
        Role::Unknown => "unknown",
    }
}

impl Context<'_> {
    fn message(&self, index: usize, at: usize, message: &Message<'_>) -> Value {
        let mut texts = 0;
        let parts = self.parts(&message.parts, at, &mut texts);
        json!({"index": index, "role": role(message.role), "parts": parts})
    }

    fn parts(&self, parts: &[Part<'_>], message: usize, texts: &mut usize) -> Vec<Value> {
        let mut found = Vec::new();
        for part in parts {
            let mut number = || {
                *texts += 1;
                *texts - 1
            };
            match part {
                Part::Text(text) | Part::Refusal(text) => {
                    let text = text.text.decode();
                    let number = number();
                    found.push(self.text_or_notice(&text, message, number));
                }
                Part::TextWithMedia(mixed) => {
                    let mut media = mixed.media.iter();
                    for piece in &mixed.pieces {
                        *texts += 1;
                        let text = piece.decode();
                        if !text.is_empty() {
                            found.push(self.text(&text, message, *texts - 1));
                        }
                        found.extend(media.next().map(|id| self.picture(id.index())));
                    }
                }
                Part::Call(call) => {
                    number();
                    let arguments = arguments_text(&call.arguments);
                    let (text, more) = cut(&arguments, MAX_TEXT);
                    let call = Object::new()
                        .with("kind", "call")
                        .with("name", call.name.decode())
                        .with("arguments", text);
                    found.push(call.maybe("more", more).value());
                }
                Part::Media(part) => found.push(self.picture(part.id.index())),
                Part::Nested(nested) => found.extend(self.parts(&nested.parts, message, texts)),
                Part::Result(result) => {
                    let parts = self.parts(&result.content, message, texts);
                    let name = result.name.as_ref().map(|name| name.decode().into_owned());
                    let name = name.or_else(|| self.tool_of(&result.call_id.decode()));
                    let result = Object::new()
                        .with("kind", "result")
                        .maybe("name", name)
                        .maybe("failed", result.is_error.then_some(true));
                    found.push(result.with("parts", parts).value());
                }
                Part::Thinking(_) => found.push(json!({"kind": "other", "what": "thinking"})),
                Part::Mark(_) => {}
                Part::Opaque(_) => {
                    found.push(
                        json!({"kind": "other", "what": "content that photic does not know"}),
                    );
                }
            }
        }
        found
    }

    fn text(&self, text: &str, message: usize, number: usize) -> Value {
        let href = format!("{}&message={message}&part={number}", self.base);
        text_part(text, Some(href))
    }

    /// Returns a text, or the notice that stands in the place of a picture.
    fn text_or_notice(&self, text: &str, message: usize, number: usize) -> Value {
        let notices = self.planned.media.iter().enumerate();
        let mut notices = notices.filter_map(|(at, one)| Some((at, one.notice.as_deref()?)));
        // Two pictures may have one notice: the one of this message is meant, else the first.
        let all: Vec<usize> =
            notices.by_ref().filter(|(_, notice)| *notice == text).map(|(at, _)| at).collect();
        let near = all.iter().find(|at| self.planned.media[**at].image.message == message);
        match near.or(all.first()) {
            Some(at) => {
                let number = self.turn.numbers.get(*at).copied().flatten();
                let notice = Object::new().with("kind", "notice").with("text", text);
                notice.maybe("picture", number).value()
            }
            None => self.text(text, message, number),
        }
    }

    fn picture(&self, media: usize) -> Value {
        let medium = self.transcript.media.get(media);
        let client = medium.and_then(|medium| numbered_source(&medium.source));
        let number = client.and_then(|id| self.turn.numbers.get(id.index()).copied().flatten());
        let planned = client.and_then(|id| self.planned.media.get(id.index()));
        let kind = medium.map(|medium| medium.kind);
        Object::new()
            .with("kind", "picture")
            .maybe("picture", number)
            .maybe("media", kind)
            .maybe("media_type", planned.and_then(|one| one.image.media_type.as_ref()))
            .maybe("size", planned.and_then(|one| one.image.size))
            .maybe("bytes", planned.map(|one| one.image.bytes))
            .value()
    }

    /// Returns the tool of the call that a result answers.
    fn tool_of(&self, call_id: &str) -> Option<String> {
        let parts = self.transcript.messages.iter().flat_map(|message| &message.parts);
        parts.into_iter().find_map(|part| match part {
            Part::Call(call) if call.id.decode() == call_id => {
                Some(call.name.decode().into_owned())
            }
            _ => None,
        })
    }
}

/// Returns the recorded reply as one message.
fn reply_page(reply: &StoredReply) -> Value {
    let bytes = &reply.bytes[..reply.bytes.len().min(MAX_REPLY)];
    let text = String::from_utf8_lossy(bytes);
    let mut parts = reply_parts(&text, reply.media_type.contains("event-stream"));
    if parts.is_empty() {
        parts.push(text_part(&text, None));
    }
    let message = json!({"index": 0, "role": "assistant", "parts": parts});
    json!({"items": [message], "total": 1, "new_from": 0})
}

/// Returns the name of a tool, if it is a function.
fn tool_name(tool: &Tool<'_>) -> Option<String> {
    match tool {
        Tool::Function(function) => Some(function.name.decode().into_owned()),
        _ => None,
    }
}
