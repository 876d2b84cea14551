//! The gateway as an openwop host, over real sockets, with real upstreams, stores, clocks and the
//! guarded fetch.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic_store::MediaRef;
use serde_json::{Value, json};

use crate::caller::{Reply, exchange, get, post};
use crate::fixing::picture;
use crate::gateway;
use crate::scripted::{Act, Upstream};

const CALL: &str = "/v1/host/sample/ai/call";
const SURFACE: &str = "/v1/host/sample/test/surface";
const COMPLETION: &str = r#"{"id":"c","model":"gpt-4o","choices":[{"index":0,"message":{"role":"assistant","content":"a chart"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}"#;

fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("openwop-{name}"));
    let _ = std::fs::remove_dir_all(&path);
    path
}

/// Starts a host that calls `gpt-4o`, and stores uploads.
async fn host(name: &str, upstream: SocketAddr) -> SocketAddr {
    let directory = directory(name);
    let directory = directory.display();
    let settings =
        format!("[openwop]\nenabled = true\nmodel = 'gpt-4o'\n[record]\ndirectory = '{directory}'");
    gateway(upstream, &settings).await
}

async fn ask(host: SocketAddr, path: &str, body: &Value) -> Reply {
    let headers = "authorization: Bearer pk_anna_secret\r\n";
    exchange(host, &post(path, headers, body.to_string().as_bytes())).await
}

async fn call(host: SocketAddr, part: &Value) -> Reply {
    let content = json!([{"type": "text", "text": "what is this?"}, part]);
    ask(host, CALL, &json!({"messages": [{"role": "user", "content": content}]})).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_takes_the_way_of_every_conversation() {
    let (address, upstream) = Upstream::answering(COMPLETION).await;
    let host = host("call", address).await;
    let data = picture(1, 3000);
    let reply = call(host, &json!({"type": "image", "mimeType": "image/png", "data": data})).await;
    let expected = json!({
        "content": "a chart",
        "usage": {"inputTokens": 9, "outputTokens": 2, "totalTokens": 11},
        "finishReason": "stop",
        "model": "gpt-4o",
    });
    assert_eq!((reply.status, reply.json()), (200, expected));
    let seen = upstream.last();
    assert!(seen.head.starts_with("post /v1/chat/completions "), "{}", seen.head);
    // A tenant's key is not sent to the upstream.
    assert!(!seen.head.contains("pk_anna"), "{}", seen.head);
    let body: Value = serde_json::from_slice(&seen.body).unwrap();
    let content = &body["messages"][0]["content"];
    assert_eq!(content[0]["text"], "what is this?");
    assert_eq!(content[1]["text"], "<UNTRUSTED source=\"call\" type=\"image\">");
    let url = format!("data:image/png;base64,{data}");
    assert_eq!(content[2]["image_url"]["url"], url.as_str());
    assert_eq!(content[3]["text"], "</UNTRUSTED>");
    // A provider's key is.
    let body = json!({"messages": [{"role": "user", "content": "hi"}]}).to_string();
    let headers = "x-photic-key: pk_anna_secret\r\nauthorization: Bearer sk-provider\r\n";
    let reply = exchange(host, &post(CALL, headers, body.as_bytes())).await;
    assert_eq!(reply.status, 200);
    let head = upstream.last().head;
    assert!(head.contains("bearer sk-provider") && !head.contains("pk_anna"), "{head}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_is_uploaded_named_in_a_later_call_and_forgotten() {
    let (address, upstream) = Upstream::answering(COMPLETION).await;
    let host = host("media", address).await;
    let data = picture(2, 3000);
    let bytes = STANDARD.decode(&data).unwrap();
    let upload = post("/v1/host/media", "", &bytes);
    let upload = String::from_utf8_lossy(&upload)
        .find("application/json")
        .map(|at| [&upload[..at], b"image/png", &upload[at + "application/json".len()..]].concat());
    let reply = exchange(host, &upload.unwrap()).await;
    assert_eq!(reply.status, 201, "{reply:?}");
    let told = reply.json();
    assert_eq!((&told["bytes"], &told["mimeType"]), (&json!(bytes.len()), &json!("image/png")));
    let name = told["mediaRef"].as_str().unwrap();
    let part = json!({"type": "image", "mimeType": "image/png", "mediaRef": name});
    assert_eq!(call(host, &part).await.status, 200);
    let body: Value = serde_json::from_slice(&upstream.last().body).unwrap();
    let url = format!("data:image/png;base64,{data}");
    assert_eq!(body["messages"][0]["content"][2]["image_url"]["url"], url.as_str());
    // The reference is also valid on the gateway's other wires.
    let facts = exchange(host, &get(&format!("/photic/v1/media/{name}"), "")).await;
    assert_eq!(facts.status, 200);
    let path = format!("/v1/host/media/{name}");
    let delete = format!("DELETE {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    assert_eq!(exchange(host, delete.as_bytes()).await.status, 204);
    let gone = call(host, &part).await;
    assert_eq!((gone.status, &gone.json()["error"]), (400, &json!("blob_object_not_found")));
    for never in [MediaRef::random().unwrap().as_str(), "mr_x", "photic:mr_x", ""] {
        let part = json!({"type": "image", "mimeType": "image/png", "mediaRef": never});
        assert_eq!(call(host, &part).await.body, gone.body, "{never}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unsupported_media_are_refused_before_an_upstream_is_asked() {
    let (address, upstream) = Upstream::answering(COMPLETION).await;
    let host = host("refused", address).await;
    for kind in ["audio", "video"] {
        let reply = call(host, &json!({"type": kind, "mimeType": "audio/mp3", "data": "?"})).await;
        assert_eq!((reply.status, &reply.json()["error"]), (400, &json!("unsupported_modality")));
    }
    assert!(upstream.seen.lock().unwrap().is_empty());
    let discovered = exchange(host, &get("/.well-known/openwop", "")).await;
    let input = &discovered.json()["aiProviders"]["input"];
    assert_eq!(input["modalities"], json!(["text", "image", "document"]));
    assert!(discovered.header("etag").is_some());
    let second = exchange(host, &get("/.well-known/openwop", "openwop-version: 2.0\r\n")).await;
    assert_eq!(second.header("openwop-version"), Some("2.0"));
    assert!(upstream.seen.lock().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn no_refusal_tells_where_an_upstream_is() {
    let said = |status: &str| {
        let body = r#"{"error":{"message":"http://vllm.internal:8000 says no"}}"#;
        let head = format!("HTTP/1.1 {status}\r\ncontent-type: application/json");
        format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes()
    };
    for (status, expected, code) in [
        ("401 Unauthorized", 403, "credential_forbidden"),
        ("404 Not Found", 400, "model_not_supported"),
        ("429 Too Many Requests", 429, "provider_quota_exhausted"),
        ("500 Internal Server Error", 502, "provider_unavailable"),
    ] {
        let answer = said(status);
        let (address, _) = Upstream::start(move |_| vec![Act::Send(answer.clone())]).await;
        let host = host(&status[..3], address).await;
        let reply = ask(host, CALL, &json!({"messages": [{"role": "user", "content": "x"}]})).await;
        let told = reply.json();
        assert_eq!((reply.status, &told["error"]), (expected, &json!(code)), "{told}");
        let port = address.port().to_string();
        let all = format!("{}{told}", reply.head);
        assert!(!all.contains("vllm") && !all.contains(&port), "{all}");
    }
    // An upstream that does not listen.
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let host = host("closed", closed).await;
    let reply = ask(host, CALL, &json!({"messages": [{"role": "user", "content": "x"}]})).await;
    assert_eq!((reply.status, &reply.json()["error"]), (502, &json!("provider_unavailable")));
    assert!(!format!("{reply:?}").contains("127.0.0.1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_fetch_is_the_guarded_one() {
    let (address, upstream) = Upstream::answering(COMPLETION).await;
    let host = host("fetch", address).await;
    let trap = format!("http://{address}/");
    for body in [
        json!({"url": "http://169.254.169.254/latest/meta-data/"}),
        json!({"url": "http://127.0.0.1:6379/"}),
        json!({"url": trap}),
        json!({"url": "http://example.com/", "simulateRebindTo": "169.254.169.254"}),
        json!({"url": "http://example.com/", "simulateRebindTo": "127.0.0.1"}),
    ] {
        let reply = ask(host, "/v1/host/sample/http/safe-fetch", &body).await;
        assert_eq!(reply.json(), json!({"outcome": "blocked", "blocked": "ssrf"}), "{body}");
    }
    let upgrade = json!({"url": trap, "init": {"headers": {"Connection": "upgrade"}}});
    let reply = ask(host, "/v1/host/sample/http/safe-fetch", &upgrade).await;
    assert_eq!(reply.json()["blocked"], "upgrade");
    let reply = call(host, &json!({"type": "image", "mimeType": "image/png", "url": trap})).await;
    assert_eq!((reply.status, &reply.json()["error"]), (400, &json!("ssrf_blocked")));
    assert!(upstream.seen.lock().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signed_address_shows_an_object_until_its_time() {
    let (address, _) = Upstream::answering(COMPLETION).await;
    let host = host("objects", address).await;
    let blob = |op: &str, args: Value| json!({"tenantId": "tenant-a", "surface": "blob", "op": op, "args": args});
    let content = STANDARD.encode("presigned-payload");
    let args = json!({"key": "k", "contentBase64": content, "contentType": "text/plain"});
    assert_eq!(ask(host, SURFACE, &blob("put", args)).await.status, 200);
    let other =
        json!({"tenantId": "tenant-b", "surface": "blob", "op": "get", "args": {"key": "k"}});
    assert_eq!(ask(host, SURFACE, &other).await.json(), json!({"found": false}));
    let signed =
        ask(host, SURFACE, &blob("presign", json!({"key": "k", "expiresInSeconds": 2}))).await;
    let url = signed.json()["url"].as_str().unwrap().to_owned();
    let within = exchange(host, &get(&url, "")).await;
    assert_eq!((within.status, within.body.as_slice()), (200, b"presigned-payload".as_slice()));
    assert_eq!(within.header("x-content-type-options"), Some("nosniff"));
    tokio::time::sleep(Duration::from_millis(2100)).await;
    assert_eq!(exchange(host, &get(&url, "")).await.status, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_is_no_host_passes_its_paths_on() {
    let (address, upstream) = Upstream::answering("{}").await;
    let gateway = gateway(address, "").await;
    assert_eq!(exchange(gateway, &get("/.well-known/openwop", "")).await.body, b"{}");
    assert!(upstream.last().head.contains("/.well-known/openwop"));
    // Without a store uploads fail, and calls still work.
    let (address, _) = Upstream::answering(COMPLETION).await;
    let host = crate::gateway(address, "[openwop]\nenabled = true\nmodel = 'gpt-4o'").await;
    let reply = ask(host, CALL, &json!({"messages": [{"role": "user", "content": "x"}]})).await;
    assert_eq!(reply.status, 200);
    let part = json!({"type": "image", "mimeType": "image/png", "mediaRef": "mr_x"});
    let reply = call(host, &part).await;
    assert_eq!((reply.status, &reply.json()["error"]), (404, &json!("host_capability_missing")));
}
