//! Writes a transcript as a `Converse` body.

use super::lift::DOCUMENTS;
use crate::json::{Out, Segments, Str};
use crate::lower::{Step, Writer};
use crate::media::{MediaKind, Source};
use crate::notice;
use crate::transcript::{Call, MediaPart, Message, Part, Role, ToolResult};
use crate::wire::blocks::{self, Blocks, Layout};

/// Writes a body from another wire's transcript.
pub(super) fn body<'a>(writer: &mut Writer<'_, 'a>, steps: &[Step<'a>]) -> Segments<'a> {
    let mut out = Out::new();
    out.json("{");
    super::settings::write(writer, &mut out, steps);
    blocks::body::<ConverseBlocks>(writer, out, steps)
}

/// The spelling of blocks.
struct ConverseBlocks;

impl Blocks for ConverseBlocks {
    const LAYOUT: Layout = Layout {
        system: "system",
        around_system: ("[", "]"),
        system_in_list: false,
        list: "messages",
    };

    fn text<'a>(out: &mut Out<'a>, text: &Str<'a>) {
        text_block(out, text);
    }

    fn media<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, medium: MediaPart) {
        media_block(writer, out, medium);
    }

    fn call<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, call: &Call<'a>, _first: bool) {
        tool_use(writer, out, call);
    }

    fn result<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, result: &ToolResult<'a>) {
        tool_result(writer, out, result);
    }

    fn unit<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, message: &Message<'a>) {
        unit(writer, out, message);
    }
}

/// Writes a message as an element of the list.
pub(super) fn unit<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, message: &Message<'a>) {
    blocks::unit(writer, out, message, "assistant");
}

/// Writes the value of `content`, or of `system`.
pub(super) fn content<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, message: &Message<'a>) {
    out.json("[");
    blocks::blocks::<ConverseBlocks>(writer, out, &message.parts, message.role);
    let is_paper = |part: &Part<'a>| match part {
        Part::Media(medium) => writer.media(medium.id).kind == MediaKind::Document,
        _ => false,
    };
    let says = |part: &Part<'a>| matches!(part, Part::Text(text) if !text.is_blank());
    // The service takes a document only beside some text.
    if message.parts.iter().any(is_paper) && !message.parts.iter().any(says) {
        text_block(out, &Str::plain(notice::DOCUMENT_ABOVE));
    }
    out.json("]");
}

fn text_block<'a>(out: &mut Out<'a>, text: &Str<'a>) {
    out.comma().json("{\"text\":").string(text).json("}");
}

pub(super) fn tool_use<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, call: &Call<'a>) {
    if let (Some(node), true) = (call.node, writer.same_wire()) {
        let mut id = Out::new();
        id.string(&call.id);
        out.comma();
        writer.patched_within(out, node, "toolUse", vec![("toolUseId", id)]);
        return;
    }
    out.comma().json("{\"toolUse\":{\"toolUseId\":").string(&call.id);
    out.json(",\"name\":").string(&call.name).json(",\"input\":");
    call.arguments.as_object(out);
    out.json("}}");
}

fn tool_result<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, result: &ToolResult<'a>) {
    if let (Some(node), true) = (result.node, writer.same_wire()) {
        let mut changes = Vec::new();
        if result.renamed {
            let mut id = Out::new();
            id.string(&result.call_id);
            changes.push(("toolUseId", id));
        }
        if result.content_changed {
            let mut content = Out::new();
            result_content(writer, &mut content, result);
            changes.push(("content", content));
        }
        out.comma();
        writer.patched_within(out, node, "toolResult", changes);
        return;
    }
    out.comma().json("{\"toolResult\":{\"toolUseId\":").string(&result.call_id);
    out.json(",\"content\":");
    result_content(writer, out, result);
    if result.is_error {
        out.json(",\"status\":\"error\"");
    }
    out.json("}}");
}

fn result_content<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, result: &ToolResult<'a>) {
    out.json("[");
    blocks::blocks::<ConverseBlocks>(writer, out, &result.content, Role::Tool);
    out.json("]");
}

fn media_block<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, medium: MediaPart) {
    let media = writer.media(medium.id);
    let media_type = writer.media_type(medium.id);
    let subtype = media_type.split_once('/').map_or("", |(_, subtype)| subtype).to_owned();
    let (name, format) = match media.kind {
        MediaKind::Image => ("image", subtype),
        MediaKind::Audio => ("audio", writer.audio_format(medium.id)),
        MediaKind::Document => {
            let known = DOCUMENTS.iter().find(|(_, name)| *name == media_type);
            ("document", known.map_or("txt", |(format, _)| format).to_owned())
        }
    };
    match &media.source {
        Source::Data(_) => {}
        Source::Text(text) => return text_block(out, text),
        // The place where a file is stored has no meaning on other wires, and URLs are not taken.
        Source::Url(_) | Source::File(_) | Source::Missing => {
            return text_block(out, &Str::plain(notice::NOT_CARRIED));
        }
    }
    let inner = |out: &mut Out<'a>| {
        out.json("{\"format\":").quoted(&format);
        if media.kind == MediaKind::Document {
            // The model reads the name, so names from other sources are not passed on. No two may
            // be the same.
            out.json(",\"name\":").quoted(&format!("document {}", medium.id.index() + 1));
        }
        let payload = writer.payload(medium.id).unwrap_or_default();
        out.json(",\"source\":{\"bytes\":\"").bytes(payload).json("\"}}");
    };
    if !writer.in_place(out, medium, &[name], inner) {
        out.comma().json("{").key(name);
        inner(out);
        out.json("}");
    }
}
