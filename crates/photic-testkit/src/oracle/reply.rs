//! Reads a whole (not streamed) reply as a client's typed reader would.
//!
//! This module owns the shape and the content of a reply of every wire. It must never read
//! streams.

use serde_json::{Map, Value};

use super::Violation;
use super::rules::Rules;
use super::seen::Call;
use super::witness::Witness;

/// The content of a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// The id of the reply.
    pub id: String,
    /// The model that answered.
    pub model: String,
    /// Its texts, in order; refusals count as texts.
    pub texts: Vec<String>,
    /// Its tool calls, in order.
    pub calls: Vec<Call>,
    /// `finish_reason`, `status` or `stop_reason`, as the wire has it.
    pub stop: Option<String>,
    /// The token usage, if the reply has it.
    pub usage: Option<Usage>,
}

/// Tokens of a reply, as the wire counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// `prompt_tokens` or `input_tokens`.
    pub input: u64,
    /// `completion_tokens` or `output_tokens`.
    pub output: u64,
    /// Tokens read from a cache.
    pub cached: u64,
}

/// Reads the body of a reply on a wire.
pub fn reply(wire: &str, body: &[u8]) -> Result<Reply, Vec<Violation>> {
    let rules = Rules { base64_text: true, ..Rules::default() };
    let mut w = Witness::new(&rules);
    let mut reply = Reply::default();
    let read = match wire {
        "openai-chat" => chat,
        "openai-responses" => response,
        "anthropic" => message,
        "gemini" => candidate,
        "bedrock-converse" => converse,
        "ollama" => ollama,
        _ => {
            w.violate("unknown_wire", "", format!("the oracle does not speak `{wire}`"));
            return Err(w.finish().1);
        }
    };
    if let Some(body) = super::parse(&mut w, body) {
        let mut field =
            |name: &str| w.string(&body, name, "").map(str::to_owned).unwrap_or_default();
        match wire {
            "gemini" => (reply.id, reply.model) = (field("responseId"), field("modelVersion")),
            "bedrock-converse" => {}
            "ollama" => reply.model = field("model"),
            _ => (reply.id, reply.model) = (field("id"), field("model")),
        }
        read(&mut w, &mut reply, &body);
    }
    let (seen, violations) = w.finish();
    reply.calls = seen.calls;
    if violations.is_empty() { Ok(reply) } else { Err(violations) }
}

fn chat(w: &mut Witness<'_>, reply: &mut Reply, body: &Map<String, Value>) {
    literal(w, body, "object", "chat.completion");
    number(w, body, "created", "");
    let choices = body.get("choices").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if choices.is_empty() {
        w.violate("field_missing", "/choices", "a completion has at least one choice");
    }
    for (index, choice) in choices.iter().enumerate() {
        let at = format!("/choices/{index}");
        let Some(choice) = w.object(Some(choice), &at) else { continue };
        number(w, choice, "index", &at);
        let reasons = ["stop", "length", "tool_calls", "content_filter", "function_call"];
        w.one_of(choice, "finish_reason", &at, &reasons);
        reply.stop = w.string(choice, "finish_reason", &at).map(str::to_owned);
        let at = format!("{at}/message");
        let Some(message) = w.object(choice.get("message"), &at) else { continue };
        literal(w, message, "role", "assistant");
        for key in ["content", "refusal"] {
            match message.get(key) {
                None | Some(Value::Null) => {}
                Some(Value::String(text)) => reply.texts.push(text.clone()),
                Some(_) => w.violate("field_type", &format!("{at}/{key}"), "expected a string"),
            }
        }
        let calls = message.get("tool_calls").and_then(Value::as_array);
        for (index, call) in calls.into_iter().flatten().enumerate() {
            chat_call(w, call, &format!("{at}/tool_calls/{index}"));
        }
        if reply.stop.as_deref() == Some("tool_calls") && calls.is_none_or(Vec::is_empty) {
            w.violate("field_missing", &at, "`finish_reason` says tool_calls and there are none");
        }
    }
    let cached = ["prompt_tokens_details", "cached_tokens"];
    reply.usage = usage(w, body, ("prompt_tokens", "completion_tokens"), &cached);
}

fn chat_call(w: &mut Witness<'_>, call: &Value, at: &str) {
    let Some(object) = w.object(Some(call), at) else { return };
    let (body, key) =
        if call["type"] == "custom" { ("custom", "input") } else { ("function", "arguments") };
    let Some(function) = w.object(object.get(body), at) else { return };
    let id = w.string(object, "id", at);
    let name = w.string(function, "name", at);
    if let (Some(id), Some(name), Some(arguments)) = (id, name, w.string(function, key, at)) {
        w.call(at, id, name, arguments.to_owned());
    }
}

fn response(w: &mut Witness<'_>, reply: &mut Reply, body: &Map<String, Value>) {
    literal(w, body, "object", "response");
    number(w, body, "created_at", "");
    let known = ["completed", "failed", "in_progress", "cancelled", "queued", "incomplete"];
    w.one_of(body, "status", "", &known);
    reply.stop = w.string(body, "status", "").map(str::to_owned);
    let Some(items) = body.get("output").and_then(Value::as_array) else {
        w.violate("field_missing", "/output", "a response has an output list");
        return;
    };
    for (index, value) in items.iter().enumerate() {
        let at = format!("/output/{index}");
        let Some(item) = w.object(Some(value), &at) else { continue };
        match w.string(item, "type", &at) {
            Some("message") => {
                literal(w, item, "role", "assistant");
                let parts = item.get("content").and_then(Value::as_array);
                for part in parts.into_iter().flatten() {
                    let text = part.get("text").or_else(|| part.get("refusal"));
                    match text.and_then(Value::as_str) {
                        Some(text) => reply.texts.push(text.to_owned()),
                        None => w.violate("field_missing", &at, "a part has no text"),
                    }
                }
            }
            Some(kind @ ("function_call" | "custom_tool_call")) => {
                let key = if kind == "function_call" { "arguments" } else { "input" };
                let (id, name) = (w.string(item, "call_id", &at), w.string(item, "name", &at));
                let arguments = w.string(item, key, &at);
                if let (Some(id), Some(name), Some(arguments)) = (id, name, arguments) {
                    w.call(&at, id, name, arguments.to_owned());
                }
            }
            _ => {}
        }
    }
    let cached = ["input_tokens_details", "cached_tokens"];
    reply.usage = usage(w, body, ("input_tokens", "output_tokens"), &cached);
}

fn message(w: &mut Witness<'_>, reply: &mut Reply, body: &Map<String, Value>) {
    literal(w, body, "type", "message");
    literal(w, body, "role", "assistant");
    reply.stop = w.string(body, "stop_reason", "").map(str::to_owned);
    let Some(blocks) = body.get("content").and_then(Value::as_array) else {
        w.violate("field_missing", "/content", "a message has a content list");
        return;
    };
    for (index, block) in blocks.iter().enumerate() {
        let at = format!("/content/{index}");
        let Some(block) = w.object(Some(block), &at) else { continue };
        match w.string(block, "type", &at) {
            Some("text") => reply.texts.extend(w.string(block, "text", &at).map(str::to_owned)),
            Some("tool_use") => {
                let (id, name) = (w.string(block, "id", &at), w.string(block, "name", &at));
                let input = w.object(block.get("input"), &at);
                if let (Some(id), Some(name), Some(input)) = (id, name, input) {
                    w.call(&at, id, name, Value::Object(input.clone()).to_string());
                }
            }
            _ => {}
        }
    }
    if body.get("usage").is_none() {
        w.violate("field_missing", "/usage", "a message counts its tokens");
    }
    let names = ("input_tokens", "output_tokens");
    reply.usage = usage(w, body, names, &["cache_read_input_tokens"]);
}

fn candidate(w: &mut Witness<'_>, reply: &mut Reply, body: &Map<String, Value>) {
    let Some(candidate) = body.get("candidates").and_then(|list| list.get(0)) else {
        return w.violate("field_missing", "/candidates", "a response has a candidate");
    };
    reply.stop = candidate["finishReason"].as_str().map(str::to_owned);
    let known = ["STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER"];
    if !reply.stop.as_deref().is_some_and(|stop| known.contains(&stop)) {
        w.violate("value_unknown", "/candidates/0/finishReason", "no reason that is known");
    }
    for (index, part) in candidate["content"]["parts"].as_array().into_iter().flatten().enumerate()
    {
        let at = format!("/candidates/0/content/parts/{index}");
        if part["thought"] != true {
            reply.texts.extend(part["text"].as_str().map(str::to_owned));
        }
        let Some(call) = part.get("functionCall").and_then(Value::as_object) else { continue };
        let (id, name) = (w.string(call, "id", &at), w.string(call, "name", &at));
        let args = w.object(call.get("args"), &at);
        if let (Some(id), Some(name), Some(args)) = (id, name, args) {
            w.call(&at, id, name, Value::Object(args.clone()).to_string());
        }
    }
    let usage = &body["usageMetadata"];
    reply.usage = usage["promptTokenCount"].as_u64().map(|input| Usage {
        input,
        output: usage["candidatesTokenCount"].as_u64().unwrap_or(0)
            + usage["thoughtsTokenCount"].as_u64().unwrap_or(0),
        cached: usage["cachedContentTokenCount"].as_u64().unwrap_or(0),
    });
}

fn converse(w: &mut Witness<'_>, reply: &mut Reply, body: &Map<String, Value>) {
    reply.stop = w.string(body, "stopReason", "").map(str::to_owned);
    let message = body.get("output").map(|output| &output["message"]);
    let Some(message) = message.filter(|message| message["role"] == "assistant") else {
        return w.violate("field_missing", "/output/message", "a reply has a message");
    };
    for (index, block) in message["content"].as_array().into_iter().flatten().enumerate() {
        let at = format!("/output/message/content/{index}");
        reply.texts.extend(block["text"].as_str().map(str::to_owned));
        let Some(call) = block.get("toolUse").and_then(Value::as_object) else { continue };
        let (id, name) = (w.string(call, "toolUseId", &at), w.string(call, "name", &at));
        let input = w.object(call.get("input"), &at);
        if let (Some(id), Some(name), Some(input)) = (id, name, input) {
            w.call(&at, id, name, Value::Object(input.clone()).to_string());
        }
    }
    if reply.stop.as_deref() == Some("tool_use") && w.seen.calls.is_empty() {
        w.violate("field_missing", "/output", "`stopReason` says tool_use and there is none");
    }
    reply.usage = usage(w, body, ("inputTokens", "outputTokens"), &["cacheReadInputTokens"]);
}

fn ollama(w: &mut Witness<'_>, reply: &mut Reply, body: &Map<String, Value>) {
    w.string(body, "created_at", "");
    if body.get("done") != Some(&Value::Bool(true)) {
        w.violate("value_unknown", "/done", "a whole reply is done");
    }
    reply.stop = w.string(body, "done_reason", "").map(str::to_owned);
    let Some(message) = w.object(body.get("message"), "/message") else { return };
    literal(w, message, "role", "assistant");
    let said = message.get("content").and_then(Value::as_str).filter(|text| !text.is_empty());
    reply.texts.extend(said.map(str::to_owned));
    let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    for (index, call) in calls.enumerate() {
        let at = format!("/message/tool_calls/{index}");
        let Some(function) = w.object(call.get("function"), &at) else { continue };
        let name = w.string(function, "name", &at);
        let arguments = w.object(function.get("arguments"), &at);
        if let (Some(name), Some(arguments)) = (name, arguments) {
            let id = call["id"].as_str().unwrap_or(name);
            w.call(&at, id, name, Value::Object(arguments.clone()).to_string());
        }
    }
    let count = |name: &str| body.get(name).and_then(Value::as_u64);
    reply.usage = count("prompt_eval_count").map(|input| Usage {
        input,
        output: count("eval_count").unwrap_or(0),
        cached: 0,
    });
}

fn literal(w: &mut Witness<'_>, object: &Map<String, Value>, key: &str, value: &str) {
    if object.get(key).and_then(Value::as_str) != Some(value) {
        w.violate("value_unknown", &format!("/{key}"), format!("`{key}` must be `{value}`"));
    }
}

fn number(w: &mut Witness<'_>, object: &Map<String, Value>, key: &str, at: &str) {
    if !object.get(key).is_some_and(Value::is_number) {
        w.violate("field_missing", at, format!("`{key}` must be a number"));
    }
}

fn usage(
    w: &mut Witness<'_>,
    body: &Map<String, Value>,
    (input, output): (&str, &str),
    cached: &[&str],
) -> Option<Usage> {
    let usage = body.get("usage").filter(|usage| !usage.is_null())?;
    let (Some(input), Some(output)) = (usage[input].as_u64(), usage[output].as_u64()) else {
        w.violate("field_type", "/usage", "tokens are whole numbers");
        return None;
    };
    let cached = cached.iter().try_fold(usage, |value, key| value.get(key)).and_then(Value::as_u64);
    Some(Usage { input, output, cached: cached.unwrap_or(0) })
}
