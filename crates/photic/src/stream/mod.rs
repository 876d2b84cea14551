//! Streamed replies: the events of one wire, written as the events of another while they arrive.
//!
//! Pure state machines, as long as the reply is not: what arrives goes out at once, and only what
//! a wire repeats at its end is remembered. Never waits for an event to decide about an earlier one.

mod sse;

use crate::json::{Doc, Out, Str, Value};
use crate::reply::{Stop, Usage};
use crate::structure::plain_id;
use crate::wire::{Wire, anthropic, openai_chat, openai_responses};
use sse::Lines;

/// What happens in a stream, in neutral words.
#[derive(Clone, Debug)]
pub(crate) enum Event<'a> {
    /// The reply begins.
    Begin(Begin<'a>),
    /// Words.
    Text(Str<'a>),
    /// A call of a tool begins; calls are numbered from 0.
    Call { id: Str<'a>, name: Str<'a> },
    /// A piece of the arguments of a call.
    Arguments { call: usize, piece: Str<'a> },
    /// What it cost so far.
    Usage(Usage),
    /// Why it ends.
    Stop(Stop),
    /// It fails.
    Failure { kind: Option<Str<'a>>, message: Str<'a> },
    /// Nothing follows.
    End,
}

/// What a reply says about itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Begin<'a> {
    pub(crate) id: Option<Str<'a>>,
    pub(crate) model: Option<Str<'a>>,
    pub(crate) created: Option<u64>,
    pub(crate) usage: Option<Usage>,
}

/// Reads the events of a wire.
pub(crate) trait LiftStream: std::fmt::Debug + Send {
    /// Reads the data of one event.
    fn lift<'a>(&mut self, data: Value<'_, 'a>, emit: &mut dyn FnMut(Event<'a>));
}

/// Writes the events of a wire.
pub(crate) trait LowerStream: std::fmt::Debug + Send {
    /// Writes what an event is on this wire. Before the first event comes [`Event::Begin`], and
    /// after [`Event::Failure`] or [`Event::End`] nothing.
    fn lower(&mut self, event: &Event<'_>, out: &mut Vec<u8>);
}

/// Turns a streamed reply of one wire into that of another.
#[derive(Debug)]
pub struct Translator {
    lines: Lines,
    lifts: Box<dyn LiftStream>,
    lowers: Box<dyn LowerStream>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Begun,
    /// Why it ends was said; some servers say no more than that.
    Stopped,
    Over,
}

impl Translator {
    /// From the wire of the provider to that of the client.
    pub fn new(from: Wire, to: Wire) -> Self {
        let lifts: Box<dyn LiftStream> = match from {
            Wire::OpenAiChat => Box::new(openai_chat::StreamLift::default()),
            Wire::OpenAiResponses => Box::new(openai_responses::StreamLift::default()),
            Wire::Anthropic => Box::new(anthropic::StreamLift::default()),
        };
        let lowers: Box<dyn LowerStream> = match to {
            Wire::OpenAiChat => Box::new(openai_chat::StreamLower::default()),
            Wire::OpenAiResponses => Box::new(openai_responses::StreamLower::default()),
            Wire::Anthropic => Box::new(anthropic::StreamLower::default()),
        };
        Self { lines: Lines::default(), lifts, lowers, state: State::Waiting }
    }

    /// What the bytes that arrived are for the client; empty until an event is complete.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let Self { lines, lifts, lowers, state } = self;
        lines.push(bytes, &mut |data| {
            if data == b"[DONE]" {
                return tell(state, &mut **lowers, &Event::End, &mut out);
            }
            let Ok(doc) = Doc::parse(data) else { return };
            let Some(root) = doc.root() else { return };
            lifts.lift(root, &mut |event| tell(state, &mut **lowers, &event, &mut out));
        });
        out
    }

    /// What the end of the bytes is for the client: nothing, if the reply was over, or else that it
    /// broke off.
    pub fn finish(&mut self) -> Vec<u8> {
        let mut out = self.push(b"\n\n");
        let event = match self.state {
            State::Over => return out,
            State::Stopped => Event::End,
            State::Waiting | State::Begun => Event::Failure {
                kind: None,
                message: Str::plain("the stream broke off before its end"),
            },
        };
        tell(&mut self.state, &mut *self.lowers, &event, &mut out);
        out
    }
}

/// Hands an event on, in an order that every writer can rely on.
fn tell(state: &mut State, lowers: &mut dyn LowerStream, event: &Event<'_>, out: &mut Vec<u8>) {
    let next = match event {
        _ if *state == State::Over => return,
        Event::Begin(_) if *state != State::Waiting => return,
        Event::Begin(_) => State::Begun,
        Event::Failure { .. } => State::Over,
        _ => {
            if *state == State::Waiting {
                lowers.lower(&Event::Begin(Begin::default()), out);
                *state = State::Begun;
            }
            match event {
                Event::Stop(_) => State::Stopped,
                Event::End => State::Over,
                _ => *state,
            }
        }
    };
    *state = next;
    match event {
        Event::Call { id, name } => {
            // The id comes back in the next request, where other wires take plain words only.
            let id = Str::plain(plain_id(&id.decode()));
            lowers.lower(&Event::Call { id, name: name.clone() }, out);
        }
        event => lowers.lower(event, out),
    }
}

/// Writes one event, named or not.
pub(crate) fn write(out: &mut Vec<u8>, name: Option<&str>, data: impl FnOnce(&mut Out<'_>)) {
    if let Some(name) = name {
        out.extend_from_slice(b"event: ");
        out.extend_from_slice(name.as_bytes());
        out.push(b'\n');
    }
    out.extend_from_slice(b"data: ");
    let mut json = Out::new();
    data(&mut json);
    json.finish().iter().for_each(|piece| out.extend_from_slice(piece));
    out.extend_from_slice(b"\n\n");
}

/// A member that is a text with something in it.
pub(crate) fn text<'a>(value: Value<'_, 'a>, path: &[&str]) -> Option<Str<'a>> {
    let value = path.iter().try_fold(value, |value, name| value.get(name))?;
    value.str().filter(|text| !text.is_empty())
}

/// The error that an event tells of.
pub(crate) fn failure<'a>(error: Value<'_, 'a>) -> Event<'a> {
    let kind = text(error, &["type"]).or_else(|| text(error, &["code"]));
    let message = text(error, &["message"]).or_else(|| error.str());
    let message = message.unwrap_or_else(|| Str::Plain(String::from_utf8_lossy(error.raw())));
    Event::Failure { kind, message }
}

#[cfg(test)]
mod tests;
