//! Writes a transcript as a body of the sample wire.

use crate::json::{Out, Segments, Str};
use crate::lower::{Step, Writer};
use crate::notice;
use crate::transcript::{MediaPart, Message, Part, Role};
use crate::wire::parts::{self, Parts};

/// Writes a body from another wire's transcript.
pub(super) fn body<'a>(writer: &mut Writer<'_, 'a>, steps: &[Step<'a>]) -> Segments<'a> {
    let mut out = Out::new();
    out.json("{");
    super::settings::write(writer, &mut out);
    parts::body(writer, out, "turns", steps)
}

/// Writes a message as an element of the list.
pub(super) fn unit<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, message: &Message<'a>) {
    let who = match message.role {
        Role::System | Role::Developer => "system",
        Role::User => "user",
        Role::Assistant => "bot",
        Role::Tool => "tool",
        Role::Unknown => return,
    };
    out.comma().json("{\"who\":").quoted(who);
    if let Some(result) = message.results().next() {
        out.json(",\"answers\":").string(&result.call_id);
    }
    out.json(",\"says\":");
    content(writer, out, message);
    let mut calls = message.calls().peekable();
    if calls.peek().is_some() {
        out.json(",\"calls\":[");
        for call in calls {
            out.comma().json("{\"id\":").string(&call.id).json(",\"name\":").string(&call.name);
            out.json(",\"with\":");
            call.arguments.as_object(out);
            out.json("}");
        }
        out.json("]");
    }
    out.json("}");
}

/// Writes the content of a message.
pub(super) fn content<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, message: &Message<'a>) {
    let content = message.results().next().map_or(&message.parts, |result| &result.content);
    out.json("[");
    for part in content.iter().filter(|part| !matches!(part, Part::Call(_))) {
        match writer.verbatim(part) {
            Some(raw) => {
                out.comma().raw(raw);
            }
            None => parts::part::<SampleParts>(writer, out, part),
        }
    }
    out.json("]");
}

/// The spelling of parts.
struct SampleParts;

impl Parts for SampleParts {
    fn text<'a>(out: &mut Out<'a>, text: &Str<'a>) {
        out.comma().json("{\"text\":").string(text).json("}");
    }

    fn media<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, medium: MediaPart) {
        match writer.payload(medium.id) {
            Some(payload) => {
                out.comma().json("{\"png\":\"").bytes(payload).json("\"}");
            }
            None => Self::text(out, &Str::plain(notice::NOT_CARRIED)),
        }
    }
}
