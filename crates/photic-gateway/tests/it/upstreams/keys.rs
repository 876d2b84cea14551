//! Keys arrive where they were meant to, and nowhere else.

use std::path::PathBuf;
use std::time::Duration;

use photic_gateway::Config;

use super::{CHAT, CHAT_ANSWER, MESSAGES, MESSAGES_ANSWER, QUESTION, upstream};
use crate::caller::{exchange, get, post};
use crate::scripted::{Act, Upstream, ok};
use crate::started;

/// Headers with keys and accounts of a caller.
const OF_CALLER: &str = "authorization: Bearer of-caller\r\nx-api-key: of-caller\r\n\
    x-goog-api-key: of-caller\r\napi-key: of-caller\r\ncookie: a=of-caller\r\n\
    openai-organization: of-caller\r\nopenai-project: of-caller\r\n\
    anthropic-version: 2023-06-01\r\n";

/// A file that is removed at the end.
struct KeyFile(PathBuf);

impl KeyFile {
    fn new(name: &str, key: &str) -> Self {
        let path = std::env::temp_dir().join(format!("photic-{name}-{}", std::process::id()));
        std::fs::write(&path, key).unwrap();
        Self(path)
    }
}

impl Drop for KeyFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn asking(model: &str) -> String {
    QUESTION.replace("\"m\"", &format!("\"{model}\""))
}

#[tokio::test]
async fn an_upstream_with_a_key_gets_nothing_of_the_caller() {
    let file = KeyFile::new("own-key", "key-of-b\n");
    let (a, seen_a) = Upstream::answering(CHAT_ANSWER).await;
    let (b, seen_b) = Upstream::answering(MESSAGES_ANSWER).await;
    let (c, seen_c) = Upstream::answering(CHAT_ANSWER).await;
    // A variable that is set in every test.
    let settings = [
        upstream("a", a, "wire = 'openai-chat'\nmodels = ['a-*']\nkey = 'key-of-a'"),
        upstream(
            "b",
            b,
            &format!("wire = 'anthropic'\nmodels = ['b-*']\nkey = 'file:{}'", file.0.display()),
        ),
        upstream(
            "c",
            c,
            "wire = 'openai-chat'\nmodels = ['c-*']\n\
             headers = { api-key = '${CARGO_PKG_NAME}', x-team = 'sight' }",
        ),
    ];
    let gateway = started(&settings.concat()).await;
    for path in [CHAT, MESSAGES] {
        for (model, upstream, own, others) in [
            ("a-1", &seen_a, "authorization: bearer key-of-a\r\n", ["key-of-b", "photic-gateway"]),
            ("b-1", &seen_b, "x-api-key: key-of-b\r\n", ["key-of-a", "photic-gateway"]),
            ("c-1", &seen_c, "api-key: photic-gateway\r\n", ["key-of-a", "key-of-b"]),
        ] {
            let asked = format!("{path}?key=of-caller&beta=true");
            let request = post(&asked, OF_CALLER, asking(model).as_bytes());
            assert_eq!(exchange(gateway, &request).await.status, 200, "{model} {path}");
            let head = upstream.last().head;
            assert!(head.contains(own), "{model} {path}: {head}");
            assert!(!head.contains("of-caller"), "{model} {path}: {head}");
            assert!(!others.iter().any(|other| head.contains(other)), "{model} {path}: {head}");
        }
    }
    assert!(seen_c.last().head.contains("x-team: sight\r\n"));
}

#[tokio::test]
async fn requests_that_are_no_turns_get_the_own_key_too() {
    let (address, upstream_seen) = Upstream::answering("{\"data\":[]}").await;
    let gateway = started(&upstream("a", address, "key = 'key-of-a'")).await;
    for request in [
        get("/v1/models", OF_CALLER),
        get("/v1/files?key=of-caller", OF_CALLER),
        post("/v1/embeddings", OF_CALLER, br#"{"model":"e","input":"x"}"#),
        post("/v1/messages/batches", OF_CALLER, br#"{"requests":[]}"#),
        post(CHAT, &format!("{OF_CALLER}x-photic-off: 1\r\n"), QUESTION.as_bytes()),
    ] {
        assert_eq!(exchange(gateway, &request).await.status, 200);
        let head = upstream_seen.last().head;
        assert!(head.contains("key-of-a") && !head.contains("of-caller"), "{head}");
    }
}

#[tokio::test]
async fn a_caller_key_passes_where_nothing_else_is_said() {
    for settings in ["", "credentials = 'passthrough'", "headers = { x-team = 'sight' }"] {
        let (address, seen) = Upstream::answering(CHAT_ANSWER).await;
        let gateway = started(&upstream("a", address, settings)).await;
        let key = "authorization: Bearer of-caller\r\n";
        assert_eq!(exchange(gateway, &post(CHAT, key, QUESTION.as_bytes())).await.status, 200);
        assert!(seen.last().head.contains("bearer of-caller\r\n"), "{settings}");
    }
    let (address, seen) = Upstream::answering(CHAT_ANSWER).await;
    let gateway = started(&upstream("a", address, "credentials = 'own'")).await;
    assert_eq!(exchange(gateway, &post(CHAT, OF_CALLER, QUESTION.as_bytes())).await.status, 200);
    assert!(!seen.last().head.contains("of-caller"));
}

#[tokio::test]
async fn a_key_of_one_provider_is_not_translated_for_another() {
    for (settings, key, is_sent) in [
        ("", "sk-ant-api03-x", false),
        ("", "AIzaSyX", false),
        // Local servers and proxies have keys like this.
        ("", "sk-1234", true),
        ("", "anything", true),
        ("credentials = 'passthrough'", "sk-ant-api03-x", true),
    ] {
        let (address, seen) = Upstream::answering(CHAT_ANSWER).await;
        let settings = format!("wire = 'openai-chat'\nmodels = ['*']\n{settings}");
        let gateway = started(&upstream("a", address, &settings)).await;
        let headers = format!("x-api-key: {key}\r\nanthropic-version: 2023-06-01\r\n");
        let reply = exchange(gateway, &post(MESSAGES, &headers, QUESTION.as_bytes())).await;
        assert_eq!(reply.status, 200);
        let head = seen.last().head;
        assert_eq!(head.contains(&key.to_ascii_lowercase()), is_sent, "{key}: {head}");
    }
}

#[tokio::test]
async fn a_key_in_a_file_is_taken_when_it_changes() {
    let file = KeyFile::new("changing-key", "key-one");
    let (address, seen) = Upstream::answering(CHAT_ANSWER).await;
    let settings = format!("key = 'file:{}'", file.0.display());
    let gateway = started(&upstream("a", address, &settings)).await;
    let request = post(CHAT, "", QUESTION.as_bytes());
    exchange(gateway, &request).await;
    assert!(seen.last().head.contains("bearer key-one\r\n"));
    std::fs::write(&file.0, "key-two\n").unwrap();
    for _ in 0..600 {
        exchange(gateway, &request).await;
        if seen.last().head.contains("bearer key-two\r\n") {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the new key was not taken");
}

#[tokio::test]
async fn a_key_is_not_shown_with_the_settings() {
    let settings = upstream("a", super::closed().await, "key = 'key-of-a'");
    let config = Config::parse(&settings).unwrap();
    let shown = format!("{config:?} {}", serde_json::to_string(&config).unwrap());
    assert!(!shown.contains("key-of-a"), "{shown}");
}

#[tokio::test]
async fn mistakes_keep_the_gateway_from_starting() {
    let address = super::closed().await;
    for (settings, says) in [
        ("key = '${PHOTIC_TEST_NO_SUCH_VARIABLE}'", "`PHOTIC_TEST_NO_SUCH_VARIABLE` is not set"),
        ("key = 'file:/nonexistent/key'", "cannot read `/nonexistent/key`"),
        ("region = '${PHOTIC_TEST_NO_SUCH_VARIABLE}'", "`upstream.region`"),
        ("key = 'k'\ncredentials = 'passthrough'", "exclude each other"),
    ] {
        let text = upstream("a", address, settings);
        let mut config = Config::parse(&text).unwrap();
        "127.0.0.1:0".clone_into(&mut config.listen);
        let error = photic_gateway::Gateway::bind(config).await.unwrap_err().to_string();
        assert!(error.contains(says), "{settings}: {error}");
    }
}

#[tokio::test]
async fn an_answer_is_the_same_with_and_without_a_key_of_the_gateway() {
    let (address, _) = Upstream::start(|_| vec![Act::Send(ok(CHAT_ANSWER.as_bytes()))]).await;
    let gateway = started(&upstream("a", address, "key = 'k'")).await;
    let reply = exchange(gateway, &post(CHAT, "", QUESTION.as_bytes())).await;
    assert_eq!((reply.status, reply.body), (200, CHAT_ANSWER.as_bytes().to_vec()));
    assert_eq!(reply.header("x-photic-upstream"), None);
}
