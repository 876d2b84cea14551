//! The log and traces.

use serde_json::json;
use tokio::net::TcpListener;

use crate::caller::{exchange, get, post};
use crate::fixing::conversation;
use crate::scripted::Upstream;
use crate::watching::{Watching, attribute, events, spans};

#[tokio::test]
async fn every_request_and_every_fix_is_a_line() {
    let (address, _) = Upstream::answering("{\"n\":1}").await;
    let settings = format!(
        "log = 'json'\n[policy]\nretention = 'all'\n[[upstream]]\nurl = 'http://{address}'\n\
         [[upstream]]\nurl = 'http://{address}'\nwire = 'anthropic'\nmodels = ['claude*']"
    );
    let watching = Watching::start(&settings).await;
    let body = conversation(2, 1000);
    let first =
        exchange(watching.address, &post("/v1/chat/completions", "", body.as_bytes())).await;
    let body = body.replace("gpt-4o", "claude-sonnet-5");
    exchange(watching.address, &post("/v1/chat/completions", "", body.as_bytes())).await;
    exchange(watching.address, &get("/v1/models?key=k", "")).await;
    let log = watching.ended().await;
    let requests = events(&log, "request");
    assert_eq!(requests.len(), 3, "{log}");
    let [hoisted, crossed, other] = [&requests[0], &requests[1], &requests[2]];
    assert_eq!(hoisted["id"], first.header("x-photic-request-id").unwrap());
    assert_eq!(hoisted["fixes"], json!({"hoisted": 2}));
    assert_eq!(hoisted["images"], json!({"seen": 2, "shown": 2, "remade": 0}));
    assert_eq!(
        [&hoisted["route"], &hoisted["model"], &hoisted["ended"], &hoisted["failure"]],
        [&json!("conversation"), &json!("gpt-4o"), &json!("complete"), &json!(null)]
    );
    assert_eq!(hoisted["status"], 200);
    assert_eq!(hoisted["upstream"], address.to_string());
    assert_eq!([&crossed["from"], &crossed["to"]], ["openai-chat", "anthropic"]);
    assert_eq!([&other["route"], &other["model"]], [&json!("other"), &json!(null)]);
    let of_first = |line: &&serde_json::Value| line["id"] == hoisted["id"];
    let fixes = events(&log, "fix");
    let fixes: Vec<_> = fixes.iter().filter(of_first).collect();
    assert_eq!(fixes.len(), 2, "{log}");
    for (fix, at) in fixes.iter().zip(["/messages/2/", "/messages/4/"]) {
        assert!(fix["at"].as_str().unwrap().starts_with(at), "{fix}");
        assert_eq!([&fix["fix"], &fix["why"]], ["hoisted", "result_slot"], "{fix}");
        assert_eq!([&fix["from"], &fix["to"]], ["openai-chat", "openai-chat"]);
    }
}

#[tokio::test]
async fn as_text_only_trouble_is_told_and_not_too_often() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    for (format, lines) in [("text", 1), ("off", 0)] {
        let settings = format!("log = '{format}'\n[[upstream]]\nurl = 'http://{free}'");
        let watching = Watching::start(&settings).await;
        for _ in 0..5 {
            let reply = exchange(watching.address, &post("/v1/messages", "", b"{}")).await;
            assert_eq!(reply.status, 502);
            assert_eq!(reply.header("x-photic-request-id"), None);
        }
        let log = watching.ended().await;
        assert_eq!(log.lines().count(), lines, "{log}");
        if lines > 0 {
            let says = "connection refused; check the port, and that the server is running";
            let line = format!("photic: warning: upstream_unreachable: `{free}`: {says}\n");
            assert_eq!(log, line);
        }
    }
    let (address, _) = Upstream::answering("{}").await;
    let watching = Watching::start(&format!("[[upstream]]\nurl = 'http://{address}'")).await;
    exchange(watching.address, &post("/v1/messages", "", b"{}")).await;
    assert_eq!(watching.ended().await, "");
}

#[tokio::test]
async fn what_is_not_read_is_warned_of_once_for_each_client_and_reason() {
    let (address, _) = Upstream::answering("{}").await;
    let watching = Watching::start(&format!("[[upstream]]\nurl = 'http://{address}'")).await;
    for client in ["one/1", "other/2"] {
        for (path, headers, body) in [
            ("/v1/completions", "", b"{\"prompt\":\"x\"}".as_slice()),
            ("/v1beta/interactions", "", b"{}"),
            ("/v1/chat/completions", "", b"not json"),
            ("/v1/messages", "", b"not json"),
            ("/v1/messages", "content-encoding: snappy\r\n", b"{}"),
            // A client that asks for it is not warned, and what holds no picture is nothing to warn of.
            ("/v1/messages", "x-photic-off: 1\r\n", b"{}"),
            ("/v1/embeddings", "", b"{\"input\":\"x\"}"),
        ] {
            let headers = format!("user-agent: {client}\r\n{headers}");
            let reply = exchange(watching.address, &post(path, &headers, body)).await;
            assert_eq!(reply.status, 200);
        }
    }
    let log = watching.ended().await;
    let mut lines: Vec<&str> = log.lines().collect();
    lines.sort_unstable();
    let warning = |why: &str| {
        format!(
            "photic: warning: a request to `{address}` was passed on unread, pictures included: {why}"
        )
    };
    let path = warning("the path is not that of a known API");
    let body = warning("the body is not a JSON object");
    let coding = warning("the content encoding is not known");
    assert_eq!(lines, [&body, &body, &coding, &coding, &path, &path]);
}

const CALLER: &str = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n";

#[tokio::test]
async fn conversations_are_traced() {
    let (address, upstream) = Upstream::answering("{\"n\":1}").await;
    let (collector, collected) = Upstream::answering("{}").await;
    let settings = format!(
        "[telemetry]\notlp = 'http://{collector}'\n[policy]\nretention = 'all'\n\
         [[upstream]]\nurl = 'http://{address}'"
    );
    let watching = Watching::start(&settings).await;
    let body = conversation(2, 1000);
    let request = post("/v1/chat/completions", CALLER, body.as_bytes());
    let reply = exchange(watching.address, &request).await;
    let passed_on = upstream.last().head;
    // Not traced: a request that is not a turn, and one that the client does not want traced.
    exchange(watching.address, &get("/v1/models", CALLER)).await;
    assert!(upstream.last().head.contains(CALLER));
    let unsampled = CALLER.replace("-01\r", "-00\r");
    exchange(watching.address, &post("/v1/chat/completions", &unsampled, b"{}")).await;
    assert!(upstream.last().head.contains(&unsampled));
    // Incomplete batches are sent when the gateway stops.
    watching.ended().await;
    let spans = spans(&collected);
    assert_eq!(spans.len(), 1, "{spans:?}");
    let span = &spans[0];
    assert_eq!(span["traceId"], "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(span["parentSpanId"], "b7ad6b7169203331");
    assert_eq!(span["name"], "chat gpt-4o");
    let own = span["spanId"].as_str().unwrap();
    let carried = format!("traceparent: 00-0af7651916cd43dd8448eb211c80319c-{own}-01\r\n");
    assert!(passed_on.contains(&carried), "{passed_on}");
    let nanos = |key: &str| span[key].as_str().unwrap().parse::<u64>().unwrap();
    assert!(nanos("startTimeUnixNano") < nanos("endTimeUnixNano"));
    for (key, value) in [
        ("gen_ai.operation.name", json!("chat")),
        ("gen_ai.provider.name", json!("openai")),
        ("gen_ai.request.model", json!("gpt-4o")),
        ("server.address", json!("127.0.0.1")),
        ("server.port", json!(address.port().to_string())),
        ("http.response.status_code", json!("200")),
        ("photic.request_id", json!(reply.header("x-photic-request-id").unwrap())),
        ("photic.fixes", json!("2")),
        ("photic.images.shown", json!("2")),
        ("photic.bytes.reply", json!("7")),
        ("error.type", json!(null)),
    ] {
        assert_eq!(attribute(span, key), value, "{key}");
    }
    let images = attribute(span, "photic.images");
    let first = images["values"][0]["stringValue"].as_str().unwrap();
    assert!(first.starts_with("hoisted image/png 1280x800 "), "{first}");
}

#[tokio::test]
async fn what_goes_wrong_is_in_the_trace() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let (collector, collected) = Upstream::answering("{}").await;
    let settings = format!(
        "log = 'off'\n[telemetry]\notlp = 'http://{collector}/'\n[[upstream]]\nurl = 'http://{free}'"
    );
    let watching = Watching::start(&settings).await;
    exchange(watching.address, &post("/v1/messages", "", b"{}")).await;
    watching.ended().await;
    let spans = spans(&collected);
    assert_eq!(attribute(&spans[0], "error.type"), "upstream_unreachable");
    assert_eq!(attribute(&spans[0], "gen_ai.provider.name"), "anthropic");
    assert_eq!(spans[0]["status"]["code"], 2);
    assert_eq!(spans[0]["name"], "chat");
    assert_eq!(spans[0].get("parentSpanId"), None);
}

#[tokio::test]
async fn an_unavailable_collector_delays_no_request() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let (address, _) = Upstream::answering("{}").await;
    let settings =
        format!("[telemetry]\notlp = 'http://{free}'\n[[upstream]]\nurl = 'http://{address}'");
    let watching = Watching::start(&settings).await;
    for _ in 0..3 {
        let reply = exchange(watching.address, &post("/v1/messages", "", b"{}")).await;
        assert_eq!(reply.status, 200);
    }
    for _ in 0..100 {
        if watching.metrics().await.contains("\nphotic_spans_dropped_total 3\n") {
            let log = watching.ended().await;
            assert!(log.contains("warning: the trace collector did not accept 3 spans"), "{log}");
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("nothing was dropped");
}

#[tokio::test]
async fn without_traces_nothing_is_added() {
    let (address, upstream) = Upstream::answering("{}").await;
    let watching = Watching::start(&format!("[[upstream]]\nurl = 'http://{address}'")).await;
    let reply = exchange(watching.address, &post("/v1/messages", "", b"{}")).await;
    assert!(!upstream.last().head.contains("traceparent"));
    assert_eq!(reply.header("x-photic-request-id"), None);
    exchange(watching.address, &post("/v1/messages", CALLER, b"{}")).await;
    assert!(upstream.last().head.contains(CALLER));
}
