//! Responses.

use serde_json::{Map, Value, json};

use super::{answer_pieces, answer_string, marked, only_words, pdf_url, strange};
use crate::properties::talk::{Event, Piece, Style, Talk, Turn};

pub(super) fn items(talk: &Talk) -> (&'static str, Vec<Value>, Map<String, Value>) {
    let style = talk.style;
    let mut fields = Map::new();
    let mut items = Vec::new();
    for (at, event) in talk.events.iter().enumerate() {
        let item = match event {
            Event::User(pieces) => json!({"role": "user", "content": content(pieces, style)}),
            Event::Operator { developer: false, words, picture: None }
                if at == 0 && style.strings =>
            {
                fields.insert("instructions".to_owned(), json!(words));
                continue;
            }
            Event::Operator { developer, words, picture } => {
                let role = if *developer { "developer" } else { "system" };
                let mut pieces = vec![Piece::Words(words.clone())];
                pieces.extend(picture.clone().map(Piece::Picture));
                json!({"type": "message", "role": role, "content": content(&pieces, style)})
            }
            Event::Assistant(turn) => {
                let turn = assistant(turn).into_iter();
                items.extend(turn.map(|item| marked(item, style, at)));
                continue;
            }
            Event::Answer(answer) => {
                let string = answer_string(&answer.content, style).map(Value::String);
                let output =
                    string.unwrap_or_else(|| content(&answer_pieces(&answer.content), style));
                json!({"type": "function_call_output", "call_id": answer.id, "output": output})
            }
        };
        items.push(marked(item, style, at));
    }
    fields.insert("store".to_owned(), json!(false));
    ("input", items, fields)
}

fn assistant(turn: &Turn) -> Vec<Value> {
    let mut items = Vec::new();
    if turn.thinks {
        items.push(
            json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}),
        );
    }
    let mut parts = Vec::new();
    if let Some(words) = &turn.words {
        parts.push(json!({"type": "output_text", "text": words, "annotations": []}));
    }
    if let Some(refusal) = &turn.refusal {
        parts.push(json!({"type": "refusal", "refusal": refusal}));
    }
    if let Some(picture) = &turn.picture {
        parts.push(json!({"type": "input_image", "image_url": picture.url(), "detail": "high"}));
    }
    if !parts.is_empty() {
        items.push(json!({"type": "message", "role": "assistant", "content": parts}));
    }
    items.extend(turn.calls.iter().map(|call| {
        let arguments = format!("{{\"number\": {}}}", call.number);
        json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments})
    }));
    items
}

fn content(pieces: &[Piece], style: Style) -> Value {
    match only_words(pieces, style) {
        Some(words) => Value::String(words),
        None => pieces.iter().map(|piece| part(piece, style)).collect(),
    }
}

fn part(piece: &Piece, style: Style) -> Value {
    match piece {
        Piece::Words(words) => json!({"type": "input_text", "text": words}),
        Piece::Picture(picture) => {
            let detail = if picture.number.is_multiple_of(3) { "low" } else { "high" };
            json!({"type": "input_image", "image_url": picture.url(), "detail": detail})
        }
        Piece::Paper(name) => {
            json!({"type": "input_file", "filename": name, "file_data": pdf_url()})
        }
        Piece::Serialized(shape, pieces) => {
            json!({"type": "input_text", "text": shape.write(pieces, style.pretty)})
        }
        Piece::Strange(number) => strange(*number),
    }
}
