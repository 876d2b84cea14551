//! Writes a transcript as a Messages body.

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
    super::settings::write(writer, &mut out);
    blocks::body::<MessagesBlocks>(writer, out, steps)
}

/// The spelling of blocks.
struct MessagesBlocks;

impl Blocks for MessagesBlocks {
    const LAYOUT: Layout = Layout {
        system: "system",
        around_system: ("[", "]"),
        system_in_list: true,
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
    let role = match message.role {
        Role::System | Role::Developer => "system",
        Role::User | Role::Tool => "user",
        Role::Assistant => "assistant",
        Role::Unknown => return,
    };
    let says = message.parts.iter().any(|part| match part {
        Part::Text(text) | Part::Refusal(text) => !text.text.is_empty(),
        Part::Thinking(_) | Part::Mark(_) => false,
        Part::Opaque(_) => message.role != Role::Assistant,
        Part::Media(_)
        | Part::TextWithMedia(_)
        | Part::Nested(_)
        | Part::Call(_)
        | Part::Result(_) => true,
    });
    if !says {
        return;
    }
    out.comma().json("{\"role\":\"").json(role).json("\",\"content\":");
    content(writer, out, message);
    out.json("}");
}

/// Writes the value of `content`, or of `system`.
pub(super) fn content<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, message: &Message<'a>) {
    match message.parts.as_slice() {
        [Part::Text(only)]
            if message.marked.is_none() && (only.node.is_none() || !writer.same_wire()) =>
        {
            out.string(&only.text);
        }
        parts => {
            out.json("[");
            blocks::blocks::<MessagesBlocks>(writer, out, parts, message.role);
            if let Some(life) = message.marked {
                writer.mark(out, life);
            }
            out.json("]");
        }
    }
}

fn text_block<'a>(out: &mut Out<'a>, text: &Str<'a>) {
    out.comma().json("{\"type\":\"text\",\"text\":").string(text).json("}");
}

pub(super) fn tool_use<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, call: &Call<'a>) {
    if let (Some(node), true) = (call.node, writer.same_wire()) {
        let mut id = Out::new();
        id.string(&call.id);
        out.comma();
        writer.patched(out, node, vec![(&["id"], id)]);
        return;
    }
    out.comma().json("{\"type\":\"tool_use\",\"id\":").string(&call.id);
    out.json(",\"name\":").string(&call.name).json(",\"input\":");
    call.arguments.as_object(out);
    out.json("}");
}

fn tool_result<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, result: &ToolResult<'a>) {
    if let (Some(node), true) = (result.node, writer.same_wire()) {
        let mut changes: Vec<(&[&str], Out<'a>)> = Vec::new();
        if result.renamed {
            let mut id = Out::new();
            id.string(&result.call_id);
            changes.push((&["tool_use_id"], id));
        }
        if result.content_changed {
            let mut content = Out::new();
            result_content(writer, &mut content, result);
            changes.push((&["content"], content));
        }
        out.comma();
        writer.patched(out, node, changes);
        return;
    }
    out.comma().json("{\"type\":\"tool_result\",\"tool_use_id\":").string(&result.call_id);
    if result.is_error {
        out.json(",\"is_error\":true");
    }
    out.json(",\"content\":");
    result_content(writer, out, result);
    out.json("}");
}

fn result_content<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, result: &ToolResult<'a>) {
    if let [Part::Text(only)] = result.content.as_slice()
        && writer.verbatim(&result.content[0]).is_none()
    {
        out.string(&only.text);
        return;
    }
    out.json("[");
    blocks::blocks::<MessagesBlocks>(writer, out, &result.content, Role::Tool);
    out.json("]");
}

fn media_block<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, medium: MediaPart) {
    let media = writer.media(medium.id);
    let kind = match media.kind {
        MediaKind::Image => "image",
        MediaKind::Document => "document",
        // Plans do not send sound to a wire without a slot for it.
        MediaKind::Audio => return text_block(out, &Str::plain(notice::NOT_CARRIED)),
    };
    if writer.in_place(out, medium, &["source"], |out| source(writer, out, medium)) {
        return;
    }
    out.comma().json("{\"type\":").quoted(kind).json(",\"source\":");
    source(writer, out, medium);
    if let Some(name) = media.name.as_ref().filter(|_| writer.says_name(medium.id)) {
        out.json(",\"title\":").string(name);
    }
    out.json("}");
}

fn source<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, medium: MediaPart) {
    out.json("{\"type\":");
    match &writer.media(medium.id).source {
        Source::Data(payload) if writer.media_type(medium.id) == "text/plain" => {
            let text = String::from_utf8_lossy(&payload.decode()).into_owned();
            out.json("\"text\",\"media_type\":\"text/plain\",\"data\":").quoted(&text);
        }
        Source::Data(_) => {
            out.json("\"base64\",\"media_type\":").quoted(&writer.media_type(medium.id));
            let payload = writer.payload(medium.id).unwrap_or_default();
            out.json(",\"data\":\"").bytes(payload).json("\"");
        }
        Source::Text(text) => {
            out.json("\"text\",\"media_type\":\"text/plain\",\"data\":").string(text);
        }
        Source::Url(url) => {
            out.json("\"url\",\"url\":").string(url);
        }
        Source::File(id) => {
            out.json("\"file\",\"file_id\":").string(id);
        }
        Source::Missing => {
            out.json("\"base64\",\"data\":\"\"");
        }
    }
    out.json("}");
}
