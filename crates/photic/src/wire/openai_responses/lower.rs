//! Writes a transcript as a Responses body.

use crate::json::{Kind, Out, Segments, Str};
use crate::lower::{Step, Writer, joined, texts};
use crate::media::{MediaKind, Source};
use crate::notice;
use crate::transcript::{Call, CallKind, Home, Life, MediaPart, Message, Part, Role, ToolResult};
use crate::wire::parts::{self, Parts};

/// Writes a body from another wire's transcript.
pub(super) fn body<'a>(writer: &mut Writer<'_, 'a>, steps: &[Step<'a>]) -> Segments<'a> {
    let mut out = Out::new();
    out.json("{");
    super::settings::write(writer, &mut out);
    parts::body(writer, out, "input", steps)
}

/// Writes a message as items of the list.
pub(super) fn unit<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, message: &Message<'a>) {
    let role = match message.role {
        Role::System => "system",
        Role::Developer => "developer",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => {
            for result in message.results() {
                let kind = match result.kind {
                    CallKind::Custom if writer.same_wire() => "custom_tool_call_output",
                    CallKind::Function | CallKind::Custom | CallKind::Screen | CallKind::Hosted => {
                        "function_call_output"
                    }
                };
                out.comma().json("{\"type\":").quoted(kind).json(",\"call_id\":");
                out.string(&result.call_id).json(",\"output\":");
                result_output(writer, out, result, message.marked);
                out.json("}");
            }
            return;
        }
        Role::Unknown => return,
    };
    let says = message.parts.iter().any(|part| match part {
        Part::Text(text) => !text.text.is_empty(),
        Part::Call(_) | Part::Thinking(_) | Part::Mark(_) => false,
        Part::Opaque(_) => message.role != Role::Assistant,
        Part::Media(_)
        | Part::TextWithMedia(_)
        | Part::Nested(_)
        | Part::Result(_)
        | Part::Refusal(_) => true,
    });
    if says {
        out.comma().json("{\"type\":\"message\",\"role\":\"").json(role).json("\",\"content\":[");
        message_parts(writer, out, message);
        out.json("]}");
    }
    for call in message.calls() {
        function_call(writer, out, call);
    }
}

/// Writes the content of an item.
pub(super) fn content<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, message: &Message<'a>) {
    if let Some(result) = message.results().next() {
        return result_output(writer, out, result, message.marked);
    }
    match (message.home, message.role) {
        (Home::Field, Role::System) => joined(out, &texts(&message.parts)),
        (Home::Field, _) => {
            out.json("[");
            unit(writer, out, &Message { home: Home::List, ..message.clone() });
            out.json("]");
        }
        (Home::List, _) => {
            out.json("[");
            message_parts(writer, out, message);
            out.json("]");
        }
    }
}

fn message_parts<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, message: &Message<'a>) {
    for part in &message.parts {
        if let Some(raw) = writer.verbatim(part) {
            out.comma().raw(raw);
            continue;
        }
        match (part, message.role) {
            (Part::Text(text), Role::Assistant) if !text.text.is_empty() => {
                out.comma()
                    .json("{\"type\":\"output_text\",\"text\":")
                    .string(&text.text)
                    .json("}");
            }
            (Part::Refusal(text), Role::Assistant) => {
                out.comma().json("{\"type\":\"refusal\",\"refusal\":").string(&text.text).json("}");
            }
            (_, Role::Assistant) => {}
            _ => parts::part::<ResponsesParts>(writer, out, part),
        }
    }
    if let Some(life) = message.marked {
        writer.mark(out, life);
    }
}

fn function_call<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, call: &Call<'a>) {
    if call.kind == CallKind::Custom && writer.same_wire() {
        out.comma().json("{\"type\":\"custom_tool_call\",\"call_id\":").string(&call.id);
        out.json(",\"name\":").string(&call.name).json(",\"input\":\"\"}");
        return;
    }
    out.comma().json("{\"type\":\"function_call\",\"call_id\":").string(&call.id);
    out.json(",\"name\":").string(&call.name).json(",\"arguments\":");
    call.arguments.as_string(out);
    out.json("}");
}

fn result_output<'a>(
    writer: &Writer<'_, 'a>,
    out: &mut Out<'a>,
    result: &ToolResult<'a>,
    marked: Option<Life>,
) {
    if result.kind == CallKind::Screen && writer.same_wire() {
        return screenshot(writer, out, result);
    }
    if result.kind == CallKind::Hosted && writer.same_wire() {
        return hosted(writer, out, result);
    }
    parts::result::<ResponsesParts>(writer, out, result, marked);
}

/// Writes the output of the hosted computer tool: one picture and nothing else. A picture that
/// cannot be read stays unchanged.
fn screenshot<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, result: &ToolResult<'a>) {
    let Some(slot) = result.slot else { return };
    let medium = result.content.iter().find_map(|part| match part {
        Part::Media(medium) if !matches!(writer.media(medium.id).source, Source::Missing) => {
            Some(*medium)
        }
        _ => None,
    });
    // An output of another shape is not changed.
    let is_picture = writer.transcript.doc.value(slot).kind() == Kind::Object;
    match medium.filter(|_| is_picture) {
        Some(medium) => {
            let mut address = Out::new();
            writer.address(&mut address, medium.id);
            writer.patched(out, slot, vec![(&["image_url"], address)]);
        }
        // A picture that is left out becomes a dot, because the slot takes no text.
        None if is_picture && matches!(result.content.as_slice(), [Part::Text(_)]) => {
            let mut dot = Out::new();
            dot.quoted(notice::DOT);
            writer.patched(out, slot, vec![(&["image_url"], dot)]);
        }
        None => {
            out.raw(writer.transcript.raw(slot));
        }
    }
}

/// Writes the output of a hosted tool: one string, or a list of the outputs of commands, each in
/// members of its own.
fn hosted<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, result: &ToolResult<'a>) {
    let list = result.slot.map(|slot| writer.transcript.doc.value(slot));
    let Some(list) = list.filter(|slot| slot.is_list()) else {
        return joined(out, &texts(&result.content));
    };
    out.json("[");
    for entry in list.items() {
        let mut changes = Vec::new();
        for part in &result.content {
            if let Part::Nested(nested) = part
                && nested.node == Some(entry.id())
                && nested.changed
            {
                let mut words = Out::new();
                joined(&mut words, &texts(&nested.parts));
                changes.push((nested.path, words));
            }
        }
        out.comma();
        writer.patched(out, entry.id(), changes);
    }
    out.json("]");
}

/// The spelling of parts.
struct ResponsesParts;

impl Parts for ResponsesParts {
    fn text<'a>(out: &mut Out<'a>, text: &Str<'a>) {
        text_part(out, text);
    }

    fn media<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, medium: MediaPart) {
        media_part(writer, out, medium);
    }
}

fn text_part<'a>(out: &mut Out<'a>, text: &Str<'a>) {
    out.comma().json("{\"type\":\"input_text\",\"text\":").string(text).json("}");
}

fn media_part<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, medium: MediaPart) {
    let media = writer.media(medium.id);
    match (media.kind, &media.source) {
        (_, Source::Missing) => text_part(out, &Str::plain(notice::NOT_CARRIED)),
        (_, Source::Text(text)) => text_part(out, text),
        (MediaKind::Image, source) => {
            let field = if matches!(source, Source::File(_)) { "file_id" } else { "image_url" };
            if writer.in_place(out, medium, &[field], |out| writer.address(out, medium.id)) {
                return;
            }
            out.comma().json("{\"type\":\"input_image\",").key(field);
            writer.address(out, medium.id);
            if let Some(detail) = writer.detail(medium.id) {
                out.json(",\"detail\":").quoted(detail.name());
            }
            out.json("}");
        }
        (MediaKind::Document, source) => {
            out.comma().json("{\"type\":\"input_file\",");
            match source {
                Source::File(_) => out.key("file_id"),
                Source::Url(_) => out.key("file_url"),
                Source::Data(_) | Source::Text(_) | Source::Missing => out
                    .key("filename")
                    .string(&writer.file_name(medium.id))
                    .json(",")
                    .key("file_data"),
            };
            writer.address(out, medium.id);
            out.json("}");
        }
        (MediaKind::Audio, Source::Data(payload)) => {
            parts::audio(writer, out, medium.id, payload);
        }
        (MediaKind::Audio, Source::Url(_) | Source::File(_)) => {
            text_part(out, &Str::plain(notice::NOT_CARRIED));
        }
    }
}
