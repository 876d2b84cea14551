//! Writes a transcript as an `/api/chat` body.

use super::MARKER;
use crate::json::{Out, Segments, Str};
use crate::lower::{Step, Writer, decoded_text};
use crate::media::MediaKind;
use crate::notice;
use crate::transcript::{Call, MediaPart, Message, Part, Role};
use crate::wire::parts;

/// Writes a body from another wire's transcript.
pub(super) fn body<'a>(writer: &mut Writer<'_, 'a>, steps: &[Step<'a>]) -> Segments<'a> {
    let mut out = Out::new();
    out.json("{");
    super::settings::write(writer, &mut out);
    parts::body(writer, out, "messages", steps)
}

/// Writes a message as an element of the list.
pub(super) fn unit<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, message: &Message<'a>) {
    let role = match message.role {
        Role::System | Role::Developer => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
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
    out.comma().json("{\"role\":\"").json(role).json("\"");
    if let Some(result) = message.results().next() {
        if let Some(name) = &result.name {
            out.json(",\"tool_name\":").string(name);
        }
        out.json(",\"tool_call_id\":").string(&result.call_id);
    }
    out.json(",\"content\":");
    content(writer, out, message);
    let mut pictures = Out::new();
    if images(writer, &mut pictures, message) {
        out.json(",\"images\":").fragment(pictures.finish());
    }
    let mut calls = message.calls().peekable();
    if calls.peek().is_some() {
        out.json(",\"tool_calls\":[");
        for call in calls {
            tool_call(out, call);
        }
        out.json("]");
    }
    out.json("}");
}

fn tool_call<'a>(out: &mut Out<'a>, call: &Call<'a>) {
    out.comma().json("{\"id\":").string(&call.id);
    out.json(",\"function\":{\"name\":").string(&call.name).json(",\"arguments\":");
    call.arguments.as_object(out);
    out.json("}}");
}

/// Returns the content of a message or of its result, and `true` for a failed result.
fn said<'m, 'a>(message: &'m Message<'a>) -> (&'m [Part<'a>], bool) {
    match message.results().next() {
        Some(result) => (&result.content, result.is_error),
        None => (&message.parts, false),
    }
}

/// Returns a medium that goes into the list beside the text.
fn shown(writer: &Writer<'_, '_>, part: &Part<'_>) -> Option<MediaPart> {
    match part {
        Part::Media(medium) if writer.media(medium.id).kind != MediaKind::Document => {
            writer.payload(medium.id).is_some().then_some(*medium)
        }
        _ => None,
    }
}

/// Writes the text, with markers for pictures between its parts.
pub(super) fn content<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, message: &Message<'a>) {
    let (parts, is_error) = said(message);
    let pictures = parts.iter().filter(|part| shown(writer, part).is_some()).count();
    let first_words = parts.iter().position(|part| is_words(part));
    let last_picture = parts.iter().rposition(|part| shown(writer, part).is_some());
    let last_words = parts.iter().rposition(|part| is_words(part));
    // Without markers every picture comes before the text, which is good enough for one picture.
    let between = first_words < last_picture && last_picture < last_words;
    let marks = first_words.is_some() && first_words < last_picture && (pictures > 1 || between);
    let mut words: Vec<Str<'a>> = Vec::new();
    if is_error && !writer.same_wire() {
        words.push(Str::plain(notice::ERROR));
    }
    for part in parts {
        match part {
            Part::Text(text) | Part::Refusal(text) if !text.text.is_empty() => {
                words.push(unmarked(&text.text, pictures > 0));
            }
            Part::Media(_) if shown(writer, part).is_some() => {
                if marks {
                    words.push(Str::plain(MARKER));
                }
            }
            Part::Media(medium) if writer.media_type(medium.id) == "text/plain" => {
                let text = Str::plain(decoded_text(writer.media(medium.id)));
                words.push(unmarked(&text, pictures > 0));
            }
            Part::Media(_) => words.push(Str::plain(notice::NOT_CARRIED)),
            Part::Opaque(_) if message.role != Role::Assistant => {
                words.push(Str::plain(notice::NOT_CARRIED));
            }
            Part::Text(_)
            | Part::Refusal(_)
            | Part::Opaque(_)
            | Part::TextWithMedia(_)
            | Part::Nested(_)
            | Part::Call(_)
            | Part::Result(_)
            | Part::Thinking(_)
            | Part::Mark(_) => {}
        }
    }
    crate::lower::joined(out, &words);
}

fn is_words(part: &Part<'_>) -> bool {
    matches!(part, Part::Text(text) | Part::Refusal(text) if !text.text.is_empty())
}

/// Returns a text without accidental markers, if there are pictures that could be put there.
fn unmarked<'a>(text: &Str<'a>, has_pictures: bool) -> Str<'a> {
    let plain = text.decode();
    if has_pictures && plain.contains(MARKER) {
        Str::plain(plain.replace(MARKER, "(img)"))
    } else {
        text.clone()
    }
}

/// Writes the list of pictures. Returns `true` if there are any.
pub(super) fn images<'a>(
    writer: &Writer<'_, 'a>,
    out: &mut Out<'a>,
    message: &Message<'a>,
) -> bool {
    let mut any = false;
    out.json("[");
    for part in said(message).0 {
        let Some(medium) = shown(writer, part) else { continue };
        any = true;
        if let Some(raw) = writer.verbatim(part) {
            out.comma().raw(raw);
        } else {
            let payload = writer.payload(medium.id).unwrap_or_default();
            out.comma().json("\"").bytes(payload).json("\"");
        }
    }
    out.json("]");
    any
}
