//! Chat Completions.

use serde_json::{Map, Value, json};

use super::{answer_pieces, answer_string, marked, only_words, pdf_url, strange};
use crate::properties::pictures::Picture;
use crate::properties::talk::{Event, Piece, Style, Talk, Turn};

pub(super) fn messages(talk: &Talk) -> (&'static str, Vec<Value>, Map<String, Value>) {
    let style = talk.style;
    let messages = talk.events.iter().enumerate().map(|(at, event)| {
        let message = match event {
            Event::User(pieces) => json!({"role": "user", "content": content(pieces, style)}),
            Event::Operator { developer, words, picture } => {
                let role = if *developer { "developer" } else { "system" };
                let pieces = said(Some(words), picture.as_ref());
                json!({"role": role, "content": content(&pieces, style)})
            }
            Event::Assistant(turn) => assistant(turn, style),
            Event::Answer(answer) => {
                let string = answer_string(&answer.content, style).map(Value::String);
                let content =
                    string.unwrap_or_else(|| content(&answer_pieces(&answer.content), style));
                json!({"role": "tool", "tool_call_id": answer.id, "content": content})
            }
        };
        marked(message, style, at)
    });
    let mut fields = Map::new();
    fields.insert("temperature".to_owned(), json!(0.5));
    ("messages", messages.collect(), fields)
}

fn said(words: Option<&String>, picture: Option<&Picture>) -> Vec<Piece> {
    let words = words.cloned().map(Piece::Words);
    words.into_iter().chain(picture.cloned().map(Piece::Picture)).collect()
}

fn assistant(turn: &Turn, style: Style) -> Value {
    let pieces = said(turn.words.as_ref(), turn.picture.as_ref());
    let mut message = json!({"role": "assistant", "content": null});
    if !pieces.is_empty() {
        message["content"] = content(&pieces, style);
    }
    if turn.thinks {
        message["reasoning_content"] = json!("thinking about it");
    }
    if let Some(refusal) = &turn.refusal {
        message["refusal"] = json!(refusal);
    }
    if !turn.calls.is_empty() {
        let calls = turn.calls.iter().map(|call| {
            let arguments = format!("{{\"number\": {}}}", call.number);
            let function = json!({"name": call.name, "arguments": arguments});
            json!({"id": call.id, "type": "function", "function": function})
        });
        message["tool_calls"] = calls.collect();
    }
    message
}

fn content(pieces: &[Piece], style: Style) -> Value {
    match only_words(pieces, style) {
        Some(words) => Value::String(words),
        None => pieces.iter().map(|piece| part(piece, style)).collect(),
    }
}

fn part(piece: &Piece, style: Style) -> Value {
    match piece {
        Piece::Words(words) => json!({"type": "text", "text": words}),
        Piece::Picture(picture) => {
            let mut image = json!({"url": picture.url()});
            if picture.number.is_multiple_of(3) {
                image["detail"] = json!("low");
            }
            json!({"type": "image_url", "image_url": image})
        }
        Piece::Paper(name) => {
            json!({"type": "file", "file": {"filename": name, "file_data": pdf_url()}})
        }
        Piece::Serialized(shape, pieces) => {
            json!({"type": "text", "text": shape.write(pieces, style.pretty)})
        }
        Piece::Strange(number) => strange(*number),
    }
}
