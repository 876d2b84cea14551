//! The metrics.

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::caller::{exchange, get, post, read_until};
use crate::fixing::conversation;
use crate::scripted::{Act, Upstream, chunk, chunked, ok};
use crate::watching::Watching;

fn before(address: std::net::SocketAddr, settings: &str) -> String {
    format!("{settings}\n[[upstream]]\nurl = 'http://{address}'")
}

#[tokio::test]
async fn requests_are_counted_by_what_became_of_them() {
    let (address, upstream) = Upstream::start(|seen| match seen.head.as_str() {
        head if head.contains("v1/messages") => vec![Act::Close],
        _ => vec![Act::Send(ok(b"{\"n\":1}"))],
    })
    .await;
    let watching = Watching::start(&before(address, "[policy]\nretention = 'all'")).await;
    let body = conversation(2, 1000);
    exchange(watching.address, &post("/v1/chat/completions", "", body.as_bytes())).await;
    let sent = upstream.last().body.len();
    exchange(watching.address, &post("/v1/messages", "", b"{}")).await;
    exchange(watching.address, &get("/v1/models", "")).await;
    let bytes = format!("photic_request_bytes_total {}", body.len() + 2);
    let sent = format!("photic_upstream_bytes_total {}", sent + 2);
    let page = watching
        .metrics_with(&[
            "photic_requests_in_flight 0",
            "photic_requests_total{route=\"conversation\",wire=\"openai-chat\",status=\"2xx\"} 1",
            "photic_requests_total{route=\"conversation\",wire=\"anthropic\",status=\"5xx\"} 1",
            "photic_requests_total{route=\"other\",wire=\"openai-chat\",status=\"2xx\"} 1",
            "photic_failures_total{code=\"upstream_closed\"} 1",
            "photic_fixes_total{fix=\"hoisted\"} 2",
            "photic_images_total{fate=\"hoisted\"} 2",
            "photic_images_total{fate=\"kept\"} 0",
            "photic_model_requests_total{model=\"gpt-4o\"} 1",
            "photic_request_duration_seconds_count{route=\"conversation\"} 2",
            "photic_first_byte_seconds_count{route=\"other\"} 1",
            &bytes,
            &sent,
        ])
        .await;
    let tokens = page.lines().find(|line| line.starts_with("photic_input_tokens_estimated"));
    let tokens: u64 = tokens.unwrap().rsplit(' ').next().unwrap().parse().unwrap();
    assert!(tokens > 1000, "two images cost more than {tokens}");
    assert_eq!(page.matches("code=").count(), 1, "{page}");
}

#[tokio::test]
async fn a_client_that_disconnects_is_counted_as_gone() {
    let (address, _) = Upstream::start(|_| {
        vec![
            Act::Send(chunked("text/event-stream")),
            Act::Send(chunk("data: 1\n\n")),
            Act::AwaitGone,
        ]
    })
    .await;
    let watching = Watching::start(&before(address, "")).await;
    let mut stream = TcpStream::connect(watching.address).await.unwrap();
    stream.write_all(&post("/v1/chat/completions", "", b"{}")).await.unwrap();
    read_until(&mut stream, "data: 1").await;
    watching.metrics_with(&["photic_requests_in_flight 1"]).await;
    drop(stream);
    watching
        .metrics_with(&[
            "photic_requests_in_flight 0",
            "photic_failures_total{code=\"caller_gone\"} 1",
            "photic_reply_bytes_total 9",
        ])
        .await;
}

#[tokio::test]
async fn a_client_that_disconnects_before_an_answer_is_counted_too() {
    let (address, upstream) = Upstream::start(|_| vec![Act::AwaitGone]).await;
    let watching = Watching::start(&before(address, "")).await;
    let mut stream = TcpStream::connect(watching.address).await.unwrap();
    stream.write_all(&post("/v1/chat/completions", "", b"{}")).await.unwrap();
    watching.metrics_with(&["photic_requests_in_flight 1"]).await;
    drop(stream);
    assert!(upstream.client_disconnected().await);
    watching
        .metrics_with(&[
            "photic_requests_in_flight 0",
            "photic_failures_total{code=\"caller_gone\"} 1",
        ])
        .await;
}

#[tokio::test]
async fn a_reply_that_breaks_off_is_counted() {
    let (address, _) = Upstream::start(|_| {
        vec![Act::Send(chunked("text/event-stream")), Act::Send(chunk("data: 1\n\n")), Act::Close]
    })
    .await;
    let watching = Watching::start(&before(address, "")).await;
    exchange(watching.address, &post("/v1/chat/completions", "", b"{}")).await;
    watching.metrics_with(&["photic_failures_total{code=\"upstream_broke_off\"} 1"]).await;
}

/// A reply without a body, a stream that ends, and a reply with a length are all complete.
#[tokio::test]
async fn ends_are_told_from_breaks() {
    let (address, _) = Upstream::start(|seen| {
        vec![Act::Send(match seen.head.as_str() {
            head if head.starts_with("delete") => b"HTTP/1.1 204 No Content\r\n\r\n".to_vec(),
            head if head.starts_with("get") => ok(b"{}"),
            _ => [chunked("text/event-stream"), chunk("data: 1\n\n"), chunk("")].concat(),
        })]
    })
    .await;
    let watching = Watching::start(&before(address, "")).await;
    let delete = b"DELETE /v1/files/1 HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    exchange(watching.address, delete).await;
    exchange(watching.address, &get("/v1/models", "")).await;
    exchange(watching.address, &post("/v1/chat/completions", "", b"{}")).await;
    let page = watching
        .metrics_with(&[
            "photic_request_duration_seconds_count{route=\"other\"} 2",
            "photic_request_duration_seconds_count{route=\"conversation\"} 1",
        ])
        .await;
    assert!(!page.contains("code="), "{page}");
}

#[tokio::test]
async fn names_of_models_are_bounded() {
    let (address, _) = Upstream::answering("{}").await;
    let watching = Watching::start(&before(address, "")).await;
    for model in 0..70 {
        let body = format!("{{\"model\":\"m{model}\",\"messages\":[]}}");
        exchange(watching.address, &post("/v1/chat/completions", "", body.as_bytes())).await;
    }
    let page = watching.metrics_with(&["photic_model_requests_total{model=\"other\"} 7"]).await;
    assert_eq!(page.matches("photic_model_requests_total{").count(), 64, "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_that_were_made_before_are_counted() {
    use base64::Engine as _;
    let (address, _) = Upstream::answering("{}").await;
    let watching = Watching::start(&before(address, "")).await;
    let png = photic_testkit::image::png_noise(9000, 40, 7);
    let data = base64::engine::general_purpose::STANDARD.encode(png);
    let body = format!(
        "{{\"model\":\"claude-sonnet-5\",\"max_tokens\":9,\"messages\":[{{\"role\":\"user\",\
         \"content\":[{{\"type\":\"image\",\"source\":{{\"type\":\"base64\",\
         \"media_type\":\"image/png\",\"data\":\"{data}\"}}}}]}}]}}"
    );
    for _ in 0..3 {
        exchange(watching.address, &post("/v1/messages", "", body.as_bytes())).await;
    }
    let page = watching
        .metrics_with(&[
            "photic_picture_cache_hits_total 2",
            "photic_picture_cache_misses_total 1",
            "photic_images_remade_total 3",
            "photic_images_total{fate=\"kept\"} 3",
        ])
        .await;
    let kept = page.lines().find_map(|line| line.strip_prefix("photic_picture_cache_bytes "));
    assert!(kept.unwrap().parse::<u64>().unwrap() > 1000, "{page}");
}

/// Facts from healing and from the end of a reply are counted, too.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_healed_and_charged_is_counted() {
    let (address, _) = Upstream::start(|seen| {
        let tokens = if seen.body.len() > 60_000 { 100_000 } else { 1234 };
        let reply = format!("{{\"choices\":[],\"usage\":{{\"prompt_tokens\":{tokens}}}}}");
        let refused =
            br#"{"error":{"message":"messages: at most 1 image may be provided in one request"}}"#;
        let images = String::from_utf8_lossy(&seen.body).matches("data:image/png").count();
        if images > 2 {
            let head =
                format!("HTTP/1.1 400 Bad Request\r\ncontent-length: {}\r\n\r\n", refused.len());
            return vec![Act::Send([head.as_bytes(), refused].concat())];
        }
        vec![Act::Send(ok(reply.as_bytes()))]
    })
    .await;
    let watching = Watching::start(&before(address, "[policy]\nretention = 'all'")).await;
    for (images, bytes) in [(1, 1000), (1, 50_000), (3, 1000)] {
        let body = conversation(images, bytes);
        let reply =
            exchange(watching.address, &post("/v1/chat/completions", "", body.as_bytes())).await;
        assert_eq!(reply.status, 200, "{reply:?}");
    }
    watching
        .metrics_with(&[
            "photic_healed_total 1",
            "photic_billed_as_text_total 1",
            "photic_input_tokens_reported_total{model=\"gpt-4o\"} 102468",
        ])
        .await;
    let log = watching.ended().await;
    assert!(log.contains(&format!("`{address}` bills images to `gpt-4o` as text")), "{log}");
}

#[tokio::test]
async fn operators_may_have_a_listener_of_their_own() {
    let (address, upstream) = Upstream::answering("{}").await;
    let settings = before(address, "[admin]\nlisten = '127.0.0.1:0'");
    let watching = Watching::start(&settings).await;
    assert_ne!(watching.address, watching.admin);
    for path in ["/health", "/ready", "/metrics"] {
        assert_eq!(exchange(watching.admin, &get(path, "")).await.status, 200, "{path}");
        assert_eq!(exchange(watching.address, &get(path, "")).await.status, 404, "{path}");
    }
    let call = post("/v1/chat/completions", "", b"{}");
    assert_eq!(exchange(watching.admin, &call).await.status, 404);
    assert!(upstream.seen.lock().unwrap().is_empty());
    assert_eq!(exchange(watching.address, &call).await.status, 200);
    // Without it, one listener serves both.
    let watching = Watching::start(&before(address, "")).await;
    let page = exchange(watching.address, &get("/metrics", "")).await;
    assert_eq!(page.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
}

/// The dashboard shows every metric, and no metric that no gateway has.
#[tokio::test]
async fn the_dashboard_shows_every_metric() {
    use std::collections::BTreeSet;
    let (address, _) = Upstream::answering("{}").await;
    let watching = Watching::start(&before(address, "")).await;
    let page = watching.metrics().await;
    let existing: BTreeSet<&str> =
        page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/dashboards");
    let shown: String = ["photic.json", "alerts.yaml"]
        .map(|name| std::fs::read_to_string(folder.join(name)).unwrap())
        .concat();
    let named: BTreeSet<&str> = shown
        .split(|character: char| !character.is_ascii_alphanumeric() && character != '_')
        .filter(|name| name.starts_with("photic_") || name.starts_with("process_"))
        .map(|name| {
            let base = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
            base.filter(|base| existing.contains(base)).unwrap_or(name)
        })
        .collect();
    assert_eq!(existing, named);
}
