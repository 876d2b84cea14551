//! Writes a conversation as the body of a chat completion, and reads the answer. The body is as
//! simple as possible; the host repairs and translates it like any other.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::content::{MessagePart, ParsedMessage, PartContent, Role, Trust};
use crate::failure::Failure;
use crate::modality::Modality;
use crate::untrusted::{CLOSE, Mark};

/// Checked settings of a call.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    pub(crate) system_prompt: Option<String>,
    pub(crate) temperature: Option<f64>,
    pub(crate) max_tokens: Option<u64>,
    pub(crate) stop: Vec<String>,
    pub(crate) schema: Option<Value>,
}

/// Writes the body of a request.
pub(crate) fn body(model: &str, settings: &Settings, turns: &[ParsedMessage<Bytes>]) -> Bytes {
    let mut messages = Vec::with_capacity(turns.len() + 1);
    if let Some(system) = &settings.system_prompt {
        messages.push(json!({"role": "system", "content": system}));
    }
    messages.extend(turns.iter().map(message));
    let mut body = Map::new();
    body.insert("model".to_owned(), model.into());
    body.insert("messages".to_owned(), messages.into());
    if let Some(temperature) = settings.temperature {
        body.insert("temperature".to_owned(), temperature.into());
    }
    if let Some(most) = settings.max_tokens {
        body.insert("max_tokens".to_owned(), most.into());
    }
    if !settings.stop.is_empty() {
        body.insert("stop".to_owned(), settings.stop.clone().into());
    }
    if let Some(schema) = &settings.schema {
        let format = json!({
            "type": "json_schema",
            "json_schema": {"name": "response", "schema": schema},
        });
        body.insert("response_format".to_owned(), format);
    }
    Value::Object(body).to_string().into()
}

/// Converts a completion into an answer.
pub(crate) fn answer(completion: &[u8], settings: &Settings) -> Result<Value, Failure> {
    let unreadable = || Failure::Call(crate::CallError::Unavailable);
    let completion: Value = serde_json::from_slice(completion).map_err(|_| unreadable())?;
    let choice = completion.pointer("/choices/0").ok_or_else(unreadable)?;
    let content = choice.pointer("/message/content").and_then(said);
    let mut answer = Map::new();
    if settings.schema.is_some() {
        let data = content.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok());
        answer.insert("data".to_owned(), data.ok_or(Failure::ResponseSchema)?);
    }
    if let Some(content) = content {
        answer.insert("content".to_owned(), content.into());
    }
    let count = |name: &str| completion.pointer(name).and_then(Value::as_u64);
    let input = count("/usage/prompt_tokens");
    let output = count("/usage/completion_tokens");
    if let (Some(input), Some(output)) = (input, output) {
        let total = count("/usage/total_tokens").unwrap_or(input + output);
        let usage = json!({"inputTokens": input, "outputTokens": output, "totalTokens": total});
        answer.insert("usage".to_owned(), usage);
    }
    for (name, value) in
        [("finishReason", choice.get("finish_reason")), ("model", completion.get("model"))]
    {
        if let Some(text) = value.and_then(Value::as_str) {
            answer.insert(name.to_owned(), text.into());
        }
    }
    Ok(answer.into())
}

/// Returns the text of an answer, from a string or a list of parts.
fn said(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str));
            Some(texts.collect())
        }
        _ => None,
    }
}

fn message(turn: &ParsedMessage<Bytes>) -> Value {
    let role = match turn.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    // A plain text is written without parts, as other clients do.
    if let [MessagePart { trust: Trust::Plain, what: PartContent::Words(words) }] =
        turn.pieces.as_slice()
    {
        return json!({"role": role, "content": words});
    }
    let content: Vec<Value> = turn.pieces.iter().flat_map(parts).collect();
    json!({"role": role, "content": content})
}

fn parts(piece: &MessagePart<Bytes>) -> Vec<Value> {
    let text = |text: &str| json!({"type": "text", "text": text});
    let (source, tool) = match (&piece.trust, &piece.what) {
        (Trust::Plain, PartContent::Words(words)) => return vec![text(words)],
        // Media are always marked.
        (Trust::Plain, PartContent::Medium { .. }) => (None, None),
        (Trust::Marked { source, tool }, _) => (source.as_deref(), tool.clone()),
    };
    let kind = match &piece.what {
        PartContent::Words(_) => Modality::Text,
        PartContent::Medium { modality, .. } => *modality,
    };
    let mut mark = Mark::new(source.unwrap_or("call"), kind.name());
    mark.attributes.extend(tool.map(|tool| ("tool".to_owned(), tool)));
    match &piece.what {
        PartContent::Words(words) => vec![text(&mark.wrap(words))],
        PartContent::Medium { media_type, bytes, .. } => match readable(media_type, bytes) {
            Some(words) => vec![text(&mark.wrap(words))],
            None => vec![text(&mark.open()), medium(kind, media_type, bytes), text(CLOSE)],
        },
    }
}

/// Returns the text of a document that is text. Providers put it into the prompt, so it must be
/// defanged like text.
fn readable<'a>(media_type: &str, bytes: &'a [u8]) -> Option<&'a str> {
    let is_text = media_type.starts_with("text/") || media_type == "application/json";
    std::str::from_utf8(bytes).ok().filter(|_| is_text)
}

fn medium(modality: Modality, media_type: &str, bytes: &[u8]) -> Value {
    let data = || STANDARD.encode(bytes);
    let url = || format!("data:{media_type};base64,{}", data());
    match modality {
        Modality::Image => json!({"type": "image_url", "image_url": {"url": url()}}),
        Modality::Audio => {
            let format = match media_type {
                "audio/mpeg" | "audio/mp3" => "mp3",
                "audio/wav" | "audio/x-wav" | "audio/wave" => "wav",
                other => other.split_once('/').map_or(other, |(_, format)| format),
            };
            json!({"type": "input_audio", "input_audio": {"data": data(), "format": format}})
        }
        Modality::Document | Modality::Text => {
            let name = if media_type == "application/pdf" { "document.pdf" } else { "document" };
            json!({"type": "file", "file": {"filename": name, "file_data": url()}})
        }
    }
}
