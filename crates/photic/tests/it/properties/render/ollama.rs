//! `/api/chat`.

use serde_json::{Map, Value, json};

use super::{answer_pieces, answer_string, marked};
use crate::properties::talk::{Event, Piece, Style, Talk, Turn};

pub(super) fn messages(talk: &Talk) -> (&'static str, Vec<Value>, Map<String, Value>) {
    let style = talk.style;
    let messages = talk.events.iter().enumerate().map(|(at, event)| {
        let message = match event {
            Event::User(pieces) => said("user", pieces, style),
            Event::Operator { words, picture, .. } => {
                let mut pieces = vec![Piece::Words(words.clone())];
                pieces.extend(picture.clone().map(Piece::Picture));
                said("system", &pieces, style)
            }
            Event::Assistant(turn) => assistant(turn, style),
            Event::Answer(answer) => {
                let mut message = match answer_string(&answer.content, style) {
                    Some(text) => json!({"role": "tool", "content": text}),
                    None => said("tool", &answer_pieces(&answer.content), style),
                };
                message["tool_call_id"] = json!(answer.id);
                message
            }
        };
        marked(message, style, at)
    });
    let mut fields = Map::new();
    fields.insert("stream".to_owned(), json!(false));
    fields.insert("options".to_owned(), json!({"temperature": 0.5}));
    ("messages", messages.collect(), fields)
}

fn assistant(turn: &Turn, style: Style) -> Value {
    let words = turn.words.iter().chain(&turn.refusal).cloned().map(Piece::Words);
    let pieces: Vec<Piece> = words.chain(turn.picture.clone().map(Piece::Picture)).collect();
    let mut message = said("assistant", &pieces, style);
    if turn.thinks {
        message["thinking"] = json!("about it");
    }
    if !turn.calls.is_empty() {
        let calls = turn.calls.iter().map(|call| {
            let function = json!({"name": call.name, "arguments": {"number": call.number}});
            json!({"id": call.id, "function": function})
        });
        message["tool_calls"] = calls.collect();
    }
    message
}

/// Words as one string, pictures beside it; what else there is has no slot on this wire.
fn said(role: &str, pieces: &[Piece], style: Style) -> Value {
    let pictures: Vec<String> = pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Picture(picture) => Some(picture.base64().1),
            _ => None,
        })
        .collect();
    // Several pictures among words are told apart by markers.
    let marks = pictures.len() > 1;
    let words: Vec<String> = pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Words(words) => Some(words.clone()),
            Piece::Picture(_) => marks.then(|| "[img]".to_owned()),
            Piece::Serialized(shape, inner) => Some(shape.write(inner, style.pretty)),
            Piece::Paper(_) | Piece::Strange(_) => None,
        })
        .collect();
    let mut message = json!({"role": role, "content": words.join("\n")});
    if !pictures.is_empty() {
        message["images"] = json!(pictures);
    }
    message
}
