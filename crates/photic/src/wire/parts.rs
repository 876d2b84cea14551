//! Writes the bodies of wires whose tool results are messages of their own: Chat Completions,
//! Responses and `/api/chat`. The code they share is here; the spelling is in each folder.

use crate::json::{Out, Segments, Str};
use crate::lower::{Step, Writer, joined, texts};
use crate::media::Payload;
use crate::notice;
use crate::transcript::{Life, MediaId, MediaPart, Part, ToolResult};

/// The spelling of parts.
pub(super) trait Parts {
    /// Writes a text.
    fn text<'a>(out: &mut Out<'a>, text: &Str<'a>);

    /// Writes a medium.
    fn media<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, medium: MediaPart);
}

/// Writes a body whose settings are already written to `out`. The messages come last, so that a
/// longer conversation begins with the bytes of a shorter one.
pub(super) fn body<'a>(
    writer: &mut Writer<'_, 'a>,
    mut out: Out<'a>,
    list: &str,
    steps: &[Step<'a>],
) -> Segments<'a> {
    out.comma().key(list).json("[");
    for step in steps {
        writer.note_losses(&step.message.parts);
        let protocol = writer.wire().protocol();
        protocol.unit(writer, &mut out, &step.message);
    }
    out.json("]}");
    out.finish()
}

/// Writes a part of a user's message or of a result.
pub(super) fn part<'a, P: Parts>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, part: &Part<'a>) {
    match part {
        Part::Text(text) | Part::Refusal(text) => {
            if !text.text.is_empty() {
                P::text(out, &text.text);
            }
        }
        Part::Media(medium) => P::media(writer, out, *medium),
        Part::Opaque(_) => P::text(out, &Str::plain(notice::NOT_CARRIED)),
        Part::TextWithMedia(_)
        | Part::Nested(_)
        | Part::Call(_)
        | Part::Result(_)
        | Part::Thinking(_)
        | Part::Mark(_) => {}
    }
}

/// Writes the content of a result: a string, unless the endpoint takes media in it.
pub(super) fn result<'a, P: Parts>(
    writer: &Writer<'_, 'a>,
    out: &mut Out<'a>,
    result: &ToolResult<'a>,
    marked: Option<Life>,
) {
    if marked.is_some() || writer.wants_list(result) {
        out.json("[");
        if result.is_error && !writer.same_wire() {
            P::text(out, &Str::plain(notice::ERROR));
        }
        for item in &result.content {
            match writer.verbatim(item) {
                Some(raw) => {
                    out.comma().raw(raw);
                }
                None => part::<P>(writer, out, item),
            }
        }
        if let Some(life) = marked {
            writer.mark(out, life);
        }
        out.json("]");
        return;
    }
    let mut texts = texts(&result.content);
    if result.is_error && result.node.is_some() {
        texts.insert(0, Str::plain(notice::ERROR));
    }
    joined(out, &texts);
}

/// Writes a sound as OpenAI's two wires spell it.
pub(super) fn audio<'a>(
    writer: &Writer<'_, 'a>,
    out: &mut Out<'a>,
    id: MediaId,
    payload: &Payload<'a>,
) {
    out.comma().json("{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"");
    out.bytes(payload.bytes());
    out.json("\",\"format\":").quoted(&writer.audio_format(id)).json("}}");
}
