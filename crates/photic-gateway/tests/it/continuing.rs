//! Conversations that go on: of a later request, the turns that need nothing are not read again, and
//! nothing else differs.

use std::net::SocketAddr;

use photic_testkit::SplitMix64;
use serde_json::{Value, json};

use crate::caller::{Reply, exchange, get, post};
use crate::gateway;
use crate::scripted::Upstream;

const SESSIONS: u64 = 12;
const TURNS: usize = 25;

/// A picture in base64.
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// The APIs of the sessions.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Api {
    Chat,
    Responses,
    Messages,
}

impl Api {
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Chat => "/v1/chat/completions",
            Self::Responses => "/v1/responses",
            Self::Messages => "/v1/messages",
        }
    }

    pub(crate) fn body(self, messages: &[Value]) -> Vec<u8> {
        let body = match self {
            Self::Chat => json!({"model": "gpt-4o", "messages": messages}),
            Self::Responses => json!({"model": "gpt-5.6", "input": messages}),
            Self::Messages => {
                json!({"max_tokens": 90, "messages": messages, "model": "claude-opus-5"})
            }
        };
        body.to_string().into_bytes()
    }

    /// Returns a turn of the assistant and what follows it. With a picture, the request has to be
    /// repaired on some APIs.
    pub(crate) fn turn(self, number: usize, picture: bool) -> Vec<Value> {
        let id = format!("call_{number}");
        let output = if picture {
            format!("data:image/png;base64,{PICTURE}")
        } else {
            format!("fn number_{number}() {{}}\n").repeat(60)
        };
        match self {
            Self::Chat => vec![
                json!({"role": "assistant", "content": "I look.", "tool_calls": [{"id": id,
                    "type": "function", "function": {"name": "look", "arguments": "{}"}}]}),
                json!({"role": "tool", "tool_call_id": id, "content": output}),
            ],
            Self::Responses => vec![
                json!({"type": "function_call", "call_id": id, "name": "look", "arguments": "{}"}),
                json!({"type": "function_call_output", "call_id": id, "output": output}),
            ],
            Self::Messages => vec![
                json!({"role": "assistant", "content": [
                    {"type": "tool_use", "id": id, "name": "look", "input": {}}]}),
                json!({"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": id, "content": output}]}),
            ],
        }
    }
}

pub(crate) async fn figure(gateway: SocketAddr, name: &str) -> u64 {
    let page = exchange(gateway, &get("/metrics", "")).await;
    let page = String::from_utf8(page.body).unwrap();
    let line = page.lines().find_map(|line| line.strip_prefix(name)).expect(name);
    line.trim().parse().unwrap()
}

/// Returns what photic says about a reply.
fn said(reply: &Reply) -> Vec<String> {
    let lines = reply.head.lines().filter(|line| line.starts_with("x-photic-"));
    lines.map(str::to_owned).collect()
}

async fn ask(gateway: SocketAddr, api: Api, key: &str, body: &[u8]) -> Vec<String> {
    let headers = format!("authorization: Bearer {key}\r\n");
    let reply = exchange(gateway, &post(api.path(), &headers, body)).await;
    assert_eq!(reply.status, 200);
    said(&reply)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_known_changes_no_byte() {
    let (address, upstream) = Upstream::answering("{}").await;
    let knowing = gateway(address, "").await;
    let forgetful = gateway(address, "[limits]\nconversations_mib = 0").await;
    let mut random = SplitMix64::new(25);
    let mut sessions: Vec<(Api, String, Vec<Value>)> = (0..SESSIONS)
        .map(|number| {
            let api = [Api::Chat, Api::Responses, Api::Messages][number as usize % 3];
            let key = format!("sk-caller-{}", number % 4);
            // Callers ask the same.
            let words = "Please read these files. ".repeat(200);
            (api, key, vec![json!({"role": "user", "content": words})])
        })
        .collect();
    for turn in 0..SESSIONS as usize * TURNS {
        let at = random.below(sessions.len());
        let (api, key, messages) = &mut sessions[at];
        match random.below(30) {
            // Again.
            0 => {}
            // From an earlier point.
            1 => messages.truncate(1 + random.below(messages.len()) / 2 * 2),
            // After a summary.
            2 => messages.truncate(1),
            // Few pictures, because requests that are mostly pictures are read whole.
            kind => messages.extend(api.turn(turn, kind == 3 && random.below(2) == 0)),
        }
        let body = api.body(messages);
        let first = ask(knowing, *api, key, &body).await;
        let sent = upstream.last().body;
        let second = ask(forgetful, *api, key, &body).await;
        assert!(sent == upstream.last().body, "turn {turn} of session {at}");
        assert_eq!(first, second, "turn {turn} of session {at}");
    }
    let continued = figure(knowing, "photic_conversations_continued_total").await;
    assert!(continued > SESSIONS * 8, "{continued} of {}", SESSIONS * TURNS as u64);
    assert!(figure(knowing, "photic_conversations_bytes").await > 0);
    assert_eq!(figure(forgetful, "photic_conversations_continued_total").await, 0);
}

#[tokio::test]
async fn what_one_caller_said_is_not_known_for_another() {
    let (address, _) = Upstream::answering("{}").await;
    let gateway = gateway(address, "").await;
    let mut messages = vec![json!({"role": "user", "content": "words ".repeat(2000)})];
    let mut continued = Vec::new();
    for turn in 0..6 {
        messages.extend(Api::Chat.turn(turn, false));
        let key = if turn < 4 { "sk-one" } else { "sk-other" };
        ask(gateway, Api::Chat, key, &Api::Chat.body(&messages)).await;
        continued.push(figure(gateway, "photic_conversations_continued_total").await);
    }
    // The cut has to be worth it, which it is from the third turn on.
    assert_eq!(continued[3] - continued[2], 1, "{continued:?}");
    assert_eq!(continued[4], continued[3], "{continued:?}");
}

#[tokio::test]
async fn they_take_no_more_memory_than_allowed() {
    let (address, _) = Upstream::answering("{}").await;
    let gateway = gateway(address, "[limits]\nconversations_mib = 1").await;
    for session in 0..80 {
        let opening = format!("{session} {}", "words ".repeat(2_000));
        let mut messages = vec![json!({"role": "user", "content": opening})];
        messages.extend((0..12).flat_map(|turn| Api::Messages.turn(turn, false)));
        let key = format!("sk-{}", session % 2);
        ask(gateway, Api::Messages, &key, &Api::Messages.body(&messages)).await;
    }
    let bytes = figure(gateway, "photic_conversations_bytes").await;
    assert!((500_000..=1 << 20).contains(&bytes), "{bytes}");
}
