//! Retention of images: the policies, the header that chooses one, and the reports about them.

use serde_json::json;

use crate::caller::{exchange, post};
use crate::fixing::conversation;
use crate::scripted::Upstream;
use crate::watching::{Watching, attribute, events, spans};

/// Returns settings with a full log, and traces to `collector`.
fn settings(upstream: std::net::SocketAddr, collector: std::net::SocketAddr) -> String {
    format!(
        "log = 'json'\n[telemetry]\notlp = 'http://{collector}'\n\
         [[upstream]]\nurl = 'http://{upstream}'"
    )
}

const TRACED: &str = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n";

#[tokio::test]
async fn by_default_only_a_limit_retires_and_says_so() {
    let (address, _) = Upstream::answering("{\"n\":1}").await;
    let (collector, collected) = Upstream::answering("{}").await;
    let watching = Watching::start(&settings(address, collector)).await;
    let ask = |body: String| {
        let request = post("/v1/chat/completions", TRACED, body.as_bytes());
        async move { exchange(watching.address, &request).await }
    };
    let fits = ask(conversation(40, 100)).await;
    assert_eq!(fits.header("x-photic-retired"), None);
    // The limit is eight images.
    let over = ask(conversation(9, 100).replace("gpt-4o", "mistral-medium-3")).await;
    assert_eq!(over.header("x-photic-retired"), Some("over_count=8"), "{over:?}");
    watching.metrics_with(&["photic_retired_total{reason=\"over_count\"} 8"]).await;
    let log = watching.ended().await;
    let requests = events(&log, "request");
    assert_eq!(requests[0]["retired"], json!({}));
    assert_eq!(requests[1]["retired"], json!({"over_count": 8}));
    let spans = spans(&collected);
    let retired = attribute(&spans[1], "photic.retired");
    assert_eq!(retired["values"][0]["stringValue"], "over_count=8");
}

#[tokio::test]
async fn a_header_chooses_the_policy_of_a_request() {
    let (address, upstream) = Upstream::answering("{\"n\":1}").await;
    let watching = Watching::start(&format!("[[upstream]]\nurl = 'http://{address}'")).await;
    let body = conversation(5, 100);
    for (policy, retired) in [
        ("newest(2)", Some("retired=3")),
        ("turns(0)", Some("retired=4")),
        ("priced", None),
        ("all", None),
    ] {
        let header = format!("X-Photic-Policy: {policy}\r\n");
        let request = post("/v1/chat/completions", &header, body.as_bytes());
        let reply = exchange(watching.address, &request).await;
        assert_eq!(reply.header("x-photic-retired"), retired, "{policy}");
        assert!(!upstream.last().head.contains("photic-policy"), "{}", upstream.last().head);
    }
    for (path, says) in [
        ("/v1/chat/completions", "\"code\":\"unknown_policy\""),
        ("/v1/messages", "\"type\":\"invalid_request_error\""),
    ] {
        let request = post(path, "x-photic-policy: some\r\n", body.as_bytes());
        let reply = exchange(watching.address, &request).await;
        let text = String::from_utf8(reply.body.clone()).unwrap();
        assert_eq!((reply.status, reply.header("x-photic-error")), (400, Some("unknown_policy")));
        assert!(text.contains(says) && text.contains("priced, turns(K), newest(N), all"), "{text}");
    }
}

#[tokio::test]
async fn what_stays_as_it_is_is_said() {
    let (address, _) = Upstream::answering("{\"n\":1}").await;
    let (collector, _) = Upstream::answering("{}").await;
    let watching = Watching::start(&settings(address, collector)).await;
    let parts = json!([{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]);
    let body = json!({"model": "gpt-4o", "messages": [
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "shot", "arguments": "{}"}},
        ]},
        {"role": "tool", "tool_call_id": "c", "content": parts.to_string()},
    ]});
    let request = post("/v1/chat/completions", "", body.to_string().as_bytes());
    let reply = exchange(watching.address, &request).await;
    assert_eq!(reply.header("x-photic-unrepaired"), Some("image_address_in_text=1"));
    watching.metrics_with(&["photic_unrepaired_total{code=\"image_address_in_text\"} 1"]).await;
    let log = watching.ended().await;
    assert_eq!(events(&log, "request")[0]["unrepaired"], json!({"image_address_in_text": 1}));
}
