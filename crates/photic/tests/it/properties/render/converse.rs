//! `Converse`.

use photic_testkit::image;
use serde_json::{Map, Value, json};

use super::{answer_pieces, answer_string, marked, strange};
use crate::properties::pictures::Picture;
use crate::properties::talk::{Answer, Event, Piece, Style, Talk, Turn};

pub(super) fn messages(talk: &Talk) -> (&'static str, Vec<Value>, Map<String, Value>) {
    let style = talk.style;
    let mut fields = Map::new();
    fields.insert("inferenceConfig".to_owned(), json!({"maxTokens": 512}));
    let tool = json!({"toolSpec": {"name": "look", "inputSchema": {"json": {"type": "object"}}}});
    fields.insert("toolConfig".to_owned(), json!({"tools": [tool]}));
    let leading =
        talk.events.iter().take_while(|event| matches!(event, Event::Operator { .. })).count();
    let (opening, events) = talk.events.split_at(leading);
    let mut papers = 0;
    let system: Vec<Value> = opening.iter().flat_map(operator).collect();
    if !system.is_empty() {
        fields.insert("system".to_owned(), Value::Array(system));
    }
    let mut list: Vec<(&str, Vec<Value>)> = Vec::new();
    for event in events {
        let (role, blocks) = match event {
            Event::User(pieces) => ("user", said(pieces, style, &mut papers)),
            Event::Operator { .. } => ("user", operator(event)),
            Event::Assistant(turn) => ("assistant", assistant(turn)),
            Event::Answer(answer) => ("user", vec![result(answer, style, &mut papers)]),
        };
        // Turns alternate, so every client joins what belongs to one role.
        match list.last_mut() {
            Some((before, content)) if *before == role => content.extend(blocks),
            _ if blocks.is_empty() => {}
            _ => list.push((role, blocks)),
        }
    }
    let message = |(at, (role, blocks))| {
        marked(json!({"role": role, "content": with_words(blocks)}), style, at)
    };
    ("messages", list.into_iter().enumerate().map(message).collect(), fields)
}

/// A document is taken beside words only.
fn with_words(mut blocks: Vec<Value>) -> Vec<Value> {
    let has = |name: &str| blocks.iter().any(|block: &Value| block.get(name).is_some());
    if has("document") && !has("text") {
        blocks.push(json!({"text": "as attached"}));
    }
    blocks
}

fn operator(event: &Event) -> Vec<Value> {
    let Event::Operator { words, picture, .. } = event else { return Vec::new() };
    let mut blocks = vec![json!({"text": words})];
    blocks.extend(picture.as_ref().map(picture_block));
    blocks
}

fn assistant(turn: &Turn) -> Vec<Value> {
    let mut blocks = Vec::new();
    if turn.thinks {
        blocks.push(json!({"reasoningContent": {"reasoningText": {"text": "about it"}}}));
    }
    let words = turn.words.iter().chain(&turn.refusal);
    blocks.extend(words.map(|words| json!({"text": words})));
    blocks.extend(turn.picture.as_ref().map(picture_block));
    blocks.extend(turn.calls.iter().map(|call| {
        let input = json!({"number": call.number});
        json!({"toolUse": {"toolUseId": call.id, "name": call.name, "input": input}})
    }));
    blocks
}

fn said(pieces: &[Piece], style: Style, papers: &mut usize) -> Vec<Value> {
    pieces.iter().map(|piece| block(piece, style, papers)).collect()
}

fn result(answer: &Answer, style: Style, papers: &mut usize) -> Value {
    let content = match answer_string(&answer.content, style) {
        Some(text) if text.is_empty() => Vec::new(),
        Some(text) => vec![json!({"text": text})],
        None => said(&answer_pieces(&answer.content), style, papers),
    };
    let mut result = json!({"toolUseId": answer.id, "content": content});
    if answer.error {
        result["status"] = json!("error");
    }
    json!({"toolResult": result})
}

fn block(piece: &Piece, style: Style, papers: &mut usize) -> Value {
    match piece {
        Piece::Words(words) => json!({"text": words}),
        Piece::Picture(picture) => picture_block(picture),
        Piece::Paper(_) => {
            *papers += 1;
            let source = json!({"bytes": image::base64(&image::pdf())});
            json!({"document": {"format": "pdf", "name": format!("paper {papers}"), "source": source}})
        }
        Piece::Serialized(shape, pieces) => json!({"text": shape.write(pieces, style.pretty)}),
        Piece::Strange(number) => strange(*number),
    }
}

fn picture_block(picture: &Picture) -> Value {
    let (label, data) = picture.base64();
    let format = label.split('/').nth(1).unwrap_or("png");
    json!({"image": {"format": format, "source": {"bytes": data}}})
}
