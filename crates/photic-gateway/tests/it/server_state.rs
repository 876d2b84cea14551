//! Conversations that a provider keeps: they pass its own API untouched, and are never half-sent to
//! another. Clients hear of it in their own words.

use std::net::SocketAddr;
use std::sync::Arc;

use photic::Wire;
use serde_json::json;

use crate::caller::{Reply, exchange, post};
use crate::fixing::picture;
use crate::scripted::{Act, Upstream, ok};
use crate::{gateway, started};

const CHAT_ANSWER: &str = r#"{"id":"r1","object":"chat.completion","created":1,"model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}"#;

/// Starts a gateway in front of an upstream of this wire, which gives this answer.
async fn before(answer: Vec<u8>, speaks: Wire) -> (SocketAddr, Arc<Upstream>) {
    let (address, upstream) = Upstream::start(move |_| vec![Act::Send(answer.clone())]).await;
    let settings =
        format!("[[upstream]]\nurl='http://{address}/v1'\nwire='{speaks}'\nmodels=['*']");
    (started(&settings).await, upstream)
}

async fn ask(gateway: SocketAddr, path: &str, headers: &str, body: &serde_json::Value) -> Reply {
    exchange(gateway, &post(path, headers, body.to_string().as_bytes())).await
}

#[tokio::test]
async fn pictures_that_could_not_be_planned_are_named_in_a_header() {
    let (address, upstream) = Upstream::answering("{}").await;
    let gateway = gateway(address, "").await;
    for (path, body, expected) in [
        (
            "/v1/responses",
            json!({"model": "m", "previous_response_id": "resp_1", "input": [
                {"role": "user", "content": [{"type": "input_image", "file_id": "file-1"}]}]}),
            Some("file_id, previous_response_id"),
        ),
        (
            "/v1/messages",
            json!({"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "hi"}],
                "thread": {"type": "continue", "previous_message_id": "msg_1"}}),
            Some("thread"),
        ),
        ("/v1/responses", json!({"model": "m", "input": "hi"}), None),
    ] {
        let reply = ask(gateway, path, "", &body).await;
        assert_eq!(reply.header("x-photic-unplanned"), expected, "{reply:?}");
        assert_eq!(upstream.last().body, body.to_string().as_bytes(), "it passes untouched");
    }
}

#[tokio::test]
async fn half_a_conversation_is_refused_before_anything_is_sent() {
    let (gateway, upstream) = before(ok(CHAT_ANSWER.as_bytes()), Wire::OpenAiChat).await;
    let responses = |more: serde_json::Value| {
        let mut body = json!({"model": "m-1", "input": "hi"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    for (path, body, pointer, code) in [
        (
            "/v1/responses",
            responses(json!({"previous_response_id": "resp_1"})),
            "/error/code",
            "previous_response_not_found",
        ),
        (
            "/v1/responses",
            responses(json!({"conversation": "conv_1"})),
            "/error/code",
            "half_request",
        ),
        (
            "/v1/messages",
            json!({"model": "m-1", "max_tokens": 1, "messages": [{"role": "user", "content": "hi"}],
                "thread": {"type": "continue", "previous_message_id": "msg_1"}}),
            "/error/details/error_code",
            "thread_unsupported_request",
        ),
        (
            "/v1beta/models/m-1:generateContent",
            json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}],
                "cachedContent": "cachedContents/1"}),
            "/error/status",
            "INVALID_ARGUMENT",
        ),
    ] {
        let reply = ask(gateway, path, "", &body).await;
        let answer = reply.json();
        assert_eq!((reply.status, reply.header("x-photic-error")), (400, Some("half_request")));
        assert_eq!(answer.pointer(pointer).unwrap(), code, "{answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("send the whole history"), "{message}");
    }
    assert!(upstream.seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_thread_that_begins_is_sent_elsewhere_without_its_field() {
    let (gateway, upstream) = before(ok(CHAT_ANSWER.as_bytes()), Wire::OpenAiChat).await;
    let body = json!({"model": "m-1", "max_tokens": 1, "thread": {"type": "create"},
        "messages": [{"role": "user", "content": "hi"}]});
    let reply = ask(gateway, "/v1/messages", "", &body).await;
    assert_eq!((reply.status, reply.header("x-photic-unplanned")), (200, None));
    assert!(reply.header("x-photic-fixed").unwrap().contains("left_out_field"), "{reply:?}");
    assert!(!String::from_utf8_lossy(&upstream.last().body).contains("thread"));
}

/// An upstream of another API refuses, and nothing can be done about it.
#[tokio::test]
async fn claude_code_hears_of_a_rejection_in_the_words_that_its_recovery_matches() {
    let refuses = |status: &str, message: &str| {
        let body =
            json!({"error": {"message": message, "type": "invalid_request_error"}}).to_string();
        let length = body.len();
        format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
            .into_bytes()
    };
    let body = |content: serde_json::Value| json!({"model": "m-1", "max_tokens": 1, "messages": [{"role": "user", "content": content}]});
    let source = json!({"type": "base64", "media_type": "image/png", "data": picture(1, 300)});
    let (words, shot) = (body("hi".into()), body(json!([{"type": "image", "source": source}])));
    let claude = "user-agent: claude-cli/2.1.326 (external, cli)\r\n";
    let overflow = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.";
    let other = "this is about something else";
    let blind = "This model does not support image inputs.";
    for (status, message, agent, body, expected) in [
        ("400 Bad", overflow, claude, &words, (400, "capability_rejected: prompt_too_long")),
        ("413 Large", "too large", claude, &words, (413, "capability_rejected: prompt_too_long")),
        ("413 Large", "too large", claude, &shot, (413, "capability_rejected: media_budget")),
        ("422 Odd", blind, claude, &shot, (400, "capability_rejected: image_block")),
        ("400 Bad", other, claude, &shot, (400, other)),
        ("400 Bad", overflow, "user-agent: other/1\r\n", &words, (400, overflow)),
    ] {
        let (gateway, _) = before(refuses(status, message), Wire::OpenAiChat).await;
        let reply = ask(gateway, "/v1/messages", agent, body).await;
        let answer = reply.json();
        assert_eq!((reply.status, answer["error"]["message"].as_str().unwrap()), expected);
        assert_eq!(answer["type"], "error");
    }
    // Its own provider speaks for itself.
    let (gateway, _) = before(refuses("400 Bad Request", overflow), Wire::Anthropic).await;
    let reply = ask(gateway, "/v1/messages", claude, &words).await;
    assert_eq!(reply.json()["error"]["message"], overflow);
}

/// A tool of Codex that takes free text, called by a model behind Chat Completions.
#[tokio::test]
async fn a_call_of_a_custom_tool_comes_back_as_one() {
    let answer = json!({"id": "r1", "object": "chat.completion", "created": 1, "model": "m-1", "choices": [
        {"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": null, "tool_calls": [
            {"id": "call_1", "type": "function", "function":
                {"name": "functions__exec", "arguments": "{\"input\":\"ls\\n\"}"}}]}}]});
    let (gateway, upstream) = before(ok(answer.to_string().as_bytes()), Wire::OpenAiChat).await;
    let body = json!({"model": "m-1", "input": [
        {"type": "additional_tools", "role": "developer", "tools": [
            {"type": "namespace", "name": "functions", "tools": [
                {"type": "custom", "name": "exec", "description": "runs code"}]}]},
        {"role": "user", "content": "list the files"}]});
    let reply = ask(gateway, "/v1/responses", "", &body).await;
    let call = &reply.json()["output"][0];
    assert_eq!(
        (&call["type"], &call["name"]),
        (&"custom_tool_call".into(), &"exec".into()),
        "{call}"
    );
    assert_eq!((&call["namespace"], &call["input"]), (&"functions".into(), &"ls\n".into()));
    let sent: serde_json::Value = serde_json::from_slice(&upstream.last().body).unwrap();
    assert_eq!(sent["tools"][0]["function"]["name"], "functions__exec");
}
