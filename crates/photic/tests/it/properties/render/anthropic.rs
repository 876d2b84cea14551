//! Messages.

use photic_testkit::image;
use serde_json::{Map, Value, json};

use super::{answer_pieces, answer_string, marked, only_words, strange};
use crate::properties::pictures::Picture;
use crate::properties::talk::{Answer, Event, Piece, Style, Talk, Turn};

pub(super) fn messages(talk: &Talk) -> (&'static str, Vec<Value>, Map<String, Value>) {
    let style = talk.style;
    let mut fields = Map::new();
    fields.insert("max_tokens".to_owned(), json!(512));
    let leading =
        talk.events.iter().take_while(|event| matches!(event, Event::Operator { .. })).count();
    let (opening, events) = talk.events.split_at(leading);
    let system: Vec<Value> = opening.iter().flat_map(operator).collect();
    if !system.is_empty() {
        fields.insert("system".to_owned(), Value::Array(system));
    }
    let mut list = List { style, messages: Vec::new(), last: Last::Other };
    for (at, event) in events.iter().enumerate() {
        match event {
            Event::User(pieces) => list.user(pieces),
            Event::Operator { .. } => {
                let after = events.get(at + 1);
                list.operator(event, matches!(after, None | Some(Event::Assistant(_))));
            }
            Event::Assistant(turn) => list.push(Last::Other, "assistant", assistant(turn)),
            Event::Answer(answer) => list.answer(answer),
        }
    }
    let marked = |(at, message)| marked(message, style, at);
    ("messages", list.messages.into_iter().enumerate().map(marked).collect(), fields)
}

struct List {
    style: Style,
    messages: Vec<Value>,
    last: Last,
}

/// What the last message is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// The user's words, as a list.
    Words,
    Answers,
    Other,
}

impl List {
    fn push(&mut self, last: Last, role: &str, content: impl Into<Value>) {
        self.messages.push(json!({"role": role, "content": content.into()}));
        self.last = last;
    }

    fn extend(&mut self, blocks: Vec<Value>, last: Last) {
        let content =
            self.messages.last_mut().and_then(|message| message["content"].as_array_mut());
        if let Some(content) = content {
            content.extend(blocks);
        }
        self.last = last;
    }

    fn user(&mut self, pieces: &[Piece]) {
        let style = self.style;
        if self.last == Last::Answers && style.join_user {
            let blocks = pieces.iter().map(|piece| block(piece, style)).collect();
            self.extend(blocks, Last::Words);
            return;
        }
        if let Some(words) = only_words(pieces, style) {
            self.push(Last::Other, "user", words);
        } else {
            let blocks: Vec<_> = pieces.iter().map(|piece| block(piece, style)).collect();
            self.push(Last::Words, "user", blocks);
        }
    }

    fn answer(&mut self, answer: &Answer) {
        let block = result(answer, self.style);
        let joins = match self.last {
            Last::Answers => !self.style.split_results,
            Last::Words => self.style.join_user,
            Last::Other => false,
        };
        if joins {
            self.extend(vec![block], Last::Answers);
        } else {
            self.push(Last::Answers, "user", vec![block]);
        }
    }

    /// The wire allows the operator to speak only behind the user and before the model.
    fn operator(&mut self, event: &Event, ends: bool) {
        let blocks = operator(event);
        let behind_user = self.messages.last().is_some_and(|message| message["role"] == "user");
        let pictures = blocks.iter().any(|block| block["type"] != "text");
        let role = if ends && behind_user && !pictures { "system" } else { "user" };
        self.push(Last::Other, role, blocks);
    }
}

fn operator(event: &Event) -> Vec<Value> {
    let Event::Operator { words, picture, .. } = event else { return Vec::new() };
    let mut blocks = vec![json!({"type": "text", "text": words})];
    blocks.extend(picture.as_ref().map(picture_block));
    blocks
}

fn assistant(turn: &Turn) -> Vec<Value> {
    let mut blocks = Vec::new();
    if turn.thinks {
        blocks.push(json!({"type": "thinking", "thinking": "about it", "signature": "c2ln"}));
    }
    let words = turn.words.iter().chain(&turn.refusal);
    blocks.extend(words.map(|words| json!({"type": "text", "text": words})));
    blocks.extend(turn.picture.as_ref().map(picture_block));
    blocks.extend(turn.calls.iter().map(|call| {
        let input = json!({"number": call.number});
        json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
    }));
    blocks
}

fn result(answer: &Answer, style: Style) -> Value {
    let mut result = json!({"type": "tool_result", "tool_use_id": answer.id});
    if answer.error {
        result["is_error"] = json!(true);
    }
    let string = answer_string(&answer.content, style).map(Value::String);
    result["content"] = string.unwrap_or_else(|| {
        answer_pieces(&answer.content).iter().map(|piece| block(piece, style)).collect()
    });
    result
}

fn block(piece: &Piece, style: Style) -> Value {
    match piece {
        Piece::Words(words) => json!({"type": "text", "text": words}),
        Piece::Picture(picture) => picture_block(picture),
        Piece::Paper(name) => {
            let data = image::base64(&image::pdf());
            let source = json!({"type": "base64", "media_type": "application/pdf", "data": data});
            json!({"type": "document", "source": source, "title": name})
        }
        Piece::Serialized(shape, pieces) => {
            json!({"type": "text", "text": shape.write(pieces, style.pretty)})
        }
        Piece::Strange(number) => strange(*number),
    }
}

fn picture_block(picture: &Picture) -> Value {
    let source = if let Some(url) = picture.address() {
        json!({"type": "url", "url": url})
    } else {
        let (label, data) = picture.base64();
        json!({"type": "base64", "media_type": label, "data": data})
    };
    json!({"type": "image", "source": source})
}
