//! Replies that are not streamed: read from one wire, written for another.
//!
//! On its own wire a reply is passed on as the bytes that came.

mod answer;
mod usage;

pub use answer::{Failure, Reply, Stop, Usage};
pub use usage::find_usage;

use crate::json::{Doc, Kind, Segments, Str, Value};
use crate::lift::Lifter;
use crate::lower::{RenamedTool, Writer};
use crate::plan::{Policy, Prepared, plan};
use crate::profile::Profile;
use crate::structure::plain_id;
use crate::survey::survey;
use crate::transcript::{Arguments, CallKind, Message, Part, Role, Transcript};
use crate::wire::Wire;

/// Reads a reply that is not streamed. A reply that cannot be read is empty.
///
/// ```
/// use photic::Wire;
///
/// let body = br#"{"id":"r","choices":[{"message":{"role":"assistant","content":"Hi"},"finish_reason":"length"}]}"#;
/// let reply = photic::lift_reply(Wire::OpenAiChat, body);
/// assert_eq!(reply.stop, photic::reply::Stop::Length);
/// ```
pub fn lift_reply(wire: Wire, body: &[u8]) -> Reply<'_> {
    let doc = Doc::parse(body).unwrap_or_else(|_| Doc::empty(body));
    let mut reply = Reply {
        id: None,
        model: None,
        created: None,
        stop: Stop::End,
        usage: None,
        error: None,
        said: Transcript::unreadable(wire, body),
        restores_calls: false,
    };
    let Some(root) = doc.root().filter(|root| root.kind() == Kind::Object) else { return reply };
    let text = |name: &str| root.get(name).and_then(|value| value.str());
    reply.id = text("id").or_else(|| text("responseId"));
    reply.model = text("model").or_else(|| text("modelVersion"));
    reply.created = root.get("created").or_else(|| root.get("created_at")).and_then(seconds);
    reply.error = match root.get("error").filter(|error| !error.is_null()) {
        Some(error) => Some(failure(error)),
        // Some servers spell errors in their own way; an answer without an answer is one.
        None => root.get(wire.http().answer_member).is_none().then(|| failure(root)),
    };
    let mut lifter = Lifter::new(&doc);
    let (messages, stop, usage) = wire.protocol().lift_reply(&mut lifter, root);
    let media = lifter.into_media();
    let mut parts: Vec<Part<'_>> = messages.into_iter().flat_map(|message| message.parts).collect();
    for part in &mut parts {
        if let Part::Call(call) = part {
            let id = call.id.decode();
            let id = plain_id(&id);
            if !call.id.is(&id) {
                call.id = Str::plain(id.into_owned());
            }
        }
    }
    reply.stop = stop;
    reply.usage = usage;
    reply.said = Transcript {
        messages: vec![Message::new(Role::Assistant, parts)],
        media,
        doc,
        ..reply.said
    };
    reply
}

/// Writes a reply for a client of a wire. On the wire it came from, these are the bytes that came
/// in.
///
/// ```
/// use photic::Wire;
///
/// let body = br#"{"id":"r","choices":[{"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}"#;
/// let reply = photic::lift_reply(Wire::OpenAiChat, body);
/// let there = photic::lower_reply(&reply, Wire::Anthropic).to_vec();
/// assert!(String::from_utf8(there).unwrap().contains("end_turn"));
/// ```
pub fn lower_reply<'a>(reply: &Reply<'a>, to: Wire) -> Segments<'a> {
    if reply.said.wire == to || !reply.said.is_readable() {
        return Segments::whole(reply.said.body);
    }
    let profile = Profile::generic(to);
    let plan = plan(survey(&reply.said), &profile, &Policy::hands_off());
    let mut writer = Writer::new(&reply.said, &plan, const { &Prepared::new() });
    writer.restores_calls = reply.restores_calls;
    to.protocol().lower_reply(&writer, reply)
}

impl<'a> Reply<'a> {
    /// Returns the turn.
    pub(crate) fn message(&self) -> &Message<'a> {
        // Made by `lift_reply`, which puts exactly one there.
        const EMPTY: &Message<'static> = &Message::new(Role::Assistant, Vec::new());
        self.said.messages.first().unwrap_or(EMPTY)
    }

    /// Restores the names and forms of tools that were changed in the request. `tools` is the
    /// result of [`crate::renamed_tools`] for the request.
    pub fn rename_calls(&mut self, tools: &[RenamedTool]) {
        self.restores_calls = true;
        let parts = self.said.messages.iter_mut().flat_map(|message| &mut message.parts);
        for part in parts {
            if let Part::Call(call) = part
                && let Some(tool) = tools.iter().find(|tool| call.name.is(&tool.sent))
            {
                call.name = Str::plain(tool.name.clone());
                call.namespace = tool.namespace.clone().map(Str::plain);
                if tool.free_text {
                    call.kind = CallKind::Custom;
                    call.arguments = Arguments::Free(call.arguments.free_text());
                }
            }
        }
    }

    /// Returns `true` if the turn calls a tool.
    pub(crate) fn calls(&self) -> bool {
        self.message().parts.iter().any(|part| matches!(part, Part::Call(_)))
    }
}

fn failure<'a>(error: Value<'_, 'a>) -> Failure<'a> {
    let text = |name: &str| error.get(name).and_then(|value| value.str());
    let kind = ["type", "code", "status", "__type"].iter().find_map(|name| text(name));
    let kind = kind.filter(|kind| !kind.is_empty());
    let message = text("message").or_else(|| text("detail")).or_else(|| error.str());
    // The whole body is better than no message.
    let message = message.unwrap_or_else(|| Str::Plain(String::from_utf8_lossy(error.raw())));
    Failure { kind, message }
}

/// Creates an id for a call that came without one, from the facts that identify its reply.
pub(crate) fn call_id(reply: &str, number: usize) -> String {
    let digest = blake3::hash(reply.as_bytes()).to_hex();
    format!("call_{}_{number}", &digest.as_str()[..16])
}

/// Reads a point in time, which some servers give in fractions.
fn seconds(value: Value<'_, '_>) -> Option<u64> {
    let text = std::str::from_utf8(value.raw()).ok()?;
    text.split('.').next()?.parse().ok()
}

/// Reads a number in a reply; zero if it is absent.
///
/// It is bounded by the integers that JSON readers hold exactly, so that sums of a few never
/// overflow, whatever a server sends.
pub(crate) fn number(value: Value<'_, '_>, path: &[&str]) -> u64 {
    const EXACT: u64 = 1 << 53;
    let found = path.iter().try_fold(value, |value, name| value.get(name));
    found.and_then(|value| value.u64()).map_or(0, |number| number.min(EXACT))
}
