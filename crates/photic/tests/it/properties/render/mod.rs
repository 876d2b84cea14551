//! A conversation as a client of each wire writes it.

mod anthropic;
mod chat;
mod converse;
mod gemini;
mod ollama;
mod responses;

use photic::Wire;
use photic_testkit::image;
use serde_json::{Map, Value, json};

use super::talk::{Content, Piece, Style, Talk};

/// The body of a request.
pub(super) fn body(talk: &Talk, wire: Wire) -> Vec<u8> {
    let style = talk.style;
    let (name, list, mut fields) = match wire {
        Wire::OpenAiChat => chat::messages(talk),
        Wire::OpenAiResponses => responses::items(talk),
        Wire::Anthropic => anthropic::messages(talk),
        Wire::Gemini => gemini::contents(talk),
        Wire::BedrockConverse => converse::messages(talk),
        Wire::Ollama => ollama::messages(talk),
        _ => unreachable!("only the six wires are tested here"),
    };
    let mut body = Map::new();
    body.insert("model".to_owned(), json!("some-model"));
    if style.unknown_fields {
        body.insert("x_trace".to_owned(), json!({"id": [1, 2.50, "a/b"], "on": true}));
    }
    if style.list_last {
        body.append(&mut fields);
        body.insert(name.to_owned(), Value::Array(list));
    } else {
        body.insert(name.to_owned(), Value::Array(list));
        body.append(&mut fields);
    }
    let body = Value::Object(body);
    if style.pretty { format!("{body:#}\n") } else { body.to_string() }.into_bytes()
}

/// A message with fields that no wire defines, if the client sends such.
fn marked(mut message: Value, style: Style, at: usize) -> Value {
    if style.unknown_fields
        && let Some(object) = message.as_object_mut()
    {
        object.insert("x_note".to_owned(), json!({"at": at, "why": "a\u{e9}\"b"}));
    }
    message
}

/// The words, where the pieces are nothing else and the client writes strings.
fn only_words(pieces: &[Piece], style: Style) -> Option<String> {
    match pieces {
        [Piece::Words(words)] if style.strings => Some(words.clone()),
        [Piece::Serialized(shape, inner)] if style.strings => {
            Some(shape.write(inner, style.pretty))
        }
        _ => None,
    }
}

/// What an answer says as one string, where it is one.
fn answer_string(content: &Content, style: Style) -> Option<String> {
    match content {
        Content::Nothing => Some(String::new()),
        Content::Pieces(pieces) => only_words(pieces, style),
        Content::Serialized(shape, pieces) if style.strings => {
            Some(shape.write(pieces, style.pretty))
        }
        Content::Serialized(..) => None,
    }
}

/// What an answer says as pieces.
fn answer_pieces(content: &Content) -> Vec<Piece> {
    match content {
        Content::Nothing => Vec::new(),
        Content::Pieces(pieces) => pieces.clone(),
        Content::Serialized(shape, pieces) => vec![Piece::Serialized(*shape, pieces.clone())],
    }
}

fn strange(number: usize) -> Value {
    json!({"type": "x_hologram", "x_number": number})
}

fn pdf_url() -> String {
    image::data_url("application/pdf", &image::pdf())
}
