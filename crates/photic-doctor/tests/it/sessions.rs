//! Sessions as agents write them: the shapes are theirs, every word is ours.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use photic::Wire;
use photic_doctor::SessionFormat;
use photic_testkit::image::{base64, data_url};
use serde_json::{Value, json};

/// One picture: what it is called, and what it is.
pub(crate) type Picture = (&'static str, Vec<u8>);

/// One step of a session.
#[derive(Clone)]
pub(crate) enum Step {
    /// The user attaches pictures.
    Shows(Vec<Picture>),
    /// A tool returns pictures.
    Returns(Vec<Picture>),
    /// A tool fails, and returns pictures.
    Fails(Vec<Picture>),
}

/// A folder of one test, removed when it ends.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("photic-doctor-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Writes a session into a folder.
pub(crate) fn write(format: SessionFormat, steps: &[Step], model: &str, folder: &Path) -> PathBuf {
    let (name, lines) = match format {
        SessionFormat::ClaudeCode => ("claude.jsonl", claude_code(steps, model)),
        SessionFormat::Codex => ("rollout.jsonl", codex(steps, model)),
        SessionFormat::Pi => ("pi.jsonl", pi(steps, model)),
        SessionFormat::GeminiCli => ("session.jsonl", gemini_cli(steps, model)),
        SessionFormat::QwenCode => ("qwen.jsonl", qwen_code(steps, model)),
        SessionFormat::OpenCode => return opencode(steps, model, &folder.join("opencode.db")),
        SessionFormat::Goose => return goose(steps, &folder.join("sessions.db")),
        SessionFormat::Request(wire) => ("request.json", vec![request(wire, steps, model)]),
    };
    let path = folder.join(name);
    let text = lines.iter().map(|line| format!("{line}\n")).collect::<Vec<_>>().concat();
    std::fs::write(&path, text).unwrap();
    path
}

fn block((label, bytes): &Picture) -> Value {
    json!({"type": "image", "source": {"type": "base64", "media_type": label, "data": base64(bytes)}})
}

fn claude_code(steps: &[Step], model: &str) -> Vec<Value> {
    let mut lines = vec![json!({"type": "summary", "summary": "looking", "leafUuid": "leaf"})];
    let mut line = |kind: &str, message: Value, more: Value| {
        let number = lines.len();
        let parent = (number > 1).then(|| format!("u{}", number - 1));
        let mut line = json!({"parentUuid": parent, "isSidechain": false, "userType": "external",
            "cwd": "/home/somebody", "sessionId": "s", "version": "2.0.76", "type": kind,
            "message": message, "uuid": format!("u{number}"), "timestamp": "2026-01-01T00:00:00.000Z"});
        if let Some(more) = more.as_object() {
            line.as_object_mut().unwrap().extend(more.clone());
        }
        lines.push(line);
    };
    for (number, step) in steps.iter().enumerate() {
        let (pictures, error) = match step {
            Step::Shows(pictures) => {
                let mut content: Vec<Value> = pictures.iter().map(block).collect();
                content.push(json!({"type": "text", "text": "look at \"this\"\\n \u{e9}"}));
                line("user", json!({"role": "user", "content": content}), json!({}));
                let says = json!([{"type": "text", "text": "I looked."}]);
                let says = json!({"role": "assistant", "model": model, "content": says});
                line("assistant", says, json!({}));
                continue;
            }
            Step::Returns(pictures) => (pictures, false),
            Step::Fails(pictures) => (pictures, true),
        };
        line("user", json!({"role": "user", "content": "take a screenshot"}), json!({}));
        let id = format!("toolu_{number}");
        let call = json!([{"type": "tool_use", "id": id, "name": "Read", "input": {}}]);
        line("assistant", json!({"role": "assistant", "model": model, "content": call}), json!({}));
        let mut content = vec![json!({"type": "text", "text": "here it is"})];
        content.extend(pictures.iter().map(block));
        let result = json!([{"type": "tool_result", "tool_use_id": id, "content": content, "is_error": error}]);
        let (label, bytes) = &pictures[0];
        let copy = json!({"type": "image", "file": {"base64": base64(bytes), "type": label, "originalSize": bytes.len()}});
        let copy = json!({"toolUseResult": copy});
        line("user", json!({"role": "user", "content": result}), copy);
        let says = json!([{"type": "text", "text": "I see."}]);
        line("assistant", json!({"role": "assistant", "model": model, "content": says}), json!({}));
    }
    lines
}

fn codex(steps: &[Step], model: &str) -> Vec<Value> {
    let line = |kind: &str, payload: Value| json!({"timestamp": "2026-01-01T00:00:00.000Z", "type": kind, "payload": payload});
    let picture = |(label, bytes): &Picture| json!({"type": "input_image", "image_url": data_url(label, bytes), "detail": "high"});
    let meta = json!({"id": "s", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/home/somebody",
        "originator": "codex_exec", "cli_version": "0.64.0", "source": "exec"});
    let mut lines = vec![line("session_meta", meta), line("turn_context", json!({"model": model}))];
    for (number, step) in steps.iter().enumerate() {
        let (Step::Shows(pictures) | Step::Returns(pictures) | Step::Fails(pictures)) = step;
        let is_user = matches!(step, Step::Shows(_));
        let mut content = vec![json!({"type": "input_text", "text": "look"})];
        if is_user {
            content.extend(pictures.iter().map(picture));
            let copies: Vec<String> =
                pictures.iter().map(|(label, bytes)| data_url(label, bytes)).collect();
            let event = json!({"type": "user_message", "message": "look", "images": copies});
            lines.push(line("event_msg", event));
        }
        lines.push(line(
            "response_item",
            json!({"type": "message", "role": "user", "content": content}),
        ));
        if !is_user {
            let id = format!("call_{number}");
            let call = json!({"type": "function_call", "call_id": id, "name": "view_image", "arguments": "{}"});
            lines.push(line("response_item", call));
            let output: Vec<Value> = pictures.iter().map(picture).collect();
            let output = json!({"type": "function_call_output", "call_id": id, "output": output});
            lines.push(line("response_item", output));
        }
        let says = json!([{"type": "output_text", "text": "I see."}]);
        lines.push(line(
            "response_item",
            json!({"type": "message", "role": "assistant", "content": says}),
        ));
    }
    lines
}

fn plain((label, bytes): &Picture) -> Value {
    json!({"type": "image", "data": base64(bytes), "mimeType": label})
}

fn pi(steps: &[Step], model: &str) -> Vec<Value> {
    let mut lines = vec![
        json!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/home/somebody"}),
        json!({"type": "model_change", "id": "m0", "parentId": null, "timestamp": "", "provider": "anthropic", "modelId": model}),
    ];
    let mut line = |message: Value| {
        let (id, parent) = (format!("e{}", lines.len()), format!("e{}", lines.len() - 1));
        lines.push(json!({"type": "message", "id": id, "parentId": parent, "timestamp": "", "message": message}));
    };
    for (number, step) in steps.iter().enumerate() {
        let (Step::Shows(pictures) | Step::Returns(pictures) | Step::Fails(pictures)) = step;
        let mut content = vec![json!({"type": "text", "text": "look"})];
        content.extend(pictures.iter().map(plain));
        if matches!(step, Step::Shows(_)) {
            line(json!({"role": "user", "content": content, "timestamp": 1}));
        } else {
            let id = format!("toolu_{number}");
            line(json!({"role": "user", "content": "take a screenshot", "timestamp": 1}));
            let call = json!([{"type": "toolCall", "id": id, "name": "read", "arguments": {}}]);
            line(json!({"role": "assistant", "content": call, "model": model, "timestamp": 1}));
            line(json!({"role": "toolResult", "toolCallId": id, "toolName": "read",
                "content": content, "isError": false, "timestamp": 1}));
        }
        let says = json!([{"type": "text", "text": "I see."}]);
        line(json!({"role": "assistant", "content": says, "model": model, "timestamp": 1}));
    }
    lines
}

fn inline((label, bytes): &Picture) -> Value {
    json!({"inlineData": {"mimeType": label, "data": base64(bytes)}})
}

fn gemini_cli(steps: &[Step], model: &str) -> Vec<Value> {
    let mut lines = vec![
        json!({"sessionId": "s", "projectHash": "p", "startTime": "", "lastUpdated": "", "kind": "main"}),
    ];
    let mut line = |kind: &str, content: Value, calls: Option<Value>| {
        let id = format!("g{}", lines.len());
        let mut line = json!({"id": id, "timestamp": "", "type": kind, "content": content});
        if kind == "gemini" {
            line["model"] = json!(model);
            line["toolCalls"] = calls.unwrap_or_else(|| json!([]));
        }
        lines.push(line);
    };
    for (number, step) in steps.iter().enumerate() {
        let (Step::Shows(pictures) | Step::Returns(pictures) | Step::Fails(pictures)) = step;
        let parts: Vec<Value> = pictures.iter().map(inline).collect();
        if matches!(step, Step::Shows(_)) {
            let mut content = parts;
            content.push(json!({"text": "look"}));
            line("user", json!(content), None);
        } else {
            line("user", json!([{"text": "take a screenshot"}]), None);
            let response = json!({"id": format!("c{number}"), "name": "read_file",
                "response": {"output": "Binary content provided."}, "parts": parts});
            let call = json!([{"id": format!("c{number}"), "name": "read_file", "args": {},
                "status": "success", "result": [{"functionResponse": response}]}]);
            line("gemini", json!(""), Some(call));
        }
        line("gemini", json!("I see."), None);
    }
    lines
}

fn qwen_code(steps: &[Step], model: &str) -> Vec<Value> {
    let mut lines: Vec<Value> = Vec::new();
    let mut line = |kind: &str, message: Value| {
        let number = lines.len();
        let parent = number.checked_sub(1).map(|last| format!("u{last}"));
        let mut line = json!({"uuid": format!("u{number}"), "parentUuid": parent, "sessionId": "s",
            "timestamp": "", "type": kind, "cwd": "/home/somebody", "version": "0.15.10", "message": message});
        if kind == "assistant" {
            line["model"] = json!(model);
        }
        lines.push(line);
    };
    for (number, step) in steps.iter().enumerate() {
        let (Step::Shows(pictures) | Step::Returns(pictures) | Step::Fails(pictures)) = step;
        let parts: Vec<Value> = pictures.iter().map(inline).collect();
        if matches!(step, Step::Shows(_)) {
            let mut content = parts;
            content.push(json!({"text": "look"}));
            line("user", json!({"role": "user", "parts": content}));
        } else {
            line("user", json!({"role": "user", "parts": [{"text": "take a screenshot"}]}));
            let call = json!({"functionCall": {"id": format!("c{number}"), "name": "read_file", "args": {}}});
            line("assistant", json!({"role": "model", "parts": [call]}));
            let response = json!({"id": format!("c{number}"), "name": "read_file",
                "response": {"output": "Binary content provided."}, "parts": parts});
            line("tool_result", json!({"role": "user", "parts": [{"functionResponse": response}]}));
        }
        line("assistant", json!({"role": "model", "parts": [{"text": "I see."}]}));
    }
    lines
}

fn opencode(steps: &[Step], model: &str, path: &Path) -> PathBuf {
    let database = rusqlite::Connection::open(path).unwrap();
    database
        .execute_batch(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE session (id text PRIMARY KEY, title text NOT NULL);
             CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
             CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
             INSERT INTO session VALUES ('ses', 'looking'), ('ses_other', 'talk');
             INSERT INTO message VALUES ('msg_other', 'ses_other', 1, 1, '{\"role\":\"user\"}');
             INSERT INTO part VALUES ('prt_other', 'msg_other', 'ses_other', 1, 1, '{\"type\":\"text\",\"text\":\"hello\"}');",
        )
        .unwrap();
    let mut count = 0;
    let mut message = |role: &str, parts: Vec<Value>| {
        count += 1;
        let id = format!("msg_{count:04}");
        let data = if role == "user" {
            json!({"role": role, "model": {"providerID": "anthropic", "modelID": model}})
        } else {
            json!({"role": role, "modelID": model, "providerID": "anthropic"})
        };
        let insert = "INSERT INTO message VALUES (?1, 'ses', ?2, ?2, ?3)";
        database.execute(insert, (&id, count, data.to_string())).unwrap();
        for (index, part) in parts.iter().enumerate() {
            let part_id = format!("prt_{count:04}_{index:04}");
            let insert = "INSERT INTO part VALUES (?1, ?2, 'ses', ?3, ?3, ?4)";
            database.execute(insert, (part_id, &id, count, part.to_string())).unwrap();
        }
    };
    let file = |(label, bytes): &Picture| json!({"type": "file", "mime": label, "filename": "shot", "url": data_url(label, bytes)});
    for (number, step) in steps.iter().enumerate() {
        let (Step::Shows(pictures) | Step::Returns(pictures) | Step::Fails(pictures)) = step;
        let text = json!({"type": "text", "text": "look"});
        if matches!(step, Step::Shows(_)) {
            message("user", std::iter::once(text).chain(pictures.iter().map(file)).collect());
            message("assistant", vec![json!({"type": "text", "text": "I see."})]);
        } else {
            message("user", vec![text]);
            let attached = pictures.iter().enumerate().map(|(index, picture)| {
                let mut file = file(picture);
                file["id"] = json!(format!("att_{index}"));
                file
            });
            let attached: Vec<Value> = attached.collect();
            let state = json!({"status": "completed", "input": {}, "output": "Image read successfully",
                "title": "shot", "metadata": {}, "time": {"start": 1, "end": 2}, "attachments": attached});
            let call = json!({"type": "tool", "callID": format!("toolu_{number}"), "tool": "read", "state": state});
            message("assistant", vec![call, json!({"type": "text", "text": "I see."})]);
        }
    }
    path.to_owned()
}

fn goose(steps: &[Step], path: &Path) -> PathBuf {
    let database = rusqlite::Connection::open(path).unwrap();
    database
        .execute_batch(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '');
             CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT NOT NULL, role TEXT NOT NULL, content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, metadata_json TEXT);
             INSERT INTO sessions VALUES ('20260101_1', 'looking');",
        )
        .unwrap();
    let message = |role: &str, content: Vec<Value>| {
        let insert = "INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES ('20260101_1', ?1, ?2, 1)";
        database.execute(insert, (role, json!(content).to_string())).unwrap();
    };
    for (number, step) in steps.iter().enumerate() {
        let (Step::Shows(pictures) | Step::Returns(pictures) | Step::Fails(pictures)) = step;
        let mut content = vec![json!({"type": "text", "text": "look"})];
        if matches!(step, Step::Shows(_)) {
            content.extend(pictures.iter().map(plain));
            message("user", content);
        } else {
            message("user", content);
            let id = format!("toolu_{number}");
            let call =
                json!({"status": "success", "value": {"name": "screen_capture", "arguments": {}}});
            message("assistant", vec![json!({"type": "toolRequest", "id": id, "toolCall": call})]);
            let value = json!({"content": pictures.iter().map(plain).collect::<Vec<_>>(), "isError": false});
            let result = json!({"status": "success", "value": value});
            message("user", vec![json!({"type": "toolResponse", "id": id, "toolResult": result})]);
        }
        message("assistant", vec![json!({"type": "text", "text": "I see."})]);
    }
    path.to_owned()
}

/// A body of a wire, as its own clients write it.
fn request(wire: Wire, steps: &[Step], model: &str) -> Value {
    let mut list = Vec::new();
    for step in steps {
        let (Step::Shows(pictures) | Step::Returns(pictures) | Step::Fails(pictures)) = step;
        list.push(shown(wire, pictures));
        list.push(said(wire, "assistant", "I see."));
    }
    list.push(said(wire, "user", "go on"));
    match wire {
        Wire::Anthropic => json!({"model": model, "max_tokens": 100, "messages": list}),
        Wire::OpenAiResponses => json!({"model": model, "input": list, "store": false}),
        Wire::Gemini => json!({"contents": list}),
        Wire::BedrockConverse => json!({"messages": list}),
        _ => json!({"model": model, "messages": list}),
    }
}

fn said(wire: Wire, role: &str, text: &str) -> Value {
    match wire {
        Wire::Gemini => {
            let role = if role == "user" { "user" } else { "model" };
            json!({"role": role, "parts": [{"text": text}]})
        }
        Wire::BedrockConverse => json!({"role": role, "content": [{"text": text}]}),
        _ => json!({"role": role, "content": text}),
    }
}

/// A message of the user that shows pictures.
fn shown(wire: Wire, pictures: &[Picture]) -> Value {
    let plain = |(_, bytes): &Picture| json!(base64(bytes));
    if wire == Wire::Ollama {
        let images: Vec<Value> = pictures.iter().map(plain).collect();
        return json!({"role": "user", "content": "look", "images": images});
    }
    let words = match wire {
        Wire::OpenAiResponses => json!({"type": "input_text", "text": "look"}),
        Wire::Gemini | Wire::BedrockConverse => json!({"text": "look"}),
        _ => json!({"type": "text", "text": "look"}),
    };
    let part = |(label, bytes): &Picture| match wire {
        Wire::OpenAiResponses => {
            json!({"type": "input_image", "image_url": data_url(label, bytes), "detail": "auto"})
        }
        Wire::Gemini => inline(&(label, bytes.clone())),
        Wire::BedrockConverse => {
            let format = label.trim_start_matches("image/");
            json!({"image": {"format": format, "source": {"bytes": base64(bytes)}}})
        }
        Wire::Anthropic => block(&(label, bytes.clone())),
        _ => json!({"type": "image_url", "image_url": {"url": data_url(label, bytes)}}),
    };
    let parts: Vec<Value> = pictures.iter().map(part).chain([words]).collect();
    let name = if wire == Wire::Gemini { "parts" } else { "content" };
    json!({"role": "user", name: parts})
}
