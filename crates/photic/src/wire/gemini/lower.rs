//! Writes a transcript as a `generateContent` body.

use crate::json::{NodeId, Out, Segments, Str};
use crate::lower::{Step, Writer, joined, texts};
use crate::media::Source;
use crate::notice;
use crate::transcript::{Call, MediaPart, Message, Part, ToolResult};
use crate::wire::blocks::{self, Blocks, Layout};

/// Writes a body from another wire's transcript.
pub(super) fn body<'a>(writer: &mut Writer<'_, 'a>, steps: &[Step<'a>]) -> Segments<'a> {
    let mut out = Out::new();
    out.json("{");
    super::settings::write(writer, &mut out);
    blocks::body::<ContentParts>(writer, out, steps)
}

/// The spelling of parts.
struct ContentParts;

impl Blocks for ContentParts {
    const LAYOUT: Layout = Layout {
        system: "systemInstruction",
        around_system: ("{\"parts\":[", "]}"),
        system_in_list: false,
        list: "contents",
    };

    fn text<'a>(out: &mut Out<'a>, text: &Str<'a>) {
        text_part(out, text);
    }

    fn media<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, medium: MediaPart) {
        media_part(writer, out, medium);
    }

    fn call<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, call: &Call<'a>, first: bool) {
        function_call(writer, out, call, first);
    }

    fn result<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, result: &ToolResult<'a>) {
        function_response(writer, out, result);
    }

    fn unit<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, message: &Message<'a>) {
        unit(writer, out, message);
    }
}

/// Writes a message as an element of the list.
pub(super) fn unit<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, message: &Message<'a>) {
    blocks::unit(writer, out, message, "model");
}

/// Writes the content of a message.
pub(super) fn content<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, message: &Message<'a>) {
    out.json("[");
    blocks::blocks::<ContentParts>(writer, out, &message.parts, message.role);
    out.json("]");
}

fn text_part<'a>(out: &mut Out<'a>, text: &Str<'a>) {
    out.comma().json("{\"text\":").string(text).json("}");
}

/// Returns the name of a member of a part: camel case, unless it came with underscores.
fn spelled(
    writer: &Writer<'_, '_>,
    node: NodeId,
    camel: &'static str,
    snake: &'static str,
) -> &'static str {
    let has_snake = writer.transcript.doc.value(node).get(snake).is_some();
    if has_snake { snake } else { camel }
}

pub(super) fn function_call<'a>(
    writer: &Writer<'_, 'a>,
    out: &mut Out<'a>,
    call: &Call<'a>,
    first: bool,
) {
    if let (Some(node), true) = (call.node, writer.same_wire()) {
        let mut id = Out::new();
        id.string(&call.id);
        out.comma();
        let name = spelled(writer, node, "functionCall", "function_call");
        writer.patched_within(out, node, name, vec![("id", id)]);
        return;
    }
    out.comma().json("{\"functionCall\":{\"id\":").string(&call.id);
    out.json(",\"name\":").string(&call.name).json(",\"args\":");
    call.arguments.as_object(out);
    out.json("}");
    // Of parallel calls, the first carries the signature of the reasoning behind them.
    if let Some(signature) = writer.plan.profile.quirks.call_signature.as_deref().filter(|_| first)
    {
        out.json(",\"thoughtSignature\":").quoted(signature);
    }
    out.json("}");
}

fn function_response<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, result: &ToolResult<'a>) {
    let has_media = result.content.iter().any(|part| matches!(part, Part::Media(_)));
    if let (Some(node), true) = (result.node, writer.same_wire()) {
        let name = spelled(writer, node, "functionResponse", "function_response");
        let mut changes = Vec::new();
        if result.renamed {
            let mut id = Out::new();
            id.string(&result.call_id);
            changes.push(("id", id));
            if let Some(name) = &result.name {
                let mut out = Out::new();
                out.string(name);
                changes.push(("name", out));
            }
        }
        if result.content_changed {
            let mut words = Out::new();
            response(writer, &mut words, result);
            changes.push(("response", words));
            let inner = writer.transcript.doc.value(node).get(name);
            if has_media || inner.and_then(|inner| inner.get("parts")).is_some() {
                let mut media = Out::new();
                response_parts(writer, &mut media, result);
                changes.push(("parts", media));
            }
        }
        out.comma();
        writer.patched_within(out, node, name, changes);
        return;
    }
    out.comma().json("{\"functionResponse\":{\"id\":").string(&result.call_id);
    // The wire requires a name. A result without a known call got an added call that has one.
    let name = result.name.clone().unwrap_or(Str::plain(notice::UNKNOWN_TOOL));
    out.json(",\"name\":").string(&name).json(",\"response\":");
    response(writer, out, result);
    if has_media {
        out.json(",\"parts\":");
        response_parts(writer, out, result);
    }
    out.json("}}");
}

/// Writes the text of a result. The name of the member shows whether the tool failed.
fn response<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, result: &ToolResult<'a>) {
    let words: Vec<Part<'a>> = result
        .content
        .iter()
        .filter(|part| match part {
            Part::Media(_) => false,
            // An opaque part that was among the media stays there.
            Part::Opaque(_) => writer.verbatim(part).is_none(),
            _ => true,
        })
        .cloned()
        .collect();
    out.json(if result.is_error { "{\"error\":" } else { "{\"output\":" });
    joined(out, &texts(&words));
    out.json("}");
}

fn response_parts<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, result: &ToolResult<'a>) {
    out.json("[");
    for part in &result.content {
        match (part, writer.verbatim(part)) {
            (Part::Media(_) | Part::Opaque(_), Some(raw)) => {
                out.comma().raw(raw);
            }
            (Part::Media(medium), None) => media_part(writer, out, *medium),
            _ => {}
        }
    }
    out.json("]");
}

fn media_part<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, medium: MediaPart) {
    let media = writer.media(medium.id);
    match &media.source {
        Source::Data(_) => {
            // If the part is rewritten in place, its other members (a resolution, say) stay.
            let blob = |out: &mut Out<'a>| {
                out.json("{\"mimeType\":").quoted(&writer.media_type(medium.id));
                let payload = writer.payload(medium.id).unwrap_or_default();
                out.json(",\"data\":\"").bytes(payload).json("\"}");
            };
            let member = medium
                .node
                .filter(|_| writer.same_wire())
                .map_or("inlineData", |node| spelled(writer, node, "inlineData", "inline_data"));
            // A part that came as a file has no such member, and would keep the other.
            let is_member = |node| writer.transcript.doc.value(node).get(member).is_some();
            let is_there = medium.node.is_some_and(is_member) || !writer.same_wire();
            if !(is_there && writer.in_place(out, medium, &[member], blob)) {
                out.comma().json("{\"inlineData\":");
                blob(out);
                out.json("}");
            }
        }
        Source::Text(text) => text_part(out, text),
        Source::File(uri) => {
            out.comma().json("{\"fileData\":{\"fileUri\":").string(uri).json("}}");
        }
        Source::Url(_) | Source::Missing => text_part(out, &Str::plain(notice::NOT_CARRIED)),
    }
}
