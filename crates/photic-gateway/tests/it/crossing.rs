//! Clients of one wire with upstreams of another.

use std::net::SocketAddr;
use std::sync::Arc;

use photic::Wire;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::sync::Notify;

use crate::caller::{exchange, post, read_until};
use crate::scripted::{Act, Upstream, chunk, chunked, ok};
use crate::started;

const QUESTION: &[u8] =
    br#"{"model":"m-1","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}"#;
const CHAT_ANSWER: &str = r#"{"id":"r1","object":"chat.completion","created":1,"model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}"#;
const MESSAGES_ANSWER: &str = r#"{"id":"r1","type":"message","role":"assistant","model":"m-1","content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":2}}"#;

async fn between(answer: &'static str, speaks: Wire) -> (SocketAddr, Arc<Upstream>) {
    let (address, upstream) =
        Upstream::start(move |_| vec![Act::Send(ok(answer.as_bytes()))]).await;
    let settings =
        format!("[[upstream]]\nurl='http://{address}/v1'\nwire='{speaks}'\nmodels=['m-*']");
    (started(&settings).await, upstream)
}

#[tokio::test]
async fn messages_against_chat_completions() {
    let (gateway, upstream) = between(CHAT_ANSWER, Wire::OpenAiChat).await;
    let headers = "x-api-key: k\r\nanthropic-version: 2023-06-01\r\naccept-encoding: gzip\r\n";
    let reply = exchange(gateway, &post("/v1/messages", headers, QUESTION)).await;
    let json = reply.json();
    assert_eq!(json["content"][0]["text"], "hello", "{json}");
    assert_eq!((&json["stop_reason"], &json["type"]), (&"end_turn".into(), &"message".into()));
    assert_eq!(json["usage"]["input_tokens"], 3);
    assert!(reply.header("x-photic-fixes").is_some());
    let seen = upstream.last();
    assert!(seen.head.starts_with("post /v1/chat/completions "), "{}", seen.head);
    assert!(seen.head.contains("authorization: bearer k\r\n"));
    assert!(!seen.head.contains("anthropic-") && seen.head.contains("accept-encoding: identity"));
    let sent: serde_json::Value = serde_json::from_slice(&seen.body).unwrap();
    assert_eq!(sent["messages"][0]["content"], "hi");
}

#[tokio::test]
async fn chat_completions_against_messages() {
    let (gateway, upstream) = between(MESSAGES_ANSWER, Wire::Anthropic).await;
    let headers = "authorization: Bearer k\r\n";
    let reply = exchange(gateway, &post("/chat/completions", headers, QUESTION)).await;
    assert_eq!(reply.json()["choices"][0]["message"]["content"], "hello");
    let seen = upstream.last();
    assert!(seen.head.starts_with("post /v1/messages "), "{}", seen.head);
    assert!(seen.head.contains("x-api-key: k\r\n") && seen.head.contains("anthropic-version: "));
    assert!(!seen.head.contains("authorization"));
}

#[tokio::test]
async fn responses_against_chat_completions() {
    let (gateway, _) = between(CHAT_ANSWER, Wire::OpenAiChat).await;
    let body = br#"{"model":"m-1","input":"hi"}"#;
    let json = exchange(gateway, &post("/v1/responses", "", body)).await.json();
    assert_eq!(json["output"][0]["content"][0]["text"], "hello", "{json}");
}

#[tokio::test]
async fn an_error_is_translated_with_its_status() {
    let body = r#"{"error":{"message":"too much","type":"rate_limit_error"}}"#;
    let answer = format!(
        "HTTP/1.1 429 Too Many Requests\r\nretry-after: 3\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let (address, _) = Upstream::start(move |_| vec![Act::Send(answer.clone().into())]).await;
    let gateway =
        started(&format!("[[upstream]]\nurl='http://{address}'\nwire='openai-chat'\nmodels=['*']"))
            .await;
    let reply = exchange(gateway, &post("/v1/messages", "", QUESTION)).await;
    assert_eq!((reply.status, reply.header("retry-after")), (429, Some("3")));
    let json = reply.json();
    assert_eq!((&json["type"], &json["error"]["message"]), (&"error".into(), &"too much".into()));
}

#[tokio::test]
async fn tokens_are_estimated_if_the_upstream_cannot_count_them() {
    let (gateway, upstream) = between(CHAT_ANSWER, Wire::OpenAiChat).await;
    let json = exchange(gateway, &post("/v1/messages/count_tokens", "", QUESTION)).await.json();
    assert!(json["input_tokens"].as_u64().unwrap() > 0, "{json}");
    assert!(upstream.seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_stream_is_translated_while_it_comes() {
    let sign = Arc::new(Notify::new());
    let sender = Arc::clone(&sign);
    let (address, upstream) = Upstream::start(move |_| {
        let words =
            r#"data: {"id":"x","model":"m-1","choices":[{"index":0,"delta":{"content":"first"}}]}"#;
        let stop = r#"data: {"id":"x","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
        vec![
            Act::Send(chunked("text/event-stream")),
            Act::Send(chunk(&format!("{words}\n\n"))),
            Act::Wait(Arc::clone(&sender)),
            Act::Send(chunk(&format!("{stop}\n\ndata: [DONE]\n\n"))),
            Act::Send(chunk("")),
        ]
    })
    .await;
    let gateway =
        started(&format!("[[upstream]]\nurl='http://{address}'\nwire='openai-chat'\nmodels=['*']"))
            .await;
    let mut stream = TcpStream::connect(gateway).await.unwrap();
    let body = br#"{"model":"m-1","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"}]}"#;
    stream.write_all(&post("/v1/messages", "", body)).await.unwrap();
    let early = read_until(&mut stream, "\"text\":\"first\"").await;
    assert!(early.contains("event: message_start\n") && !early.contains("message_stop"));
    sign.notify_one();
    read_until(&mut stream, "\"type\":\"message_stop\"}\n\n\r\n0\r\n\r\n").await;
    let sent: serde_json::Value = serde_json::from_slice(&upstream.last().body).unwrap();
    assert_eq!(
        (&sent["stream"], &sent["stream_options"]["include_usage"]),
        (&true.into(), &true.into())
    );
}

#[tokio::test]
async fn a_translated_stream_that_breaks_off_says_so() {
    let (address, _) = Upstream::start(move |_| {
        let words = r#"data: {"id":"x","choices":[{"index":0,"delta":{"content":"first"}}]}"#;
        let begin = [chunked("text/event-stream"), chunk(&format!("{words}\n\n"))].concat();
        vec![Act::Send(begin), Act::Close]
    })
    .await;
    let gateway =
        started(&format!("[[upstream]]\nurl='http://{address}'\nwire='openai-chat'\nmodels=['*']"))
            .await;
    let reply = exchange(gateway, &post("/v1/messages", "", QUESTION)).await;
    let text = String::from_utf8(reply.body).unwrap();
    assert!(text.contains("\"first\"") && text.contains("event: error\n"), "{text}");
}
