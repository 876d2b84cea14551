//! Reads a Responses body into a transcript.

use crate::json::{Kind, Str, Value};
use crate::lift::{
    Draft, Lifter, TextOwner, address_medium, audio_type, base64_medium, file_medium, medium,
    text_of,
};
use crate::media::{Found, Media, MediaKind, Source};
use crate::transcript::{
    Arguments, Bounds, Call, CallKind, Home, Message, Nested, Opaque, Part, Role, Text, ToolResult,
};

/// Reads a request body.
pub(super) fn lift<'d, 'a>(lifter: &mut Lifter<'d, 'a>, root: Value<'d, 'a>) -> Draft<'a> {
    let mut messages = Vec::new();
    if let Some(instructions) = root.get("instructions").filter(|text| text.kind() == Kind::String)
    {
        let mut parts = Vec::new();
        lifter.text(instructions, None, TextOwner::Said, &mut parts);
        messages.push(Message {
            node: Some(instructions.id()),
            slot: Some(instructions.id()),
            home: Home::Field,
            ..Message::new(Role::System, parts)
        });
    }
    let input = root.get("input");
    match input.map(|input| (input, input.kind())) {
        Some((input, Kind::String)) => {
            let mut parts = Vec::new();
            lifter.text(input, None, TextOwner::Said, &mut parts);
            messages.push(Message {
                node: Some(input.id()),
                slot: Some(input.id()),
                home: Home::Field,
                ..Message::new(Role::User, parts)
            });
        }
        Some((input, _)) => {
            messages.reserve(input.count());
            messages.extend(input.items().map(|item| read_item(lifter, item)));
        }
        None => {}
    }
    let list = input.filter(|input| input.kind() == Kind::Array).map(|input| input.id());
    let mut settings = super::settings::read(root);
    settings.continues_elsewhere |= input
        .into_iter()
        .flat_map(Value::items)
        .any(|item| item.get("type").is_some_and(|name| name.is("item_reference")));
    Draft { messages, settings, list }
}

pub(super) fn read_item<'d, 'a>(lifter: &mut Lifter<'d, 'a>, item: Value<'d, 'a>) -> Message<'a> {
    let type_name = item.word_of("type");
    let mut slot = None;
    let opaque = Opaque { node: Some(item.id()) };
    let (role, parts) = match type_name.as_deref() {
        Some(b"message") => return read_message(lifter, item),
        None if item.get("role").is_some() => return read_message(lifter, item),
        Some(b"function_call") => {
            (Role::Assistant, vec![call(item, CallKind::Function, "arguments", Arguments::Text)])
        }
        Some(b"custom_tool_call") => {
            (Role::Assistant, vec![call(item, CallKind::Custom, "input", Arguments::Free)])
        }
        Some(b"computer_call") => (Role::Assistant, vec![screen_call(item)]),
        Some(
            name @ (b"function_call_output" | b"custom_tool_call_output" | b"computer_call_output"),
        ) => {
            let output = item.get("output");
            let caller = item.get("caller").and_then(|caller| caller.get("type"));
            let for_code = caller.is_some_and(|caller| !caller.is("direct"));
            // A result for code is not shown to the model.
            let words = if for_code { TextOwner::Own } else { TextOwner::Foreign };
            slot = output.map(|output| output.id());
            let mut content = Vec::new();
            match output.map(|output| (output, output.kind())) {
                Some((list, Kind::Array)) => {
                    for part in list.items() {
                        read_part(lifter, part, words, &mut content);
                    }
                }
                Some((screen, Kind::Object)) if name == b"computer_call_output" => {
                    read_part(lifter, screen, TextOwner::Foreign, &mut content);
                }
                Some((value, _)) => lifter.anything(value, words, &mut content),
                None => {}
            }
            let result = ToolResult {
                call_id: text_of(item, "call_id"),
                name: None,
                is_error: false,
                content,
                kind: match name {
                    b"custom_tool_call_output" => CallKind::Custom,
                    b"computer_call_output" => CallKind::Screen,
                    _ => CallKind::Function,
                },
                bounds: Bounds { for_code, ..Bounds::default() },
                content_changed: false,
                renamed: false,
                node: Some(item.id()),
                slot,
            };
            (Role::Tool, vec![Part::Result(result)])
        }
        Some(b"reasoning") => (Role::Assistant, vec![Part::Thinking(opaque)]),
        // Its tools are read with the settings.
        Some(b"additional_tools") => (Role::Unknown, Vec::new()),
        Some(b"mcp_call" | b"shell_call_output" | b"local_shell_call_output") => {
            match read_hosted(lifter, item) {
                Some(result) => {
                    slot = result.slot;
                    (Role::Tool, vec![Part::Result(result)])
                }
                None => (Role::Unknown, vec![Part::Opaque(opaque)]),
            }
        }
        _ => (Role::Unknown, vec![Part::Opaque(opaque)]),
    };
    Message { node: Some(item.id()), slot, ..Message::new(role, parts) }
}

/// The members with a command's output, in each entry of a result.
const PRINTED: [&[&str]; 2] = [&["stdout"], &["stderr"]];

/// Reads the result of a tool that the provider or the client runs by itself, if there is a
/// picture in its output. Otherwise the item is sent unchanged.
fn read_hosted<'d, 'a>(lifter: &mut Lifter<'d, 'a>, item: Value<'d, 'a>) -> Option<ToolResult<'a>> {
    let output = item.get("output")?;
    let before = lifter.count();
    let mut content = Vec::new();
    if output.kind() == Kind::String {
        lifter.text(output, None, TextOwner::Foreign, &mut content);
    }
    for entry in output.items() {
        for path in PRINTED {
            let Some(printed) = entry.get(path[0]).filter(|text| text.kind() == Kind::String)
            else {
                continue;
            };
            let mut parts = Vec::new();
            lifter.text(printed, None, TextOwner::Foreign, &mut parts);
            let node = Some(entry.id());
            content.push(Part::Nested(Nested {
                parts,
                path,
                words_only: true,
                changed: false,
                node,
            }));
        }
    }
    (lifter.count() > before).then(|| ToolResult {
        call_id: item
            .get("call_id")
            .or_else(|| item.get("id"))
            .and_then(|id| id.str())
            .unwrap_or(Str::plain("")),
        name: None,
        is_error: false,
        content,
        kind: CallKind::Hosted,
        bounds: Bounds::default(),
        content_changed: false,
        renamed: false,
        node: Some(item.id()),
        slot: Some(output.id()),
    })
}

fn call<'a>(
    item: Value<'_, 'a>,
    kind: CallKind,
    field: &str,
    arguments: impl FnOnce(Str<'a>) -> Arguments<'a>,
) -> Part<'a> {
    Part::Call(Call {
        id: text_of(item, "call_id"),
        name: text_of(item, "name"),
        namespace: item.get("namespace").and_then(|group| group.str()),
        arguments: arguments(text_of(item, field)),
        kind,
        renamed: false,
        node: Some(item.id()),
    })
}

/// Reads a call of the hosted computer tool. Its action is JSON, and photic gives it a name.
fn screen_call<'a>(item: Value<'_, 'a>) -> Part<'a> {
    Part::Call(Call {
        id: text_of(item, "call_id"),
        name: Str::plain("computer"),
        namespace: None,
        arguments: match (item.get("action"), item.get("actions")) {
            (Some(action), _) => Arguments::Json(action.raw()),
            (None, Some(actions)) => Arguments::Wrapped("actions", actions.raw()),
            (None, None) => Arguments::Json(b"{}"),
        },
        kind: CallKind::Screen,
        renamed: false,
        node: Some(item.id()),
    })
}

fn read_message<'d, 'a>(lifter: &mut Lifter<'d, 'a>, item: Value<'d, 'a>) -> Message<'a> {
    let role = match item.word_of("role").as_deref() {
        Some(b"system") => Role::System,
        Some(b"developer") => Role::Developer,
        Some(b"user") => Role::User,
        Some(b"assistant") => Role::Assistant,
        _ => Role::Unknown,
    };
    let words = TextOwner::of(role);
    let content = item.get("content");
    let mut parts = Vec::new();
    match content.map(|content| (content, content.kind())) {
        _ if role == Role::Unknown => parts.push(Part::Opaque(Opaque { node: Some(item.id()) })),
        Some((text, Kind::String)) => lifter.text(text, None, words, &mut parts),
        Some((list, Kind::Array)) => {
            for part in list.items() {
                read_part(lifter, part, words, &mut parts);
            }
        }
        _ => {}
    }
    let slot = content.map(|content| content.id());
    Message { node: Some(item.id()), slot, ..Message::new(role, parts) }
}

fn read_part<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    part: Value<'d, 'a>,
    words: TextOwner,
    parts: &mut Vec<Part<'a>>,
) {
    let node = Some(part.id());
    if part.kind() == Kind::String {
        return lifter.text(part, node, words, parts);
    }
    let type_name = part.word_of("type");
    let media = match type_name.as_deref() {
        Some(b"input_text" | b"output_text" | b"text") => {
            match part.get("text").filter(|text| text.kind() == Kind::String) {
                Some(text) => lifter.text(text, node, words, parts),
                None => parts.push(Part::Opaque(Opaque { node })),
            }
            return;
        }
        Some(b"refusal") => {
            parts.push(Part::Refusal(Text { text: text_of(part, "refusal"), node }));
            return;
        }
        Some(b"input_image" | b"computer_screenshot") => read_image(part),
        Some(b"input_file") => read_file(part),
        Some(b"input_audio") => {
            part.get("input_audio").and_then(|audio| audio.get("data")).map(|data| {
                let declared = part
                    .get("input_audio")
                    .and_then(|audio| audio.get("format")?.str())
                    .map(|format| audio_type(&format.decode()));
                base64_medium(data, declared.as_ref(), MediaKind::Audio)
            })
        }
        _ => None,
    };
    parts.push(match media {
        Some(media) => lifter.media(media, node),
        None => lifter.unknown_part(part),
    });
}

fn read_image<'a>(part: Value<'_, 'a>) -> Option<Media<'a>> {
    let address = part.get("image_url").filter(|url| url.kind() == Kind::String);
    let mut media = match (address, part.get("file_id").filter(|id| id.kind() == Kind::String)) {
        (Some(url), _) => address_medium(url, MediaKind::Image),
        (None, Some(id)) => {
            medium(MediaKind::Image, Source::File(id.str()?), None, Found::Typed, id.id())
        }
        (None, None) => return None,
    };
    media.detail = part.get("detail").and_then(|detail| detail.str());
    Some(media)
}

fn read_file<'a>(part: Value<'_, 'a>) -> Option<Media<'a>> {
    let field = |name: &str| part.get(name).filter(|value| value.kind() == Kind::String);
    let mut media = if let Some(data) = field("file_data") {
        file_medium(data)
    } else if let Some(url) = field("file_url") {
        medium(MediaKind::Document, Source::Url(url.str()?), None, Found::Typed, url.id())
    } else {
        let id = field("file_id")?;
        medium(MediaKind::Document, Source::File(id.str()?), None, Found::Typed, id.id())
    };
    media.name = field("filename").and_then(|name| name.str());
    media.detail = field("detail").and_then(|detail| detail.str());
    Some(media)
}
