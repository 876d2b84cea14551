//! Upstreams: their keys, their connections, failover between them, and their models.

mod connections;
mod failover;
mod keys;
mod models;
mod sight;

use std::net::SocketAddr;

use tokio::net::TcpListener;

use crate::scripted::Act;

const CHAT: &str = "/v1/chat/completions";
const MESSAGES: &str = "/v1/messages";
const QUESTION: &str =
    r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}"#;
const CHAT_ANSWER: &str = r#"{"id":"r1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}"#;
const MESSAGES_ANSWER: &str = r#"{"id":"r1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":2}}"#;

/// Returns the settings of an upstream.
fn upstream(name: &str, address: SocketAddr, settings: &str) -> String {
    format!("[[upstream]]\nname = '{name}'\nurl = 'http://{address}'\n{settings}\n")
}

/// Returns the settings of a model `m` that these upstreams serve.
fn model(upstreams: &[&str]) -> String {
    let list: Vec<String> = upstreams.iter().map(|name| format!("'{name}'")).collect();
    format!("[[model]]\nname = 'm'\nupstreams = [{}]\n", list.join(", "))
}

/// Returns an answer of this status.
fn status(line: &str, headers: &str) -> Vec<Act> {
    let body = r#"{"error":{"message":"not now","type":"api_error"}}"#;
    let head = format!(
        "HTTP/1.1 {line}\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n",
        body.len()
    );
    vec![Act::Send([head.as_bytes(), body.as_bytes()].concat())]
}

/// Returns an address on which nothing listens.
async fn closed() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap()
}
