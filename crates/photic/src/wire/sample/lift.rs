//! Reads a body of the sample wire into a transcript.

use crate::json::{Kind, Value};
use crate::lift::{Draft, Lifter, TextOwner, base64_medium, text_of};
use crate::media::MediaKind;
use crate::transcript::{
    Arguments, Bounds, Call, CallKind, Message, Opaque, Part, Role, ToolResult,
};

/// Reads a request body.
pub(super) fn lift<'d, 'a>(lifter: &mut Lifter<'d, 'a>, root: Value<'d, 'a>) -> Draft<'a> {
    let list = root.get("turns").filter(|list| list.kind() == Kind::Array);
    let turns = list.into_iter().flat_map(Value::items);
    let messages = turns.map(|turn| read_turn(lifter, turn)).collect();
    Draft { messages, settings: super::settings::read(root), list: list.map(|list| list.id()) }
}

pub(super) fn read_turn<'d, 'a>(lifter: &mut Lifter<'d, 'a>, turn: Value<'d, 'a>) -> Message<'a> {
    let role = match text_of(turn, "who").decode().as_ref() {
        "system" => Role::System,
        "user" => Role::User,
        "bot" => Role::Assistant,
        "tool" => Role::Tool,
        _ => Role::Unknown,
    };
    let node = Some(turn.id());
    let says = turn.get("says");
    let slot = says.map(|says| says.id());
    let mut parts = Vec::new();
    for part in says.into_iter().flat_map(Value::items) {
        read_part(lifter, part, TextOwner::of(role), &mut parts);
    }
    for call in turn.get("calls").into_iter().flat_map(Value::items) {
        let with = call.get("with").filter(|json| json.kind() == Kind::Object);
        parts.push(Part::Call(Call {
            id: text_of(call, "id"),
            name: text_of(call, "name"),
            namespace: None,
            arguments: with.map_or(Arguments::Json(b"{}"), |json| Arguments::Json(json.raw())),
            kind: CallKind::Function,
            renamed: false,
            node: Some(call.id()),
        }));
    }
    let parts = match role {
        Role::Unknown => vec![Part::Opaque(Opaque { node })],
        Role::Tool => vec![Part::Result(ToolResult {
            call_id: text_of(turn, "answers"),
            name: None,
            is_error: false,
            content: parts,
            kind: CallKind::Function,
            bounds: Bounds::default(),
            content_changed: false,
            renamed: false,
            node,
            slot,
        })],
        _ => parts,
    };
    Message { node, slot, ..Message::new(role, parts) }
}

fn read_part<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    part: Value<'d, 'a>,
    words: TextOwner,
    parts: &mut Vec<Part<'a>>,
) {
    let node = Some(part.id());
    if let Some(text) = part.get("text").filter(|text| text.kind() == Kind::String) {
        return lifter.text(text, node, words, parts);
    }
    let read = match part.get("png") {
        Some(data) => lifter.media(base64_medium(data, None, MediaKind::Image), node),
        None => lifter.unknown_part(part),
    };
    parts.push(read);
}
