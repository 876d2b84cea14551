//! Writes a transcript as a Chat Completions body.

use crate::json::{Out, Segments, Str};
use crate::lower::{Step, Writer, joined, texts};
use crate::media::{MediaKind, Source, Spelled};
use crate::notice;
use crate::profile::AudioPart;
use crate::transcript::{Arguments, Call, MediaPart, Message, Part, Role};
use crate::wire::parts::{self, Parts};

/// Writes a body from another wire's transcript.
pub(super) fn body<'a>(writer: &mut Writer<'_, 'a>, steps: &[Step<'a>]) -> Segments<'a> {
    let mut out = Out::new();
    out.json("{");
    super::settings::write(writer, &mut out);
    parts::body(writer, out, "messages", steps)
}

/// Writes a message as elements of the list.
pub(super) fn unit<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, message: &Message<'a>) {
    let role = match message.role {
        Role::System | Role::Developer => "system",
        Role::User => "user",
        Role::Assistant => return assistant(writer, out, message),
        Role::Tool => {
            for result in message.results() {
                out.comma().json("{\"role\":\"tool\",\"tool_call_id\":");
                out.string(&result.call_id).json(",\"content\":");
                parts::result::<ChatParts>(writer, out, result, message.marked);
                out.json("}");
            }
            return;
        }
        Role::Unknown => return,
    };
    if message.parts.is_empty() {
        return;
    }
    out.comma().json("{\"role\":\"").json(role).json("\",\"content\":");
    content(writer, out, message);
    out.json("}");
}

/// Writes the value of `content`.
pub(super) fn content<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, message: &Message<'a>) {
    if let Some(result) = message.results().next() {
        return parts::result::<ChatParts>(writer, out, result, message.marked);
    }
    let said: Vec<&Part<'a>> = message.parts.iter().filter(|part| !has_own_field(part)).collect();
    match said.as_slice() {
        [Part::Text(only)]
            if message.marked.is_none() && (only.node.is_none() || !writer.same_wire()) =>
        {
            out.string(&only.text);
        }
        _ if said.iter().all(|part| matches!(part, Part::Text(text) if text.text.is_empty())) => {
            out.json("\"\"");
        }
        _ if message.role == Role::User || writer.same_wire() => {
            out.json("[");
            for part in said {
                if let Some(raw) = writer.verbatim(part) {
                    out.comma().raw(raw);
                } else {
                    parts::part::<ChatParts>(writer, out, part);
                }
            }
            if let Some(life) = message.marked {
                writer.mark(out, life);
            }
            out.json("]");
        }
        _ => joined(out, &texts(&message.parts)),
    }
}

/// Returns `true` for parts in fields of their own beside the content: calls, reasoning, a
/// refusal.
fn has_own_field(part: &Part<'_>) -> bool {
    match part {
        Part::Call(_) | Part::Thinking(_) | Part::Mark(_) => true,
        Part::Refusal(text) => text.node.is_none(),
        Part::Text(_)
        | Part::Media(_)
        | Part::TextWithMedia(_)
        | Part::Nested(_)
        | Part::Result(_)
        | Part::Opaque(_) => false,
    }
}

fn assistant<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, message: &Message<'a>) {
    let refusals: Vec<Str<'a>> = message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Refusal(text) => Some(text.text.clone()),
            _ => None,
        })
        .collect();
    let said: Vec<Part<'a>> = message
        .parts
        .iter()
        .filter(|part| matches!(part, Part::Text(_) | Part::Media(_)))
        .cloned()
        .collect();
    let texts = texts(&said);
    let mut calls = message.calls().peekable();
    if texts.is_empty() && refusals.is_empty() && calls.peek().is_none() {
        return;
    }
    out.comma().json("{\"role\":\"assistant\",\"content\":");
    if texts.is_empty() {
        out.json("null");
    } else {
        joined(out, &texts);
    }
    if !refusals.is_empty() {
        out.json(",\"refusal\":");
        joined(out, &refusals);
    }
    if calls.peek().is_some() {
        out.json(",\"tool_calls\":[");
        for call in calls {
            tool_call(writer, out, call);
        }
        out.json("]");
    }
    out.json("}");
}

fn tool_call<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, call: &Call<'a>) {
    out.comma().json("{\"id\":").string(&call.id);
    if let Arguments::Free(text) = &call.arguments
        && writer.restores_calls
    {
        out.json(",\"type\":\"custom\",\"custom\":{\"name\":").string(&call.name);
        out.json(",\"input\":").string(text).json("}}");
        return;
    }
    out.json(",\"type\":\"function\",\"function\":{\"name\":").string(&call.name);
    out.json(",\"arguments\":");
    call.arguments.as_string(out);
    out.json("}}");
}

/// The spelling of parts.
struct ChatParts;

impl Parts for ChatParts {
    fn text<'a>(out: &mut Out<'a>, text: &Str<'a>) {
        text_part(out, text);
    }

    fn media<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, medium: MediaPart) {
        media_part(writer, out, medium);
    }
}

fn text_part<'a>(out: &mut Out<'a>, text: &Str<'a>) {
    out.comma().json("{\"type\":\"text\",\"text\":").string(text).json("}");
}

fn media_part<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, medium: MediaPart) {
    let media = writer.media(medium.id);
    match (media.kind, &media.source) {
        (_, Source::Missing)
        | (MediaKind::Document, Source::Url(_))
        | (MediaKind::Image, Source::File(_))
        | (MediaKind::Audio, Source::Url(_) | Source::File(_)) => {
            text_part(out, &Str::plain(notice::NOT_CARRIED));
        }
        (_, Source::Text(text)) => text_part(out, text),
        (MediaKind::Image, _) => {
            let member: &[&str] = match media.spelled {
                Spelled::Short => &["image_url"],
                Spelled::InFull => &["image_url", "url"],
            };
            if !writer.plan.respells(medium.id)
                && writer.in_place(out, medium, member, |out| writer.address(out, medium.id))
            {
                return;
            }
            out.comma().json("{\"type\":\"image_url\",\"image_url\":{\"url\":");
            writer.address(out, medium.id);
            if let Some(detail) = writer.detail(medium.id) {
                out.json(",\"detail\":").quoted(detail.name());
            }
            out.json("}}");
        }
        (MediaKind::Document, Source::File(id)) if writer.writes_short_documents() => {
            out.comma().json("{\"type\":\"file\",\"file_id\":").string(id).json("}");
        }
        (MediaKind::Document, Source::File(id)) => {
            out.comma().json("{\"type\":\"file\",\"file\":{\"file_id\":").string(id).json("}}");
        }
        (MediaKind::Document, Source::Data(_)) if writer.writes_short_documents() => {
            out.comma().json("{\"type\":\"document_url\",\"document_url\":");
            writer.address(out, medium.id);
            out.json(",\"document_name\":").string(&writer.file_name(medium.id)).json("}");
        }
        (MediaKind::Document, Source::Data(_)) => {
            out.comma().json("{\"type\":\"file\",\"file\":{\"filename\":");
            out.string(&writer.file_name(medium.id)).json(",\"file_data\":");
            writer.address(out, medium.id);
            out.json("}}");
        }
        (MediaKind::Audio, Source::Data(payload))
            if writer.plan.profile.quirks.audio_part == AudioPart::String =>
        {
            out.comma().json("{\"type\":\"input_audio\",\"input_audio\":\"");
            out.bytes(payload.bytes()).json("\"}");
        }
        (MediaKind::Audio, Source::Data(payload)) => {
            parts::audio(writer, out, medium.id, payload);
        }
    }
}
