//! Writes the bodies of wires whose messages are lists of blocks: Messages, `Converse` and
//! `generateContent`. The walk over a conversation is here; the spelling of a block is in each
//! folder.

use super::MessageRules;
use crate::json::{Out, Segments, Str};
use crate::lower::{Step, Writer, texts};
use crate::notice;
use crate::transcript::{Call, MediaPart, Message, Part, Role, ToolResult};

/// The spelling of blocks.
pub(super) trait Blocks {
    /// The body around its messages.
    const LAYOUT: Layout;

    /// Writes a text.
    fn text<'a>(out: &mut Out<'a>, text: &Str<'a>);

    /// Writes a medium.
    fn media<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, medium: MediaPart);

    /// Writes a call. `first` is `true` if it is the first call of its message.
    fn call<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, call: &Call<'a>, first: bool);

    /// Writes a tool result.
    fn result<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, result: &ToolResult<'a>);

    /// Writes a message as an element of the list.
    fn unit<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, message: &Message<'a>);
}

/// The JSON around the messages of a body.
pub(super) struct Layout {
    /// The member for instructions.
    pub(super) system: &'static str,
    /// The JSON around the blocks of the instructions.
    pub(super) around_system: (&'static str, &'static str),
    /// `true` if instructions may also be messages in the list. On other wires they are collected.
    pub(super) system_in_list: bool,
    /// The member for the list of messages.
    pub(super) list: &'static str,
}

/// Writes a body whose settings are already written to `out`.
pub(super) fn body<'a, B: Blocks>(
    writer: &mut Writer<'_, 'a>,
    mut out: Out<'a>,
    steps: &[Step<'a>],
) -> Segments<'a> {
    let layout = B::LAYOUT;
    let is_system = |step: &&Step<'a>| matches!(step.message.role, Role::System | Role::Developer);
    let (system, turns): (Vec<_>, Vec<_>) = if layout.system_in_list {
        let leading = steps.iter().take_while(is_system).count();
        (steps[..leading].iter().collect(), steps[leading..].iter().collect())
    } else {
        steps.iter().partition(is_system)
    };
    for step in &system {
        writer.note_losses(&step.message.parts);
    }
    let system: Vec<Str<'a>> = system.iter().flat_map(|step| texts(&step.message.parts)).collect();
    if !system.is_empty() {
        out.comma().key(layout.system).json(layout.around_system.0);
        for text in &system {
            B::text(&mut out, text);
        }
        out.json(layout.around_system.1);
    }
    out.comma().key(layout.list).json("[");
    for step in turns {
        writer.note_losses(&step.message.parts);
        B::unit(writer, &mut out, &step.message);
    }
    out.json("]}");
    out.finish()
}

/// Writes parts of a message or of a result.
pub(super) fn blocks<'a, B: Blocks>(
    writer: &Writer<'_, 'a>,
    out: &mut Out<'a>,
    parts: &[Part<'a>],
    role: Role,
) {
    let mut first_call = true;
    for part in parts {
        if let Some(raw) = writer.verbatim(part) {
            out.comma().raw(raw);
            continue;
        }
        match part {
            Part::Text(text) | Part::Refusal(text) => {
                if !text.text.is_empty() {
                    B::text(out, &text.text);
                }
            }
            Part::Media(medium) => B::media(writer, out, *medium),
            Part::Call(call) => {
                B::call(writer, out, call, first_call);
                first_call = false;
            }
            Part::Result(result) => B::result(writer, out, result),
            // An assistant's opaque items are for its own wire only.
            Part::Opaque(_) if role == Role::Assistant => {}
            Part::Opaque(_) => B::text(out, &Str::plain(notice::NOT_CARRIED)),
            Part::Nested(nested) => {
                let Some(node) = nested.node else { continue };
                let mut inner = Out::new();
                inner.json("[");
                blocks::<B>(writer, &mut inner, &nested.parts, role);
                inner.json("]");
                out.comma();
                writer.patched(out, node, vec![(nested.path, inner)]);
            }
            Part::TextWithMedia(_) | Part::Thinking(_) | Part::Mark(_) => {}
        }
    }
}

/// Writes a message with a role and blocks, unless there are none.
pub(super) fn unit<'a>(
    writer: &Writer<'_, 'a>,
    out: &mut Out<'a>,
    message: &Message<'a>,
    assistant: &str,
) {
    let role = match message.role {
        Role::System | Role::Developer | Role::User | Role::Tool => "user",
        Role::Assistant => assistant,
        Role::Unknown => return,
    };
    let mut content = Out::new();
    writer.content(&mut content, message);
    let content = content.finish();
    if content.len() > "[]".len() {
        let rules: &MessageRules = writer.rules();
        out.comma().json("{\"role\":\"").json(role).json("\",").key(rules.content_members.0);
        out.fragment(content).json("}");
    }
}
