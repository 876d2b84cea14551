//! What else a request may hold beside words and pictures: films, sounds, documents of many types,
//! icons in JSON, cache marks of both lifetimes, search results, server tools, calls that code makes.
//!
//! Guests join a body that is already written, behind its last message, in a place where the wire
//! takes them.

use photic::Wire;
use photic_testkit::image;
use proptest::collection::vec;
use proptest::prelude::{BoxedStrategy, Strategy};
use proptest::sample::select;
use serde_json::{Value, json};

/// Something that is no picture, or a text with a picture in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guest {
    Film(&'static str),
    Sound(&'static str),
    Paper(&'static str),
    /// A file in JSON with an icon in it, as text.
    Icon,
    /// A part of an unknown type.
    Stranger,
    SearchResult,
    /// A tool that the provider ran, with its result.
    ServerTool,
    /// A tool that the provider runs, and a call beside it.
    OpenServerTool,
    /// A call that code makes; what it returns is base64 and JSON.
    CodeCall,
    /// A cache mark on the last message of the talk.
    ShortMark,
    /// A cache mark on the first message.
    LongMark,
    /// Both: the long one first.
    BothMarks,
}

const GUESTS: [Guest; 31] = [
    Guest::Film("video/mp4"),
    Guest::Film("video/quicktime"),
    Guest::Film("video/3gpp"),
    Guest::Sound("audio/wav"),
    Guest::Sound("audio/mpeg"),
    Guest::Sound("audio/mp4"),
    Guest::Sound("audio/flac"),
    Guest::Sound("audio/ogg"),
    Guest::Sound("audio/aac"),
    Guest::Sound("audio/pcm16"),
    Guest::Sound("audio/L16;rate=16000"),
    Guest::Paper("application/pdf"),
    Guest::Paper("text/csv"),
    Guest::Paper("text/plain"),
    Guest::Paper("text/markdown"),
    Guest::Paper("text/html"),
    Guest::Paper("text/css"),
    Guest::Paper("text/xml"),
    Guest::Paper("text/x-python"),
    Guest::Paper("application/json"),
    Guest::Paper("application/rtf"),
    Guest::Paper("application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    Guest::Icon,
    Guest::Stranger,
    Guest::SearchResult,
    Guest::ServerTool,
    Guest::OpenServerTool,
    Guest::CodeCall,
    Guest::ShortMark,
    Guest::LongMark,
    Guest::BothMarks,
];

/// A few guests.
pub(super) fn guests() -> BoxedStrategy<Vec<Guest>> {
    vec(select(&GUESTS[..]), 0..=4).boxed()
}

/// Every guest by itself.
pub(super) fn every_guest() -> impl Iterator<Item = Guest> {
    GUESTS.into_iter()
}

/// A body with guests in it.
pub(super) fn joined(body: &[u8], wire: Wire, guests: &[Guest]) -> Vec<u8> {
    let mut body: Value = serde_json::from_slice(body).unwrap();
    let list = match wire {
        Wire::OpenAiResponses => "input",
        Wire::Gemini => "contents",
        Wire::OpenAiChat | Wire::Anthropic | Wire::BedrockConverse | Wire::Ollama => "messages",
        _ => unreachable!("only the six wires are tested here"),
    };
    let mut parts = Vec::new();
    for (number, guest) in guests.iter().enumerate() {
        match guest {
            Guest::ShortMark => mark(&mut body, wire, &[(MarkPosition::Last, "5m")]),
            Guest::LongMark => mark(&mut body, wire, &[(MarkPosition::First, "1h")]),
            Guest::BothMarks => {
                mark(&mut body, wire, &[(MarkPosition::First, "1h"), (MarkPosition::Last, "5m")]);
            }
            Guest::ServerTool | Guest::OpenServerTool | Guest::CodeCall => {
                let messages = body[list].as_array_mut().unwrap();
                messages.extend(calls(*guest, wire, number));
            }
            _ => parts.extend(part(*guest, wire, number)),
        }
    }
    if parts.is_empty() {
        return body.to_string().into_bytes();
    }
    let messages = body[list].as_array_mut().unwrap();
    let ends_with_model = messages
        .last()
        .is_some_and(|last| matches!(last["role"].as_str(), Some("assistant" | "model")));
    if !ends_with_model {
        messages.push(said(wire, "I see."));
    }
    messages.push(asked(wire, parts));
    body.to_string().into_bytes()
}

/// What the model says.
fn said(wire: Wire, words: &str) -> Value {
    match wire {
        Wire::Gemini => json!({"role": "model", "parts": [{"text": words}]}),
        Wire::BedrockConverse => json!({"role": "assistant", "content": [{"text": words}]}),
        Wire::OpenAiResponses => json!({"type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": words}]}),
        Wire::OpenAiChat | Wire::Anthropic | Wire::Ollama => {
            json!({"role": "assistant", "content": words})
        }
        _ => unreachable!("only the six wires are tested here"),
    }
}

/// What the user says with the parts.
fn asked(wire: Wire, mut parts: Vec<Value>) -> Value {
    let words = "And these?";
    match wire {
        Wire::Gemini => {
            parts.push(json!({"text": words}));
            json!({"role": "user", "parts": parts})
        }
        Wire::BedrockConverse => {
            parts.push(json!({"text": words}));
            json!({"role": "user", "content": parts})
        }
        Wire::Ollama => json!({"role": "user", "content": words, "images": parts}),
        Wire::OpenAiResponses => {
            parts.push(json!({"type": "input_text", "text": words}));
            json!({"role": "user", "content": parts})
        }
        Wire::OpenAiChat | Wire::Anthropic => {
            parts.push(json!({"type": "text", "text": words}));
            json!({"role": "user", "content": parts})
        }
        _ => unreachable!("only the six wires are tested here"),
    }
}

/// The bytes of a guest, different for every number.
fn bytes(label: &str, number: usize) -> Vec<u8> {
    let iso = |brand: &[u8; 4]| [&b"\0\0\0\x18ftyp"[..], brand, b"\0\0\x02\0isommp42"].concat();
    let head = match label {
        "video/mp4" => iso(b"isom"),
        "video/quicktime" => iso(b"qt  "),
        "video/3gpp" => iso(b"3gp5"),
        "audio/mp4" => iso(b"M4A "),
        "audio/wav" => image::wav(),
        "audio/flac" => b"fLaC\0\0\0\x22".to_vec(),
        "audio/ogg" => b"OggS\0\x02\0\0".to_vec(),
        "audio/mpeg" => b"ID3\x04\0\0\0\0".to_vec(),
        "application/pdf" => image::pdf(),
        label if label.starts_with("text/") => return format!("a,b\n1,{number}\n").into_bytes(),
        _ => b"PK\x03\x04".to_vec(),
    };
    [head, format!("{number:08}").repeat(8).into_bytes()].concat()
}

/// The part of a guest, where the wire has one.
fn part(guest: Guest, wire: Wire, number: usize) -> Option<Value> {
    let (label, kind) = match guest {
        Guest::Film(label) => (label, "video"),
        Guest::Sound(label) => (label, "audio"),
        Guest::Paper(label) => (label, "document"),
        Guest::Icon => {
            let icon = image::data_url("image/png", &image::png(16, 16, [number as u8, 7, 9]));
            let text = json!({"name": "app", "icon": icon, "size": 16}).to_string();
            return Some(match wire {
                Wire::OpenAiChat | Wire::Anthropic => json!({"type": "text", "text": text}),
                Wire::OpenAiResponses => json!({"type": "input_text", "text": text}),
                Wire::Gemini | Wire::BedrockConverse => json!({"text": text}),
                Wire::Ollama => return None,
                _ => unreachable!("only the six wires are tested here"),
            });
        }
        Guest::Stranger => {
            let stranger = json!({"type": "x_scent", "x_scent": {"of": number}});
            return (!matches!(wire, Wire::Ollama | Wire::Gemini)).then_some(stranger);
        }
        Guest::SearchResult => {
            let content = json!([{"type": "text", "text": format!("found {number}")}]);
            return (wire == Wire::Anthropic).then(|| {
                json!({"type": "search_result", "source": "https://a.example",
                    "title": "a", "content": content})
            });
        }
        _ => return None,
    };
    let data = image::base64(&bytes(label, number));
    let url = format!("data:{label};base64,{data}");
    let name = format!("file-{number}");
    match (wire, kind) {
        (Wire::OpenAiChat, "audio") => {
            let format = label.trim_start_matches("audio/").split(';').next().unwrap_or_default();
            let format = if format == "mpeg" { "mp3" } else { format };
            Some(json!({"type": "input_audio", "input_audio": {"data": data, "format": format}}))
        }
        (Wire::OpenAiChat, "video") if number.is_multiple_of(2) => {
            Some(json!({"type": "video_url", "video_url": {"url": url}}))
        }
        // No data URL has such a label.
        (Wire::OpenAiChat | Wire::OpenAiResponses, _) if label.contains(';') => None,
        (Wire::OpenAiChat, _) => {
            Some(json!({"type": "file", "file": {"filename": name, "file_data": url}}))
        }
        (Wire::OpenAiResponses, _) => {
            Some(json!({"type": "input_file", "filename": name, "file_data": url}))
        }
        (Wire::Anthropic, "document") => {
            let source = if label == "application/pdf" {
                json!({"type": "base64", "media_type": label, "data": data})
            } else {
                let text = format!("plain words {number}");
                json!({"type": "text", "media_type": "text/plain", "data": text})
            };
            Some(json!({"type": "document", "source": source, "title": name}))
        }
        (Wire::Anthropic, _) | (Wire::Ollama, "document") => None,
        (Wire::Gemini, _) => Some(json!({"inlineData": {"mimeType": label, "data": data}})),
        (Wire::BedrockConverse, "document") => {
            let format = match label {
                "application/pdf" => "pdf",
                "text/csv" => "csv",
                "text/html" => "html",
                "text/markdown" => "md",
                _ => "txt",
            };
            let name = format!("guest {number}");
            let source = json!({"bytes": data});
            Some(json!({"document": {"format": format, "name": name, "source": source}}))
        }
        (Wire::BedrockConverse, "video") => {
            Some(json!({"video": {"format": "mp4", "source": {"bytes": data}}}))
        }
        (Wire::BedrockConverse, _) => {
            Some(json!({"audio": {"format": "flac", "source": {"bytes": data}}}))
        }
        (Wire::Ollama, _) => {
            let plays = !matches!(label, "audio/aac" | "audio/pcm16" | "audio/L16;rate=16000");
            plays.then(|| json!(data))
        }
        _ => unreachable!("only the six wires are tested here"),
    }
}

/// Calls of the provider's own tools and of code, with what answers them.
fn calls(guest: Guest, wire: Wire, number: usize) -> Vec<Value> {
    let picture = image::base64(&image::png(9, 7, [number as u8, 200, 3]));
    let for_code = json!({"screenshot": picture, "ok": true}).to_string();
    let (server, own) = (format!("srvtoolu_{number}"), format!("toolu_guest_{number}"));
    match (wire, guest) {
        (Wire::Anthropic, Guest::ServerTool) => vec![
            json!({"role": "assistant", "content": [
                {"type": "server_tool_use", "id": server, "name": "web_search", "input": {"query": "x"}},
                {"type": "web_search_tool_result", "tool_use_id": server, "content": []},
                {"type": "text", "text": "Found it."},
            ]}),
            json!({"role": "user", "content": "Go on."}),
        ],
        (Wire::Anthropic, Guest::OpenServerTool) => vec![
            json!({"role": "assistant", "content": [
                {"type": "server_tool_use", "id": server, "name": "web_search", "input": {"query": "x"}},
                {"type": "tool_use", "id": own, "name": "look", "input": {}},
            ]}),
            json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": own, "content": [{"type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": picture}}]},
            ]}),
            json!({"role": "assistant", "content": "Done."}),
            json!({"role": "user", "content": "Go on."}),
        ],
        (Wire::Anthropic, Guest::CodeCall) => vec![
            json!({"role": "assistant", "content": [
                {"type": "server_tool_use", "id": server, "name": "code_execution", "input": {"code": "x"}},
                {"type": "tool_use", "id": own, "name": "look", "input": {},
                    "caller": {"type": "code_execution_20250825", "tool_id": server}},
            ]}),
            json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": own, "content": for_code},
            ]}),
            json!({"role": "assistant", "content": "Done."}),
            json!({"role": "user", "content": "Go on."}),
        ],
        (Wire::OpenAiResponses, Guest::CodeCall) => {
            let caller = json!({"type": "program", "caller_id": "p"});
            vec![
                json!({"type": "function_call", "call_id": own, "name": "look", "arguments": "{}",
                    "caller": caller}),
                json!({"type": "function_call_output", "call_id": own, "output": for_code,
                    "caller": caller}),
            ]
        }
        _ => Vec::new(),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MarkPosition {
    First,
    Last,
}

/// Marks the last block of the first or the last user message, where the wire has marks.
fn mark(body: &mut Value, wire: Wire, marks: &[(MarkPosition, &str)]) {
    if wire != Wire::Anthropic || body.to_string().contains("cache_control") {
        return;
    }
    for (place, life) in marks {
        let messages = body["messages"].as_array_mut().unwrap();
        let is_user = |message: &Value| message["role"] == "user" && message["content"].is_array();
        let found = match place {
            MarkPosition::First => messages.iter().position(is_user),
            MarkPosition::Last => messages.iter().rposition(is_user),
        };
        let Some(content) = found.and_then(|at| messages[at]["content"].as_array_mut()) else {
            continue;
        };
        if let Some(block) = content.last_mut().filter(|block| block["type"] != "x_hologram") {
            block["cache_control"] = json!({"type": "ephemeral", "ttl": life});
        }
    }
}
