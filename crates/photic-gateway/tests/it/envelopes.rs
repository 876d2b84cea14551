//! Paths with prefixes and the envelopes of cloud providers are read like the paths of the wires
//! themselves, and a request that is not read says so.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic::{Policy, Profile, Wire};
use photic_mock::{Mock, Options};
use photic_testkit::image;
use serde_json::{Value, json};

use crate::caller::{Reply, exchange, get, post};
use crate::encodings::{CODINGS, encoded};
use crate::pairs::{path, turn};
use crate::scripted::Upstream;
use crate::{gateway, started};

const KEY: &str = "authorization: Bearer k\r\n";

/// Prefixes of paths, and whether clients put the version of the API before the rest of the path.
const PREFIXES: [(&str, bool); 9] = [
    ("", true),
    ("/openai/v1", false),
    ("/openai/deployments/d", false),
    ("/api/v1", false),
    ("/v1beta/openai", false),
    ("/compatible-mode/v1", false),
    ("/anthropic", true),
    ("/backend-api/codex", false),
    ("/team/a/proxy", true),
];

/// Returns the path of a turn behind a prefix, with the query that Azure wants.
fn prefixed((prefix, is_versioned): (&str, bool), path: &str) -> String {
    // Without any version only OpenAI's paths are sent.
    let is_versioned = is_versioned || (path == "/v1/messages" && !prefix.ends_with("/v1"));
    let rest = match path.strip_prefix("/v1/") {
        Some(rest) if !is_versioned => rest,
        _ => &path[1..],
    };
    let query = match (prefix.contains("/deployments/"), path.contains('?')) {
        (true, false) => "?api-version=2026-01-01",
        (true, true) => "&api-version=2026-01-01",
        (false, _) => "",
    };
    format!("{prefix}/{rest}{query}")
}

/// Returns a turn in which a tool has returned a picture as text, which no model sees.
fn blind(wire: Wire, stream: bool) -> Vec<u8> {
    let call = json!({"id": "call_1", "type": "function",
        "function": {"name": "take", "arguments": "{}"}});
    let chat = json!({"model": "some-model", "stream": stream, "messages": [
        {"role": "user", "content": "What is it?"},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "PICTURE"}],
        "tools": [{"type": "function", "function": {"name": "take", "parameters":
            {"type": "object", "properties": {}}}}]});
    let chat = chat.to_string().into_bytes();
    let (transcript, _) = photic::lift(Wire::OpenAiChat, &chat);
    let profile = Profile::generic(wire);
    let plan = photic::plan(photic::survey(&transcript), &profile, &Policy::hands_off());
    let body = String::from_utf8(photic::lower(&transcript, &plan).body.to_vec()).unwrap();
    assert_eq!(body.matches("PICTURE").count(), 1, "{body}");
    body.replace("PICTURE", &image::data_url("image/png", &image::png(300, 200, [200, 10, 20])))
        .into_bytes()
}

/// Returns a Messages body as clouds take it: without a model, and with the version inside.
fn enveloped(version: &str) -> Vec<u8> {
    let mut body: Value = serde_json::from_slice(&turn(Wire::Anthropic, false)).unwrap();
    let members = body.as_object_mut().unwrap();
    members.remove("model");
    members.remove("stream");
    members.insert("anthropic_version".to_owned(), version.into());
    body.to_string().into_bytes()
}

/// Returns the text of a whole stream of Amazon frames, each with an event of Messages.
fn said(streamed: &Reply) -> String {
    let mut said = String::new();
    let mut kinds = Vec::new();
    for frame in String::from_utf8_lossy(&streamed.body).split("{\"bytes\":\"").skip(1) {
        let event = STANDARD.decode(frame.split('"').next().unwrap()).unwrap();
        let event: Value = serde_json::from_slice(&event).unwrap();
        said.push_str(event["delta"]["text"].as_str().unwrap_or_default());
        kinds.push(event["type"].as_str().unwrap().to_owned());
    }
    assert_eq!(kinds.first().map(String::as_str), Some("message_start"));
    assert_eq!(kinds.last().map(String::as_str), Some("message_stop"));
    said
}

/// Nine prefixes, four encodings, six wires, streamed or not: repaired, or refused for a stated reason.
#[tokio::test]
async fn behind_every_prefix_and_encoding_a_picture_is_repaired_on_every_wire() {
    let (address, upstream) = Upstream::answering("{}").await;
    let gateway = gateway(address, "").await;
    let (mut repaired, mut refused, mut silent) = (0, 0, Vec::new());
    for (wire, stream) in Wire::ALL.into_iter().flat_map(|wire| [(wire, false), (wire, true)]) {
        let body = blind(wire, stream);
        let bodies = CODINGS.map(|coding| (coding, encoded(coding, &body)));
        let mut first = None;
        for (prefix, (coding, body)) in
            PREFIXES.iter().flat_map(|prefix| bodies.iter().map(move |body| (prefix, body)))
        {
            let whole = prefixed(*prefix, &path(wire, stream));
            let headers = format!("content-encoding: {coding}\r\n");
            let reply = exchange(gateway, &post(&whole, &headers, body)).await;
            let what = format!("{whole} {coding}: {}", reply.head);
            if reply.header("x-photic-error").is_some() {
                refused += 1;
                continue;
            }
            let fixes = reply.header("x-photic-fixes").and_then(|count| count.parse::<u32>().ok());
            if reply.header("x-photic-passed").is_some() || fixes.unwrap_or(0) == 0 {
                silent.push(what);
                continue;
            }
            repaired += 1;
            let seen = upstream.last();
            let line = format!("post {whole} http/1.1\r\n").to_lowercase();
            assert!(seen.head.starts_with(&line), "{what}: {}", seen.head);
            assert_eq!(first.get_or_insert(seen.body.clone()), &seen.body, "{what}");
        }
    }
    assert_eq!(silent, Vec::<String>::new());
    assert_eq!((repaired, refused), (9 * 4 * 6 * 2, 0));
}

/// Gemini CLI counts the new message of a turn by itself: a result without its call.
#[tokio::test]
async fn a_part_of_a_conversation_is_counted_as_it_is() {
    let (address, upstream) = Upstream::answering(r#"{"totalTokens":7}"#).await;
    let gateway = gateway(address, "").await;
    let png = image::base64(&image::png_noise(8, 8, 1));
    let part = json!({"inlineData": {"mimeType": "image/png", "data": png}});
    let result = json!({"functionResponse": {"name": "read", "response": {}, "parts": [part]}});
    let body = json!({"contents": [{"role": "user", "parts": [result]}]}).to_string();
    let path = "/v1beta/models/gemini-3-pro-preview:countTokens";
    let reply = exchange(gateway, &post(path, "x-goog-api-key: k\r\n", body.as_bytes())).await;
    assert_eq!((reply.status, reply.header("x-photic-fixed")), (200, None));
    assert_eq!(reply.header("x-photic-passed"), None);
    assert_eq!(String::from_utf8_lossy(&upstream.last().body), body);
}

#[tokio::test]
async fn a_prefix_of_the_upstream_is_not_doubled() {
    let (address, upstream) = Upstream::answering("{}").await;
    for (base, path, sent) in [
        ("/api/v1", "/api/v1/chat/completions", "/api/v1/chat/completions"),
        (
            "/openai/v1",
            "/openai/deployments/d/chat/completions",
            "/openai/deployments/d/chat/completions",
        ),
        ("/anthropic", "/anthropic/v1/messages", "/anthropic/v1/messages"),
        ("/v1", "/v1/model/m/invoke", "/v1/model/m/invoke"),
        ("/proxy", "/api/v1/chat/completions", "/proxy/api/v1/chat/completions"),
        ("/api/v1", "/api/v1/embeddings", "/api/v1/embeddings"),
        ("/anthropic", "/anthropic/v1/files", "/anthropic/v1/files"),
        ("/anthropic", "/anthropic/v1/messages/batches", "/anthropic/v1/messages/batches"),
        ("/proxy", "/api/v1/embeddings", "/proxy/api/v1/embeddings"),
    ] {
        let gateway = started(&format!("[[upstream]]\nurl = 'http://{address}{base}'")).await;
        let query = "?api-version=2026-01-01";
        let reply =
            exchange(gateway, &post(&format!("{path}{query}"), "", b"{\"messages\":[]}")).await;
        assert_eq!(reply.status, 200);
        let line = format!("post {sent}{query} ");
        assert!(upstream.last().head.starts_with(&line), "{}", upstream.last().head);
    }
}

#[tokio::test]
async fn messages_in_the_envelopes_of_clouds_are_repaired() {
    let (address, upstream) = Upstream::answering("{}").await;
    let gateway = gateway(address, "").await;
    let mut body: Value = serde_json::from_slice(&enveloped("bedrock-2023-05-31")).unwrap();
    // A wrong label, which both clouds reject.
    let source = body.pointer_mut("/messages/2/content/0/content/1/source/media_type").unwrap();
    *source = json!("image/jpeg");
    for path in [
        "/model/us.anthropic.claude-sonnet-4-5%3A0/invoke",
        "/model/us.anthropic.claude-sonnet-4-5%3A0/invoke-with-response-stream",
        "/v1/projects/p/locations/l/publishers/anthropic/models/claude-sonnet-4-5:rawPredict",
        "/v1/projects/p/locations/l/publishers/anthropic/models/claude-sonnet-4-5:streamRawPredict",
    ] {
        let reply = exchange(gateway, &post(path, "", body.to_string().as_bytes())).await;
        assert_eq!(reply.status, 200, "{path}");
        assert_eq!(reply.header("x-photic-passed"), None, "{path}");
        assert_eq!(reply.header("x-photic-fixes"), Some("1"), "{path}: {}", reply.head);
        let seen = upstream.last();
        assert!(seen.head.starts_with(&format!("post {} ", path.to_lowercase())), "{}", seen.head);
        let sent: Value = serde_json::from_slice(&seen.body).unwrap();
        assert_eq!(
            sent.pointer("/messages/2/content/0/content/1/source/media_type").unwrap(),
            "image/png"
        );
        assert_eq!(sent["anthropic_version"], "bedrock-2023-05-31");
        assert!(sent.get("model").is_none() && sent.get("stream").is_none());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_envelope_is_translated_for_an_upstream_of_another_wire() {
    let mock =
        tokio::task::spawn_blocking(|| Mock::start(Options::default()).unwrap()).await.unwrap();
    let settings = format!(
        "[[upstream]]\nurl = 'http://{}'\nwire = 'openai-chat'\nmodels = ['*']",
        mock.address()
    );
    let gateway = started(&settings).await;
    let body = enveloped("bedrock-2023-05-31");
    let text = |reply: &Reply| reply.json()["content"][0]["text"].as_str().unwrap().to_owned();
    let whole = exchange(gateway, &post("/model/some-model/invoke", KEY, &body)).await;
    assert_eq!(whole.status, 200, "{}", String::from_utf8_lossy(&whole.body));
    assert!(!text(&whole).is_empty());
    let path = "/model/some-model/invoke-with-response-stream";
    let streamed = exchange(gateway, &post(path, KEY, &body)).await;
    let kind = streamed.header("content-type");
    assert_eq!((streamed.status, kind), (200, Some("application/vnd.amazon.eventstream")));
    assert_eq!(said(&streamed), text(&whole));
    tokio::task::spawn_blocking(|| drop(mock)).await.unwrap();
}

#[tokio::test]
async fn an_envelope_is_taken_off_for_an_upstream_of_the_wire_inside() {
    let (address, upstream) = Upstream::answering("{}").await;
    let settings =
        format!("[[upstream]]\nurl = 'http://{address}'\nwire = 'anthropic'\nmodels = ['*']");
    let gateway = started(&settings).await;
    let mut body: Value = serde_json::from_slice(&enveloped("bedrock-2023-05-31")).unwrap();
    body["anthropic_beta"] = json!(["a-1", "b-2"]);
    for (path, is_streamed) in [
        ("/model/claude-sonnet-4-5%3A0/invoke", false),
        ("/model/claude-sonnet-4-5%3A0/invoke-with-response-stream", true),
        ("/v1/projects/p/publishers/anthropic/models/claude-sonnet-4-5:0:rawPredict", false),
    ] {
        let reply = exchange(gateway, &post(path, KEY, body.to_string().as_bytes())).await;
        assert_eq!((reply.status, reply.body.as_slice()), (200, b"{}".as_slice()), "{path}");
        let seen = upstream.last();
        assert!(seen.head.starts_with("post /v1/messages http/1.1\r\n"), "{}", seen.head);
        assert!(seen.head.contains("\r\nanthropic-version: 2023-06-01\r\n"), "{}", seen.head);
        assert!(seen.head.contains("\r\nx-api-key: k\r\n"), "{}", seen.head);
        let sent: Value = serde_json::from_slice(&seen.body).unwrap();
        let mut expected = body.clone();
        let members = expected.as_object_mut().unwrap();
        members.remove("anthropic_version");
        if path.starts_with("/model") {
            members.remove("anthropic_beta");
            assert!(seen.head.contains("\r\nanthropic-beta: a-1,b-2\r\n"), "{}", seen.head);
        }
        members.insert("model".to_owned(), "claude-sonnet-4-5:0".into());
        if is_streamed {
            members.insert("stream".to_owned(), true.into());
        }
        assert_eq!(sent, expected, "{path}");
    }
    // What is not read cannot be changed.
    let off = format!("x-photic-off: 1\r\n{KEY}");
    let reply = exchange(gateway, &post("/model/m/invoke", &off, b"{}")).await;
    assert_eq!((reply.status, reply.header("x-photic-error")), (404, Some("other_api")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_gets_the_frames_of_the_envelope_that_was_taken_off() {
    let mock =
        tokio::task::spawn_blocking(|| Mock::start(Options::default()).unwrap()).await.unwrap();
    let settings =
        format!("[[upstream]]\nurl = '{}'\nwire = 'anthropic'\nmodels = ['*']", mock.url());
    let gateway = started(&settings).await;
    let body = enveloped("bedrock-2023-05-31");
    let whole = exchange(gateway, &post("/model/some-model/invoke", KEY, &body)).await;
    assert_eq!(whole.status, 200, "{}", String::from_utf8_lossy(&whole.body));
    let path = "/model/some-model/invoke-with-response-stream";
    let streamed = exchange(gateway, &post(path, KEY, &body)).await;
    let kind = streamed.header("content-type");
    assert_eq!((streamed.status, kind), (200, Some("application/vnd.amazon.eventstream")));
    assert_eq!(said(&streamed), whole.json()["content"][0]["text"].as_str().unwrap());
    tokio::task::spawn_blocking(|| drop(mock)).await.unwrap();
}

#[tokio::test]
async fn a_request_that_is_not_read_says_why() {
    let (address, _) = Upstream::answering("{}").await;
    let gateway = gateway(address, "").await;
    for (path, headers, body, reason) in [
        ("/v1/completions", "", b"{\"prompt\":\"x\"}".as_slice(), Some("unknown_path")),
        ("/v1beta/interactions", "", b"{}", Some("unknown_path")),
        ("/v1/chat/completions", "x-photic-off: 1\r\n", b"{\"messages\":[]}", Some("off")),
        ("/v1/chat/completions", "", b"not json", Some("unreadable_body")),
        ("/v1/messages/batches", "", b"not json", Some("unreadable_body")),
        ("/v1/messages/batches", "", b"{\"requests\":[{\"params\":[]}]}", Some("unreadable_body")),
        ("/v1/messages/count_tokens", "", b"not json", Some("unreadable_body")),
        ("/v1/conversations", "", b"{\"items\":[]}", Some("unknown_path")),
        ("/v1/messages", "content-encoding: snappy\r\n", b"{}", Some("unknown_encoding")),
        ("/v1/chat/completions", "", b"{\"messages\":[]}", None),
        ("/v1/embeddings", "", b"{\"input\":\"x\"}", None),
    ] {
        let reply = exchange(gateway, &post(path, headers, body)).await;
        assert_eq!((reply.status, reply.header("x-photic-passed")), (200, reason), "{path}");
    }
    assert_eq!(exchange(gateway, &get("/v1/models", "")).await.header("x-photic-passed"), None);
    let page = exchange(gateway, &get("/metrics", "")).await;
    let page = String::from_utf8(page.body).unwrap();
    for line in [
        "photic_passed_total{reason=\"unknown_path\"} 3",
        "photic_passed_total{reason=\"off\"} 1",
        "photic_passed_total{reason=\"unreadable_body\"} 4",
        "photic_passed_total{reason=\"unknown_encoding\"} 1",
    ] {
        assert!(page.contains(line), "{line} in {page}");
    }
}

#[tokio::test]
async fn a_cloud_without_a_single_host_needs_an_upstream() {
    let gateway = started("").await;
    let path = "/v1/projects/p/locations/l/publishers/anthropic/models/c:rawPredict";
    let reply = exchange(gateway, &post(path, "authorization: Bearer ya29.x\r\n", b"{}")).await;
    assert_eq!((reply.status, reply.header("x-photic-error")), (404, Some("no_upstream")));
}

#[tokio::test]
async fn every_turn_of_a_batch_is_repaired() {
    let (address, upstream) = Upstream::answering("{}").await;
    let gateway = gateway(address, "").await;
    let chat = String::from_utf8(turn(Wire::OpenAiChat, false)).unwrap();
    let line = format!(
        "{{\"custom_id\":\"a\",\"method\":\"POST\",\"url\":\"/v1/chat/completions\",\"body\":{chat}}}"
    );
    let file = format!("{line}\nno line\n{line}\n");
    let reply = exchange(gateway, &upload(&file)).await;
    assert_eq!((reply.status, reply.header("x-photic-fixed")), (200, Some("hoisted=2")));
    let sent = String::from_utf8(upstream.last().body).unwrap();
    let lines: Vec<&str> = sent.lines().filter(|line| line.starts_with("{\"custom_id\"")).collect();
    assert_eq!(lines.len(), 2);
    let whole: Value = serde_json::from_str(lines[0]).unwrap();
    assert_eq!(whole["body"]["messages"][4]["role"], "user");
    assert!(sent.starts_with("--b\r\n") && sent.ends_with("\r\n--b--\r\n"));

    let mut params: Value = serde_json::from_slice(&turn(Wire::Anthropic, false)).unwrap();
    let label = params.pointer_mut("/messages/2/content/0/content/1/source/media_type").unwrap();
    *label = json!("image/jpeg");
    let batch = json!({"requests": [{"custom_id": "a", "params": params}]}).to_string();
    let reply = exchange(gateway, &post("/v1/messages/batches", "", batch.as_bytes())).await;
    assert_eq!((reply.status, reply.header("x-photic-fixes")), (200, Some("1")));
    let sent: Value = serde_json::from_slice(&upstream.last().body).unwrap();
    let label = "/requests/0/params/messages/2/content/0/content/1/source/media_type";
    assert_eq!(sent.pointer(label).unwrap(), "image/png");
}

/// Returns an upload of a batch with these lines.
fn upload(lines: &str) -> Vec<u8> {
    let form = format!(
        "--b\r\ncontent-disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--b\r\n\
         content-disposition: form-data; name=\"file\"; filename=\"x.jsonl\"\r\n\r\n{lines}\r\n--b--\r\n"
    );
    let request = String::from_utf8(post("/v1/files", "", form.as_bytes())).unwrap();
    request.replace("application/json", "multipart/form-data; boundary=b").into_bytes()
}

#[tokio::test]
async fn a_batch_says_which_lines_were_not_read() {
    let (address, _) = Upstream::answering("{}").await;
    let gateway = gateway(address, "").await;
    let read = "{\"url\":\"/v1/chat/completions\",\"body\":{\"messages\":[]}}";
    for (line, reason) in [
        (read, None),
        ("{\"url\":\"/v1/embeddings\",\"body\":{\"input\":\"x\"}}", None),
        ("{\"url\":\"/v1/completions\",\"body\":{\"prompt\":\"x\"}}", Some("unknown_path")),
        ("{\"url\":\"/v1/chat/completions\",\"body\":[1]}", Some("unreadable_body")),
    ] {
        let reply = exchange(gateway, &upload(&format!("{read}\n{line}\n{read}"))).await;
        assert_eq!((reply.status, reply.header("x-photic-passed")), (200, reason), "{line}");
    }
}

#[tokio::test]
async fn an_upload_that_is_no_batch_is_not_touched() {
    let (address, upstream) = Upstream::answering("{}").await;
    let gateway = gateway(address, "").await;
    let form = "--b\r\ncontent-disposition: form-data; name=\"file\"\r\n\r\n{\"a\":1}\r\n--b--\r\n";
    let request = String::from_utf8(post("/v1/files", "", form.as_bytes())).unwrap();
    let request = request.replace("application/json", "multipart/form-data; boundary=b");
    let reply = exchange(gateway, request.as_bytes()).await;
    assert_eq!((reply.status, reply.header("x-photic-passed")), (200, None));
    assert_eq!(upstream.last().body, form.as_bytes());
}
