//! The request that an agent makes of its session when it goes on. Written from what the agents do,
//! without a look at the doctor: its own witness.

use std::path::Path;

use photic::Wire;
use photic_doctor::SessionFormat;
use serde_json::{Value, json};

/// The records of a session.
pub(crate) fn records(format: SessionFormat, path: &Path) -> Vec<Value> {
    let query = match format {
        SessionFormat::OpenCode => {
            "SELECT json_object('role', json_extract(message.data, '$.role'), 'part', json(part.data)) FROM part JOIN message ON message.id = part.message_id WHERE part.session_id = 'ses' ORDER BY part.id"
        }
        SessionFormat::Goose => {
            "SELECT json_object('role', role, 'content', json(content_json)) FROM messages ORDER BY id"
        }
        _ => {
            let text = std::fs::read_to_string(path).unwrap();
            return text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        }
    };
    let database = rusqlite::Connection::open(path).unwrap();
    let mut statement = database.prepare(query).unwrap();
    let rows = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    rows.map(|text| serde_json::from_str(&text.unwrap()).unwrap()).collect()
}

/// The next request of a session.
pub(crate) fn request(format: SessionFormat, path: &Path, model: &str) -> (Wire, Value) {
    let records = records(format, path);
    if let SessionFormat::Request(wire) = format {
        return (wire, records[0].clone());
    }
    match format {
        SessionFormat::ClaudeCode => {
            let list = records.iter().filter_map(|line| {
                let message = line.get("message")?;
                Some(json!({"role": message["role"], "content": message["content"]}))
            });
            (Wire::Anthropic, anthropic(list.collect(), model))
        }
        SessionFormat::Codex => {
            let items = records.iter().filter(|line| line["type"] == "response_item");
            let mut items: Vec<Value> = items.map(|line| line["payload"].clone()).collect();
            items.push(json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go on"}]}));
            (Wire::OpenAiResponses, json!({"model": model, "input": items, "store": false}))
        }
        SessionFormat::Pi => {
            let list = records.iter().filter_map(|line| pi(line.get("message")?));
            (Wire::Anthropic, anthropic(list.collect(), model))
        }
        SessionFormat::Goose => {
            let list = records.iter().map(|row| {
                let parts =
                    row["content"].as_array().unwrap().iter().map(goose).collect::<Vec<_>>();
                json!({"role": row["role"], "content": parts})
            });
            (Wire::Anthropic, anthropic(list.collect(), model))
        }
        SessionFormat::OpenCode => {
            let list = records.iter().flat_map(opencode).collect();
            (Wire::Anthropic, anthropic(list, model))
        }
        SessionFormat::GeminiCli => {
            let mut contents: Vec<Value> = records.iter().flat_map(gemini).collect();
            contents.push(json!({"role": "user", "parts": [{"text": "go on"}]}));
            (Wire::Gemini, json!({"contents": contents}))
        }
        SessionFormat::QwenCode => {
            (Wire::OpenAiChat, chat(records.iter().flat_map(qwen).collect(), model))
        }
        SessionFormat::Request(_) => unreachable!(),
    }
}

fn anthropic(mut messages: Vec<Value>, model: &str) -> Value {
    messages.push(json!({"role": "user", "content": "go on"}));
    json!({"model": model, "max_tokens": 100, "messages": messages})
}

fn source(label: &Value, data: &Value) -> Value {
    json!({"type": "image", "source": {"type": "base64", "media_type": label, "data": data}})
}

fn plain(part: &Value) -> Value {
    if part["type"] == "image" { source(&part["mimeType"], &part["data"]) } else { part.clone() }
}

fn pi(message: &Value) -> Option<Value> {
    let content = |list: &Value| {
        match list.as_array() {
        Some(list) => json!(list.iter().map(|part| match part["type"].as_str() {
            Some("toolCall") => json!({"type": "tool_use", "id": part["id"], "name": part["name"], "input": part["arguments"]}),
            _ => plain(part),
        }).collect::<Vec<_>>()),
        None => list.clone(),
    }
    };
    Some(match message["role"].as_str()? {
        "toolResult" => {
            let result = json!({"type": "tool_result", "tool_use_id": message["toolCallId"], "content": content(&message["content"])});
            json!({"role": "user", "content": [result]})
        }
        role => json!({"role": role, "content": content(&message["content"])}),
    })
}

fn goose(part: &Value) -> Value {
    match part["type"].as_str() {
        Some("toolRequest") => {
            json!({"type": "tool_use", "id": part["id"], "name": part["toolCall"]["value"]["name"], "input": {}})
        }
        Some("toolResponse") => {
            let list = part["toolResult"]["value"]["content"].as_array().unwrap();
            let content: Vec<Value> = list.iter().map(plain).collect();
            json!({"type": "tool_result", "tool_use_id": part["id"], "content": content})
        }
        _ => plain(part),
    }
}

/// A data URL as a block.
fn file(part: &Value) -> Value {
    let url = part["url"].as_str().unwrap();
    let data = url.split_once(";base64,").map_or("", |(_, data)| data);
    source(&part["mime"], &json!(data))
}

fn opencode(row: &Value) -> Vec<Value> {
    let part = &row["part"];
    let says = |role: &Value, content: Value| vec![json!({"role": role, "content": [content]})];
    match part["type"].as_str() {
        Some("file") => says(&row["role"], file(part)),
        Some("tool") => {
            let state = &part["state"];
            let call = json!({"type": "tool_use", "id": part["callID"], "name": part["tool"], "input": {}});
            let mut content = vec![json!({"type": "text", "text": state["output"]})];
            content.extend(state["attachments"].as_array().unwrap().iter().map(file));
            let result =
                json!({"type": "tool_result", "tool_use_id": part["callID"], "content": content});
            [says(&json!("assistant"), call), says(&json!("user"), result)].concat()
        }
        _ => says(&row["role"], json!({"type": "text", "text": part["text"]})),
    }
}

fn chat(mut messages: Vec<Value>, model: &str) -> Value {
    messages.push(json!({"role": "user", "content": "go on"}));
    json!({"model": model, "messages": messages})
}

/// Parts of the Gemini wire in the words of chat.
fn parts(list: &Value) -> Vec<Value> {
    let part = |part: &Value| {
        if let Some(text) = part.get("text") {
            return json!({"type": "text", "text": text});
        }
        let inline = &part["inlineData"];
        let (label, data) =
            (inline["mimeType"].as_str().unwrap(), inline["data"].as_str().unwrap());
        json!({"type": "image_url", "image_url": {"url": format!("data:{label};base64,{data}")}})
    };
    list.as_array().unwrap().iter().map(part).collect()
}

/// A call and its result; the pictures of the result follow as the user's, as the agents send them.
fn called(response: &Value) -> Vec<Value> {
    let function = json!({"name": response["name"], "arguments": "{}"});
    let call = json!({"id": response["id"], "type": "function", "function": function});
    let mut messages = vec![
        json!({"role": "assistant", "content": null, "tool_calls": [call]}),
        json!({"role": "tool", "tool_call_id": response["id"], "content": response["response"].to_string()}),
    ];
    let pictures = parts(&response["parts"]);
    if !pictures.is_empty() {
        messages.push(json!({"role": "user", "content": pictures}));
    }
    messages
}

/// The wire of Gemini: what is in the file is what is sent, but for what only the screen needs.
fn gemini(line: &Value) -> Vec<Value> {
    match line["type"].as_str() {
        Some("user") => vec![json!({"role": "user", "parts": line["content"]})],
        Some("gemini") => {
            let calls = line["toolCalls"].as_array().unwrap().iter().flat_map(|call| {
                let function =
                    json!({"id": call["id"], "name": call["name"], "args": call["args"]});
                let part = json!({"functionCall": function, "thoughtSignature": "c2lnbmVk"});
                [
                    json!({"role": "model", "parts": [part]}),
                    json!({"role": "user", "parts": call["result"]}),
                ]
            });
            let says = line["content"].as_str().filter(|text| !text.is_empty());
            let says = says.map(|text| json!({"role": "model", "parts": [{"text": text}]}));
            calls.chain(says).collect()
        }
        _ => Vec::new(),
    }
}

fn qwen(line: &Value) -> Vec<Value> {
    let list = &line["message"]["parts"];
    match line["type"].as_str() {
        Some("user") => vec![json!({"role": "user", "content": parts(list)})],
        Some("tool_result") => called(&list[0]["functionResponse"]),
        Some("assistant") if list[0].get("text").is_some() => {
            vec![json!({"role": "assistant", "content": list[0]["text"]})]
        }
        _ => Vec::new(),
    }
}
