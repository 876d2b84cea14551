//! `photic session show`: prints a conversation, with images as references.

use std::io::Write;
use std::process::ExitCode;

use photic::transcript::{Arguments, MediaId, Part, Role};
use photic_store::{Image, LocalStore, SessionId, Tenant, wait};
use serde_json::{Value, json};

use super::images::fate;
use super::list::{as_json, dollars};
use crate::output::print_json;
use crate::style::{CYAN, DIM, GREEN, YELLOW, byte_size, counted, grouped};

/// Longest text of one part; `photic session export` prints all of it.
const MAX_TEXT_CHARS: usize = 2000;

/// Runs the command.
pub(super) fn run(
    store: &LocalStore,
    id: &SessionId,
    number: u64,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let session = wait(store.session(id))?;
    let look = wait(store.look(id, number))?;
    let (transcript, _) = photic::lift(look.turn.wire, &look.body);
    if json {
        let messages = transcript.messages.iter().enumerate().map(|(index, message)| {
            let mut lines = Vec::new();
            read(&message.parts, &look.images, &mut lines);
            let parts: Vec<Value> = lines.iter().map(TranscriptLine::as_json).collect();
            json!({"message_index": index + 1, "role": name(message.role), "parts": parts})
        });
        let messages: Vec<Value> = messages.collect();
        let turn = &look.turn;
        let totals = store.record.totals(&Tenant::local())?.remove(id).unwrap_or_default();
        return print_json(&json!({"session": as_json(&session, totals), "turn": number,
            "wire": turn.wire, "sums": turn.sums, "messages": messages}));
    }
    let mut out = anstream::stdout().lock();
    let sums = look.turn.sums;
    writeln!(out, "{DIM}{id}, turn {number} of {}: {}{DIM:#}", session.turns, session.title)?;
    for message in &transcript.messages {
        let style = match message.role {
            Role::User => GREEN,
            Role::Assistant => CYAN,
            Role::System | Role::Developer | Role::Tool | Role::Unknown => YELLOW,
        };
        writeln!(out, "\n{style}{}{style:#}", name(message.role))?;
        let mut lines = Vec::new();
        read(&message.parts, &look.images, &mut lines);
        for line in &lines {
            line.write(&mut out)?;
        }
    }
    let totals = store.record.totals(&Tenant::local())?.remove(id).unwrap_or_default();
    writeln!(
        out,
        "\n{DIM}turn {number}: {} shown, about {} tokens{}, {} sent{DIM:#}",
        counted(sums.images as usize, "image"),
        grouped(sums.tokens),
        sums.usd.map_or(String::new(), |usd| format!(", {usd:.4} dollars")),
        byte_size(look.turn.length),
    )?;
    let outcome = wait(store.turn_rows(id, number, 1))?.pop().and_then(|row| row.outcome);
    if let Some(usage) = outcome.map(|outcome| outcome.usage)
        && let Some((input, output)) = usage.input.zip(usage.output)
    {
        writeln!(
            out,
            "{DIM}reported: {} input tokens, of which {} from the cache; {} output tokens{DIM:#}",
            grouped(input),
            grouped(usage.cache_read.unwrap_or_default()),
            grouped(output),
        )?;
    }
    writeln!(
        out,
        "{DIM}session: {}, {}, {} tokens, {} dollars{DIM:#}",
        counted(session.turns as usize, "turn"),
        counted(session.images as usize, "image"),
        grouped(totals.tokens),
        dollars(totals),
    )?;
    Ok(ExitCode::SUCCESS)
}

/// The name of a role.
fn name(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::Developer => "developer",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
        Role::Unknown => "unknown",
    }
}

/// One line of a conversation.
enum TranscriptLine<'i> {
    Text(String),
    Call(String, String),
    Image(Option<&'i Image>),
    Other(&'static str),
}

/// Lists the lines of a message.
fn read<'i>(parts: &[Part<'_>], images: &'i [Image], lines: &mut Vec<TranscriptLine<'i>>) {
    let image = |id: MediaId| TranscriptLine::Image(images.get(id.index()));
    for part in parts {
        match part {
            Part::Text(text) | Part::Refusal(text) => {
                lines.push(TranscriptLine::Text(text.text.decode().into_owned()));
            }
            Part::Media(media) => lines.push(image(media.id)),
            Part::TextWithMedia(mixed) => {
                for (at, piece) in mixed.pieces.iter().enumerate() {
                    lines.push(TranscriptLine::Text(piece.decode().into_owned()));
                    lines.extend(mixed.media.get(at).map(|&id| image(id)));
                }
            }
            Part::Nested(nested) => read(&nested.parts, images, lines),
            Part::Call(call) => {
                let arguments = match &call.arguments {
                    Arguments::Text(text) | Arguments::Free(text) => text.decode().into_owned(),
                    Arguments::Json(json) | Arguments::Wrapped(_, json) => {
                        String::from_utf8_lossy(json).into_owned()
                    }
                };
                lines.push(TranscriptLine::Call(call.name.decode().into_owned(), arguments));
            }
            Part::Result(result) => read(&result.content, images, lines),
            Part::Thinking(_) => lines.push(TranscriptLine::Other("thinking")),
            Part::Mark(_) => {}
            Part::Opaque(_) => {
                lines.push(TranscriptLine::Other("content that photic does not know"));
            }
        }
    }
    lines.retain(|line| !matches!(line, TranscriptLine::Text(text) if text.is_empty()));
}

impl TranscriptLine<'_> {
    fn write(&self, out: &mut impl Write) -> anyhow::Result<()> {
        match self {
            Self::Text(text) => {
                for line in clean(text).lines() {
                    writeln!(out, "  {line}")?;
                }
            }
            Self::Call(name, arguments) => {
                writeln!(out, "  {DIM}calls{DIM:#} {} {}", clean(name), clean(arguments))?;
            }
            Self::Image(Some(image)) => {
                let handle = image.handle.as_ref().map_or("by address", |handle| handle.as_str());
                let size = image.size.map_or(String::new(), |(w, h)| format!(" {w}x{h}"));
                let kind = image.media_type.as_deref().unwrap_or("image");
                let weight = byte_size(image.bytes);
                let fate = fate(image);
                writeln!(out, "  [{CYAN}{handle}{CYAN:#} {kind}{size}, {weight}; {fate}]")?;
            }
            Self::Image(None) => writeln!(out, "  [image]")?,
            Self::Other(what) => writeln!(out, "  {DIM}({what}){DIM:#}")?,
        }
        Ok(())
    }

    fn as_json(&self) -> Value {
        match self {
            Self::Text(text) => json!({"text": text}),
            Self::Call(name, arguments) => json!({"call": name, "arguments": arguments}),
            Self::Image(image) => image.map_or_else(|| json!({"image": null}), reference),
            Self::Other(what) => json!({"other": what}),
        }
    }
}

/// An image as JSON: its handle, and what is known about it.
fn reference(image: &Image) -> Value {
    let mut value = json!({"image": image.handle.as_ref().map(ToString::to_string),
        "index": image.media.index() + 1, "bytes": image.bytes, "fate": fate(image)});
    if let Some(media_type) = &image.media_type {
        value["media_type"] = json!(media_type);
    }
    if let Some(size) = image.size {
        value["source_size"] = json!(size);
    }
    value
}

/// Removes control characters, since tools may print escape sequences, and cuts long texts.
fn clean(text: &str) -> String {
    let safe = |letter: &char| matches!(letter, '\n' | '\t') || !letter.is_control();
    let mut clean: String = text.chars().filter(safe).take(MAX_TEXT_CHARS).collect();
    if text.chars().nth(MAX_TEXT_CHARS).is_some() {
        clean.push('…');
    }
    clean
}
