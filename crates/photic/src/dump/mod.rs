//! Conversations as frameworks store them, read into the same transcript as a request.
//!
//! This module owns the shapes of the dumps, one file each. A dump is not a wire: it can be lifted
//! and lowered to any wire, but nothing is ever written in its shape. Reading one must never lose
//! a medium silently: a medium that cannot be read becomes a part that lowering reports.

mod ai_sdk;
mod detect;
mod langchain;
mod mcp;
mod medium;
mod name;
mod openwop;
mod pydantic_ai;

pub use detect::detect_dump;
pub use name::Dump;

use crate::finding::Finding;
use crate::json::{Base64Runs, NodeId, Str, Value};
use crate::lift::{Draft, Lifter, lift_with};
use crate::settings::Settings;
use crate::transcript::{Bounds, CallKind, Message, Opaque, Part, Role, ToolResult, Transcript};
use crate::wire::Wire;

/// Reads a conversation as a framework stores it, into the same transcript as [`crate::lift`]. It
/// can be lowered to any wire.
///
/// ```
/// use photic::Dump;
///
/// let body = br#"[{"role":"user","content":[{"type":"text","text":"Hello"}]}]"#;
/// let (transcript, _) = photic::lift_dump(Dump::AiSdk, body);
/// assert_eq!(transcript.dump, Some(Dump::AiSdk));
/// ```
pub fn lift_dump(dump: Dump, body: &[u8]) -> (Transcript<'_>, Vec<Finding>) {
    // Dumps resemble Chat: each unit has a role, and results are units of their own.
    lift_with(Wire::OpenAiChat, Some(dump), body, &Base64Runs::default(), |lifter, root| {
        let mut draft = Draft { messages: Vec::new(), settings: Settings::default(), list: None };
        match dump {
            Dump::AiSdk => ai_sdk::lift(lifter, root, &mut draft),
            Dump::LangChain => langchain::lift(lifter, root, &mut draft),
            Dump::PydanticAi => pydantic_ai::lift(lifter, root, &mut draft),
            Dump::Mcp => mcp::lift(lifter, root, &mut draft),
            Dump::Openwop => openwop::lift(lifter, root, &mut draft),
        }
        draft
    })
}

/// Returns the messages of a dump: the dump itself, or the list it holds under a usual name.
fn list<'d, 'a>(root: Value<'d, 'a>) -> impl Iterator<Item = Value<'d, 'a>> {
    let held = || ["messages", "prompt"].iter().find_map(|name| root.get(name));
    let list = if root.is_list() { Some(root) } else { held() };
    list.into_iter().flat_map(Value::items)
}

/// Returns the first member of these names that is not null.
fn first<'d, 'a>(value: Value<'d, 'a>, names: &[&str]) -> Option<Value<'d, 'a>> {
    names.iter().find_map(|name| value.get(name).filter(|member| !member.is_null()))
}

/// Returns the first string of these names, or an empty one.
fn text_of<'a>(value: Value<'_, 'a>, names: &[&str]) -> Str<'a> {
    first(value, names).and_then(|text| text.str()).unwrap_or(Str::plain(""))
}

/// Adds a message at a node, unless it has no parts.
fn say<'a>(draft: &mut Draft<'a>, role: Role, node: NodeId, parts: Vec<Part<'a>>) {
    if !parts.is_empty() {
        draft.messages.push(Message { node: Some(node), ..Message::new(role, parts) });
    }
}

/// The facts that identify the result of a tool.
struct Answer<'d, 'a> {
    call_id: Str<'a>,
    name: Str<'a>,
    is_error: bool,
    at: Value<'d, 'a>,
}

/// Adds the message of a tool.
fn answer<'a>(draft: &mut Draft<'a>, answer: Answer<'_, 'a>, content: Vec<Part<'a>>) {
    let node = answer.at.id();
    let result = ToolResult {
        call_id: answer.call_id,
        name: Some(answer.name).filter(|name| !name.is_empty()),
        is_error: answer.is_error,
        content,
        kind: CallKind::Function,
        bounds: Bounds::default(),
        content_changed: false,
        renamed: false,
        node: Some(node),
        slot: None,
    };
    say(draft, Role::Tool, node, vec![Part::Result(result)]);
}

/// Reads the medium of a part, or keeps the part as one that cannot be read.
fn medium_or_opaque<'d, 'a>(lifter: &mut Lifter<'d, 'a>, part: Value<'d, 'a>) -> Part<'a> {
    match medium::of_part(part) {
        Some(media) => lifter.media(media, Some(part.id())),
        None => Part::Opaque(Opaque { node: Some(part.id()) }),
    }
}
