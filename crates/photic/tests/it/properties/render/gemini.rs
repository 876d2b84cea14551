//! `generateContent`.

use photic_testkit::image;
use serde_json::{Map, Value, json};

use super::{answer_pieces, answer_string, marked, strange};
use crate::properties::pictures::Picture;
use crate::properties::talk::{Answer, Event, Piece, Style, Talk, Turn};

pub(super) fn contents(talk: &Talk) -> (&'static str, Vec<Value>, Map<String, Value>) {
    let style = talk.style;
    let mut fields = Map::new();
    let leading =
        talk.events.iter().take_while(|event| matches!(event, Event::Operator { .. })).count();
    let (opening, events) = talk.events.split_at(leading);
    let system: Vec<Value> = opening.iter().flat_map(operator).collect();
    if !system.is_empty() {
        fields.insert("systemInstruction".to_owned(), json!({"parts": system}));
    }
    // Clients of this wire repeat the name of a call in its response.
    let mut names: Vec<(String, String)> = Vec::new();
    let mut list: Vec<(&str, Vec<Value>)> = Vec::new();
    for event in events {
        let (role, parts) = match event {
            Event::User(pieces) => {
                ("user", pieces.iter().map(|piece| part(piece, style)).collect())
            }
            Event::Operator { .. } => ("user", operator(event)),
            Event::Assistant(turn) => {
                names.extend(turn.calls.iter().map(|call| (call.id.clone(), call.name.clone())));
                ("model", model(turn))
            }
            Event::Answer(answer) => ("user", vec![response(answer, &names, style)]),
        };
        if parts.is_empty() {
            continue;
        }
        match list.last_mut() {
            Some((_, before)) if role == "user" && joins(before, &parts, style) => {
                before.extend(parts);
            }
            _ => list.push((role, parts)),
        }
    }
    let content = |(at, (role, parts))| marked(json!({"role": role, "parts": parts}), style, at);
    ("contents", list.into_iter().enumerate().map(content).collect(), fields)
}

/// Whether what the user says stands in the content before it.
fn joins(before: &[Value], parts: &[Value], style: Style) -> bool {
    let answers = |parts: &[Value]| parts.iter().any(|part| part.get("functionResponse").is_some());
    let is_user = before
        .iter()
        .all(|part| part.get("functionCall").is_none() && part.get("thought").is_none());
    is_user
        && answers(before)
        && if answers(parts) { !style.split_results } else { style.join_user }
}

fn operator(event: &Event) -> Vec<Value> {
    let Event::Operator { words, picture, .. } = event else { return Vec::new() };
    let mut parts = vec![json!({"text": words})];
    parts.extend(picture.as_ref().map(blob));
    parts
}

fn model(turn: &Turn) -> Vec<Value> {
    let mut parts = Vec::new();
    if turn.thinks {
        parts.push(json!({"text": "about it", "thought": true}));
    }
    let words = turn.words.iter().chain(&turn.refusal);
    parts.extend(words.map(|words| json!({"text": words})));
    parts.extend(turn.picture.as_ref().map(blob));
    parts.extend(turn.calls.iter().map(|call| {
        let args = json!({"number": call.number});
        json!({"functionCall": {"id": call.id, "name": call.name, "args": args},
            "thoughtSignature": "c2ln"})
    }));
    parts
}

fn response(answer: &Answer, names: &[(String, String)], style: Style) -> Value {
    let name = names.iter().rev().find(|(id, _)| *id == answer.id);
    let name = name.map_or("nobody", |(_, name)| name.as_str());
    let key = if answer.error { "error" } else { "output" };
    let mut words: Vec<String> = Vec::new();
    let mut parts: Vec<Value> = Vec::new();
    match answer_string(&answer.content, style) {
        Some(text) => words.push(text),
        None => {
            for piece in answer_pieces(&answer.content) {
                match &piece {
                    Piece::Words(text) => words.push(text.clone()),
                    Piece::Serialized(shape, inner) if words.is_empty() => {
                        words.push(shape.write(inner, style.pretty));
                    }
                    _ => parts.push(part(&piece, style)),
                }
            }
        }
    }
    let mut response = json!({"id": answer.id, "name": name, "response": {}});
    response["response"][key] = json!(words.join("\n"));
    // A second serialized piece has no slot of its own; it stands where unknown parts would.
    if !parts.is_empty() {
        response["parts"] = Value::Array(parts);
    }
    json!({"functionResponse": response})
}

fn part(piece: &Piece, style: Style) -> Value {
    match piece {
        Piece::Words(words) => json!({"text": words}),
        Piece::Picture(picture) => blob(picture),
        Piece::Paper(name) => {
            let data = image::base64(&image::pdf());
            json!({"inlineData": {"mimeType": "application/pdf", "data": data, "displayName": name}})
        }
        Piece::Serialized(shape, pieces) => json!({"text": shape.write(pieces, style.pretty)}),
        Piece::Strange(number) => strange(*number),
    }
}

fn blob(picture: &Picture) -> Value {
    let (label, data) = picture.base64();
    json!({"inlineData": {"mimeType": label, "data": data}})
}
