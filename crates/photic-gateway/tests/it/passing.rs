//! Requests that are not turns pass through unchanged.

use crate::caller::{exchange, get, post};
use crate::scripted::{Act, Upstream, ok};
use crate::{gateway, started};

#[tokio::test]
async fn any_other_path_streams_through() {
    let (address, upstream) = Upstream::answering("{\"data\":[]}").await;
    let gateway = gateway(address, "").await;
    let body = b"{ \"input\" : \"odd  spacing\" }";
    let headers = "authorization: Bearer secret\r\nx-custom: 1\r\nte: trailers\r\n";
    let reply = exchange(gateway, &post("/v1/embeddings?a=b", headers, body)).await;
    assert_eq!((reply.status, reply.body.as_slice()), (200, b"{\"data\":[]}".as_slice()));
    assert_eq!(reply.header("x-upstream"), Some("yes"));
    assert_eq!(reply.header("x-photic-fixes"), None);
    let seen = upstream.last();
    assert!(seen.head.starts_with("post /v1/embeddings?a=b http/1.1\r\n"), "{}", seen.head);
    assert_eq!(seen.body, body);
    for line in ["authorization: bearer secret", "x-custom: 1", &format!("host: {address}")] {
        assert!(seen.head.contains(&format!("{line}\r\n")), "{line} in {}", seen.head);
    }
    assert!(!seen.head.contains("te: ") && !seen.head.contains("connection: close"));
}

#[tokio::test]
async fn models_are_listed_with_and_without_a_version() {
    let (address, upstream) = Upstream::answering("{}").await;
    let gateway = gateway(address, "").await;
    for path in ["/v1/models", "/models"] {
        assert_eq!(exchange(gateway, &get(path, "")).await.status, 200);
        assert!(upstream.last().head.starts_with(&format!("get {path} ")));
    }
}

#[tokio::test]
async fn errors_of_the_provider_are_its_own() {
    let body = b"{\"error\":{\"message\":\"no\"}}";
    let text = "HTTP/1.1 429 Too Many Requests\r\nretry-after: 7\r\ncontent-length: 26\r\n\r\n";
    let answer = [text.as_bytes(), body].concat();
    let (address, _) = Upstream::start(move |_| vec![Act::Send(answer.clone())]).await;
    let gateway = gateway(address, "").await;
    let reply = exchange(gateway, &post("/v1/messages", "", b"{\"messages\":[]}")).await;
    assert_eq!((reply.status, reply.body.as_slice()), (429, body.as_slice()));
    assert_eq!(reply.header("retry-after"), Some("7"));
    assert_eq!(reply.header("x-photic-error"), None);
}

#[tokio::test]
async fn a_body_without_a_length_passes_too() {
    let (address, upstream) = Upstream::start(|seen| vec![Act::Send(ok(&seen.body))]).await;
    let gateway = gateway(address, "").await;
    for path in ["/v1/files", "/v1/chat/completions"] {
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n\
             3\r\n{{\"a\r\n5\r\n\": 1}}\r\n0\r\n\r\n"
        );
        let reply = exchange(gateway, request.as_bytes()).await;
        assert_eq!((reply.status, reply.body.as_slice()), (200, b"{\"a\": 1}".as_slice()));
        assert_eq!(upstream.last().body, b"{\"a\": 1}");
    }
}

#[tokio::test]
async fn the_gateway_answers_for_itself() {
    let (address, upstream) = Upstream::answering("{}").await;
    let gateway = gateway(address, "").await;
    for (path, word) in [("/health", "ok"), ("/ready", "ready")] {
        let reply = exchange(gateway, &get(path, "")).await;
        assert_eq!((reply.status, reply.json()["status"].as_str()), (200, Some(word)));
    }
    assert!(upstream.seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn what_is_not_read_goes_where_it_would_go() {
    let (address, upstream) = Upstream::answering("{}").await;
    for (base, path) in [
        ("", "/chat/completions"),
        ("", "/v1/chat/completions"),
        ("/v1", "/responses"),
        ("/v4", "/messages/count_tokens"),
        ("/v1", "/v1/model/m/invoke"),
        ("/v1beta", "/v1beta/models/g:generateContent"),
        ("/api/v1", "/api/v1/chat/completions"),
        ("/openai/v1", "/openai/deployments/d/chat/completions"),
        ("/anthropic", "/anthropic/v1/messages"),
        ("/anthropic", "/anthropic/v1/messages/batches"),
        ("/api/v1", "/v1/messages/batches"),
    ] {
        let gateway = started(&format!("[[upstream]]\nurl = 'http://{address}{base}'")).await;
        let mut lines = Vec::new();
        for header in ["", "x-photic-off: 1\r\n", "content-encoding: snappy\r\n"] {
            let path = format!("{path}?a=b");
            let reply = exchange(gateway, &post(&path, header, b"{\"messages\":[]}")).await;
            assert_eq!(reply.status, 200, "{path} {header}");
            lines.push(upstream.last().head.lines().next().unwrap().to_owned());
        }
        assert!(lines.iter().all(|line| *line == lines[0]), "{base}: {lines:?}");
    }
}
