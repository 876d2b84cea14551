//! Models: other names, lists, requests that are no turns, and refusals.

use serde_json::{Value, json};

use super::{CHAT, CHAT_ANSWER, MESSAGES, QUESTION, closed, status, upstream};
use crate::caller::{exchange, get, post};
use crate::scripted::{Act, Upstream, ok};
use crate::started;

const FAST: &str = r#"{"messages":[{"role":"user","content":"fast"}], "model" : "fast" ,"n":1}"#;

#[tokio::test]
async fn another_name_is_replaced_and_nothing_else() {
    let (address, seen) = Upstream::answering(CHAT_ANSWER).await;
    let text = [
        upstream("a", address, "key = 'k'"),
        "[[model]]\nname = 'fast'\nupstreams = ['a/vendor/big-1']\n".to_owned(),
    ];
    let gateway = started(&text.concat()).await;
    let expected = FAST.replace("\"fast\" ,", "\"vendor/big-1\" ,");
    // Twice: the second request goes on with a conversation. The last one is passed on as it is.
    for headers in ["", "", "x-photic-off: 1\r\n"] {
        let reply = exchange(gateway, &post(CHAT, headers, FAST.as_bytes())).await;
        assert_eq!((reply.status, reply.header("x-photic-upstream")), (200, Some("a")));
        assert_eq!(String::from_utf8(seen.last().body).unwrap(), expected);
    }
    // Another model keeps its name.
    exchange(gateway, &post(CHAT, "", QUESTION.as_bytes())).await;
    assert_eq!(seen.last().body, QUESTION.as_bytes());
}

#[tokio::test]
async fn another_name_is_written_in_paths_and_across_wires() {
    let (address, seen) = Upstream::answering("{\"candidates\":[]}").await;
    let text = [
        upstream("a", address, "wire = 'gemini'\nkey = 'k'"),
        "[[model]]\nname = 'fast'\nupstreams = ['a/gemini-3-pro']\n".to_owned(),
    ];
    let gateway = started(&text.concat()).await;
    let body = br#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#;
    let path = "/v1beta/models/fast:generateContent";
    assert_eq!(exchange(gateway, &post(path, "", body)).await.status, 200);
    assert!(seen.last().head.starts_with("post /v1beta/models/gemini-3-pro:generatecontent "));
    assert_eq!(seen.last().body, body);
    assert_eq!(exchange(gateway, &post(CHAT, "", FAST.as_bytes())).await.status, 200);
    assert!(seen.last().head.starts_with("post /v1beta/models/gemini-3-pro:generatecontent "));
}

#[tokio::test]
async fn a_list_of_models_has_those_of_all_upstreams() {
    let (a, seen_a) = Upstream::start(|seen| {
        assert!(seen.head.starts_with("get /v1/models "), "{}", seen.head);
        let list = json!({"object": "list", "data": [
            {"id": "gpt-5", "object": "model", "created": 7, "owned_by": "openai"},
            {"id": "gpt-secret", "object": "model"},
            {"id": "whisper-1", "object": "model"}]});
        vec![Act::Send(ok(list.to_string().as_bytes()))]
    })
    .await;
    let (b, seen_b) = Upstream::start(|_| {
        let list = json!({"data": [{"type": "model", "id": "claude-x", "display_name": "X"}]});
        vec![Act::Send(ok(list.to_string().as_bytes()))]
    })
    .await;
    let text = [
        "[models]\nmerge = true\nshow = ['gpt-5', 'claude-*', 'fast', 'hidden']\n".to_owned(),
        upstream("a", a, "wire = 'openai-chat'\nkey = 'key-of-a'"),
        upstream("b", b, "wire = 'anthropic'\nmodels = ['claude-*']\nkey = 'key-of-b'"),
        upstream("away", closed().await, "wire = 'ollama'\nmodels = ['none']\nkey = 'k'"),
        "[[model]]\nname = 'fast'\nupstreams = ['a/gpt-5']\n".to_owned(),
        "[[model]]\nname = 'hidden'\nupstreams = ['a/gpt-5']\nhidden = true\n".to_owned(),
    ];
    let gateway = started(&text.concat()).await;
    let key = "authorization: Bearer of-caller\r\n";
    let reply = exchange(gateway, &get("/v1/models", key)).await;
    assert_eq!((reply.status, reply.header("x-photic-missing")), (200, Some("away")));
    let list = reply.json();
    let ids: Vec<&Value> = list["data"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
    assert_eq!(ids, ["claude-x", "fast", "gpt-5"]);
    assert_eq!(
        (&list["data"][2]["created"], &list["data"][0]["owned_by"]),
        (&7.into(), &"b".into())
    );
    for (seen, own) in [(&seen_a, "key-of-a"), (&seen_b, "key-of-b")] {
        let head = seen.last().head;
        assert!(head.contains(own) && !head.contains("of-caller"), "{head}");
    }
    let messages = "x-api-key: k\r\nanthropic-version: 2023-06-01\r\n";
    let list = exchange(gateway, &get("/v1/models", messages)).await.json();
    assert_eq!(
        (&list["data"][0]["display_name"], &list["last_id"]),
        (&"X".into(), &"gpt-5".into())
    );
    let one = exchange(gateway, &get("/v1/models/fast", "")).await;
    assert_eq!((one.status, &one.json()["id"]), (200, &"fast".into()));
    let none = exchange(gateway, &get("/v1/models/gpt-secret", "")).await;
    assert_eq!((none.status, none.header("x-photic-error")), (404, Some("no_such_model")));
}

#[tokio::test]
async fn embeddings_go_by_model_and_audio_by_path() {
    let (a, _) = Upstream::start(|_| status("503 Service Unavailable", "")).await;
    let (b, seen_b) = Upstream::answering("{\"data\":[]}").await;
    let (c, seen_c) = Upstream::answering("{}").await;
    let text = [
        upstream("a", a, "key = 'k'"),
        upstream("b", b, "key = 'k'"),
        upstream("c", c, "key = 'k'\npaths = ['/audio/*', '/files*']"),
        "[[model]]\nname = 'embed'\nupstreams = ['a', 'b/nomic-1']\n".to_owned(),
    ];
    let gateway = started(&text.concat()).await;
    let reply =
        exchange(gateway, &post("/v1/embeddings", "", br#"{"input":"embed","model":"embed"}"#))
            .await;
    let said = reply.header("x-photic-upstream");
    assert_eq!((reply.status, said), (200, Some("b; failed=\"a:server_error\"")));
    assert_eq!(seen_b.last().body, br#"{"input":"embed","model":"nomic-1"}"#);
    assert!(seen_b.last().head.starts_with("post /v1/embeddings "));
    for request in [
        post("/v1/audio/speech", "", br#"{"model":"tts","input":"x"}"#),
        get("/v1/files/file-1", ""),
    ] {
        let before = seen_c.seen.lock().unwrap().len();
        assert_eq!(exchange(gateway, &request).await.status, 200);
        assert_eq!(seen_c.seen.lock().unwrap().len(), before + 1);
    }
}

#[tokio::test]
async fn what_no_setting_names_can_be_denied() {
    let (address, seen) = Upstream::answering(CHAT_ANSWER).await;
    let text = [
        "[models]\ndeny_unmatched = true\nmerge = true\n".to_owned(),
        upstream("a", address, "models = ['gpt-*']\npaths = ['/files']\nkey = 'k'"),
        upstream("b", address, "key = 'k'"),
        "[[model]]\nname = 'fast'\nupstreams = ['b/x']\n".to_owned(),
    ];
    let gateway = started(&text.concat()).await;
    let asking = |path, model: &str| post(path, "", QUESTION.replace("\"m\"", model).as_bytes());
    for request in [
        asking(CHAT, "\"other\""),
        asking(MESSAGES, "\"other\""),
        asking(CHAT, "7"),
        post(CHAT, "", b"no json"),
        post(CHAT, "x-photic-off: 1\r\n", QUESTION.as_bytes()),
        post("/v1/embeddings", "", br#"{"model":"other","input":"x"}"#),
        post("/v1/anything", "", b"x"),
        get("/v1/batches", ""),
    ] {
        let reply = exchange(gateway, &request).await;
        assert_eq!((reply.status, reply.header("x-photic-error")), (404, Some("not_configured")));
        let message = reply.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains("`/v1/models`") && message.contains("`[[model]]`"), "{message}");
    }
    assert!(seen.seen.lock().unwrap().is_empty());
    for request in [asking(CHAT, "\"gpt-5\""), asking(CHAT, "\"fast\""), get("/v1/files", "")] {
        assert_eq!(exchange(gateway, &request).await.status, 200);
    }
}
