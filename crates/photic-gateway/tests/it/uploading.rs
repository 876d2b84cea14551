//! An image is uploaded once, and later requests contain a reference instead of its bytes, on every
//! wire. The model sees no difference.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic_store::LocalStore;
use serde_json::json;

use crate::caller::{Reply, exchange, get, post};
use crate::fixing::{conversation, picture};
use crate::gateway;
use crate::scripted::{Act, Upstream, ok};

fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("uploading-{name}"));
    let _ = std::fs::remove_dir_all(&path);
    path
}

fn settings(directory: &Path, retention: &str) -> String {
    let directory = directory.display();
    format!(
        "[policy]\nretention = '{retention}'\n[record]\nacknowledge = true\ndirectory = '{directory}'"
    )
}

/// Uploads an image, and returns its reference.
async fn upload(gateway: SocketAddr, query: &str, bytes: &[u8]) -> String {
    let reply = exchange(gateway, &post(&format!("/photic/v1/media{query}"), "", bytes)).await;
    assert_eq!(reply.status, 201, "{reply:?}");
    reply.json()["address"].as_str().unwrap().to_owned()
}

/// Replaces the images of a conversation by references.
async fn named(gateway: SocketAddr, body: &str, names: &mut BTreeMap<String, String>) -> String {
    let mut parts: Vec<String> = Vec::new();
    for (at, part) in body.split("data:image/png;base64,").enumerate() {
        let (data, rest) = if at == 0 { ("", part) } else { part.split_once('"').unwrap() };
        if at > 0 {
            if !names.contains_key(data) {
                let bytes = STANDARD.decode(data).unwrap();
                names.insert(data.to_owned(), upload(gateway, "", &bytes).await);
            }
            parts.push(names[data].clone() + "\"");
        }
        parts.push(rest.to_owned());
    }
    parts.concat()
}

async fn said(gateway: SocketAddr, body: &str) -> Reply {
    exchange(gateway, &post("/v1/chat/completions", "", body.as_bytes())).await
}

async fn remove(gateway: SocketAddr, path: &str) -> Reply {
    let request = format!("DELETE {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    exchange(gateway, request.as_bytes()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn names_and_bytes_look_the_same_to_the_model_and_cost_a_fraction() {
    for retention in ["all", "newest(2)"] {
        let directory = directory(&retention[..3]);
        let (address, upstream) = Upstream::answering("{\"ok\":true}").await;
        let gateway = gateway(address, &settings(&directory, retention)).await;
        let (mut sent_inline, mut sent_by_name, mut names) = (0, 0, BTreeMap::new());
        for turn in 1..=6 {
            let inline = conversation(turn, 30_000);
            assert_eq!(said(gateway, &inline).await.status, 200);
            let seen = upstream.last().body;
            let by_name = named(gateway, &inline, &mut names).await;
            let reply = said(gateway, &by_name).await;
            assert_eq!(reply.status, 200);
            assert!(upstream.last().body == seen, "{retention}: turn {turn} looks different");
            let kept = reply.header("x-photic-turn").expect("an acknowledged turn");
            let (session, number) = kept.split_once('/').unwrap();
            assert_eq!(number, turn.to_string());
            let store = LocalStore::open(&directory).unwrap();
            let session = session.parse().unwrap();
            let number = number.parse().unwrap();
            assert!(store.body(&session, number).await.unwrap() == by_name.as_bytes());
            assert!(store.lower(&session, number).await.unwrap().body == seen, "{retention}");
            sent_inline += inline.len();
            sent_by_name += by_name.len() + 30_000;
        }
        assert!(sent_inline > 4 * sent_by_name, "{sent_inline} {sent_by_name}");
        assert_eq!(names.len(), 6);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_wire_takes_a_name() {
    let directory = directory("wires");
    let (address, upstream) = Upstream::answering("{}").await;
    let gateway = gateway(address, &settings(&directory, "all")).await;
    let data = picture(7, 30_000);
    let name = upload(gateway, "", &STANDARD.decode(&data).unwrap()).await;
    let image = |part: serde_json::Value| json!([{"role": "user", "content": [part]}]);
    for (path, body) in [
        (
            "/v1/chat/completions",
            json!({"model": "gpt-4o", "messages": image(json!({"type": "image_url", "image_url": {"url": name}}))}),
        ),
        (
            "/v1/responses",
            json!({"model": "gpt-4o", "input": image(json!({"type": "input_image", "image_url": name}))}),
        ),
        (
            "/v1/messages",
            json!({"model": "claude-opus-4-5", "max_tokens": 1, "messages":
                image(json!({"type": "image", "source": {"type": "url", "url": name}}))}),
        ),
        (
            "/v1beta/models/gemini-3-pro:generateContent",
            json!({"contents": [{"role": "user", "parts":
                [{"fileData": {"mimeType": "image/png", "fileUri": name}}]}]}),
        ),
        (
            "/model/anthropic.claude-opus-4/converse",
            json!({"messages": image(json!({"image": {"format": "png", "source": {"bytes": name}}}))}),
        ),
        (
            "/api/chat",
            json!({"model": "gemma3", "messages": [{"role": "user", "content": "x", "images": [name]}]}),
        ),
    ] {
        let reply = exchange(gateway, &post(path, "", body.to_string().as_bytes())).await;
        assert_eq!(reply.status, 200, "{path} {reply:?}");
        let seen = String::from_utf8(upstream.last().body).unwrap();
        assert!(seen.contains(&data) && !seen.contains("photic:"), "{path} {seen}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_over_or_never_was_is_told_to_the_model_and_never_sent_as_an_address() {
    let directory = directory("over");
    let (address, upstream) = Upstream::answering("{}").await;
    let gateway = gateway(address, &settings(&directory, "all")).await;
    let bytes = STANDARD.decode(picture(1, 9_000)).unwrap();
    let short = upload(gateway, "?ttl_s=1", &bytes).await;
    let removed = upload(gateway, "", &bytes).await;
    let path = format!("/photic/v1/media/{}", removed.strip_prefix("photic:").unwrap());
    assert_eq!(exchange(gateway, &get(&path, "")).await.status, 200);
    assert_eq!(remove(gateway, &path).await.status, 200);
    let again = remove(gateway, &path).await;
    tokio::time::sleep(Duration::from_millis(1100)).await;
    let random = "photic:mr_00000000000000000000000000";
    let mut told = Vec::new();
    for name in [short.as_str(), &removed, random, "photic:nonsense"] {
        let asked = format!("/photic/v1/media/{}", name.strip_prefix("photic:").unwrap());
        let reply = exchange(gateway, &get(&asked, "")).await;
        assert_eq!((reply.status, reply.body.clone()), (404, again.body.clone()), "{name}");
        let body = json!({"model": "gpt-4o", "messages": [{"role": "user", "content":
            [{"type": "image_url", "image_url": {"url": name}}]}]});
        assert_eq!(said(gateway, &body.to_string()).await.status, 200);
        let seen = String::from_utf8(upstream.last().body).unwrap();
        assert!(seen.contains("image not shown") && !seen.contains("photic:"), "{seen}");
        told.push(seen);
    }
    told.dedup();
    assert_eq!(told.len(), 1, "who asks cannot tell why: {told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_shows_a_picture_for_its_time_and_nothing_but_pictures_are_taken() {
    let directory = directory("shown");
    let (address, _) = Upstream::answering("{}").await;
    let gateway = gateway(address, &settings(&directory, "all")).await;
    for page in ["<html><script>", "<svg xmlns='http://www.w3.org/2000/svg'></svg>", ""] {
        let reply = exchange(gateway, &post("/photic/v1/media", "", page.as_bytes())).await;
        assert_eq!(reply.status, 415, "{page}");
    }
    let bytes = STANDARD.decode(picture(1, 9_000)).unwrap();
    let name = upload(gateway, "", &bytes).await;
    let path = format!("/photic/v1/media/{}", name.strip_prefix("photic:").unwrap());
    let content = exchange(gateway, &get(&format!("{path}/content"), "")).await;
    assert!(content.body == bytes);
    let wish = post(&format!("{path}/address"), "", b"{\"ttl_s\":1}");
    let signed = exchange(gateway, &wish).await.json()["path"].as_str().unwrap().to_owned();
    let shown = exchange(gateway, &get(&signed, "")).await;
    assert!(shown.status == 200 && shown.body == bytes, "{shown:?}");
    for (name, value) in [
        ("content-type", "image/png"),
        ("x-content-type-options", "nosniff"),
        ("content-disposition", "attachment"),
    ] {
        assert_eq!(shown.header(name), Some(value));
    }
    let mut changed = signed.clone();
    let last = changed.pop();
    changed.push(if last == Some('0') { '1' } else { '0' });
    assert_eq!(exchange(gateway, &get(&changed, "")).await.status, 403);
    tokio::time::sleep(Duration::from_millis(1100)).await;
    assert_eq!(exchange(gateway, &get(&signed, "")).await.status, 403, "its time is over");
}

/// Bodies made from references are not held while the model answers, and are made again after a
/// rejection.
#[tokio::test(flavor = "multi_thread")]
async fn a_rejection_of_what_came_by_name_is_healed() {
    let directory = directory("healed");
    let refuse = |text: &str| {
        let length = text.len();
        let head = format!("HTTP/1.1 400 Bad Request\r\ncontent-length: {length}\r\n\r\n{text}");
        Act::Send(head.into_bytes())
    };
    let (address, upstream) = Upstream::start(move |seen| {
        let body = String::from_utf8_lossy(&seen.body);
        vec![if body.contains("data:image/png") {
            refuse(r#"{"error":{"message":"This model does not support image inputs."}}"#)
        } else {
            Act::Send(ok(b"{}"))
        }]
    })
    .await;
    let gateway = gateway(address, &settings(&directory, "all")).await;
    let name = upload(gateway, "", &STANDARD.decode(picture(1, 9_000)).unwrap()).await;
    let body = json!({"model": "some-model", "messages": [{"role": "user", "content":
        [{"type": "image_url", "image_url": {"url": name}}]}]});
    let reply = said(gateway, &body.to_string()).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    assert!(reply.header("x-photic-healed").is_some(), "{reply:?}");
    assert_eq!(upstream.seen.lock().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_store_nothing_is_taken() {
    let (address, _) = Upstream::answering("{}").await;
    let gateway = gateway(address, "").await;
    let bytes = STANDARD.decode(picture(1, 9_000)).unwrap();
    let reply = exchange(gateway, &post("/photic/v1/media", "", &bytes)).await;
    assert_eq!((reply.status, reply.header("x-photic-error")), (501, Some("no_store")));
}
