//! Callers that are known by keys in a file: who gets in, what they may use, and what is counted.

use std::net::SocketAddr;

use photic_gateway::NewCallerKey;

use crate::caller::{Reply, exchange, get, post};
use crate::scratch::{Scratch, quoted};
use crate::scripted::{Act, Upstream, ok};
use crate::watching::Watching;

const CHAT: &str = "/v1/chat/completions";
const BODY: &[u8] =
    br#"{"model":"gpt-4o","max_tokens":10,"messages":[{"role":"user","content":"hi"}]}"#;
const ANSWER: &str = "{\"choices\":[],\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":20,\
     \"prompt_tokens_details\":{\"cached_tokens\":40}}}";

/// A gateway with one caller of these limits, and its key.
struct Known {
    watching: Watching,
    key: String,
    upstream: std::sync::Arc<Upstream>,
    scratch: Scratch,
}

impl Known {
    async fn start(limits: &str) -> Self {
        let (address, upstream) = Upstream::answering(ANSWER).await;
        Self::before(address, upstream, limits).await
    }

    async fn before(address: SocketAddr, upstream: std::sync::Arc<Upstream>, limits: &str) -> Self {
        let (scratch, new) = (Scratch::new(), NewCallerKey::new("ci").unwrap());
        let entry = format!("[[caller]]\nname = 'ci'\ndigest = '{}'\n{limits}\n", new.digest);
        let file = quoted(&scratch.write("callers.toml", entry));
        let usage = quoted(&scratch.path("usage.jsonl"));
        let settings = format!(
            "[admin]\nlisten = '127.0.0.1:0'\n[callers]\nfile = {file}\nusage_log = {usage}\n\
             [[upstream]]\nurl = 'http://{address}'"
        );
        let watching = Watching::start(&settings).await;
        Self { watching, key: new.key, upstream, scratch }
    }

    async fn chat(&self, body: &[u8]) -> Reply {
        let headers = format!("x-photic-key: {}\r\n", self.key);
        exchange(self.watching.address, &post(CHAT, &headers, body)).await
    }

    fn seen(&self) -> usize {
        self.upstream.seen.lock().unwrap().len()
    }
}

#[tokio::test]
async fn nobody_without_a_key_gets_in_and_each_wire_is_told_in_its_words() {
    let known = Known::start("").await;
    let wrong = NewCallerKey::new("ci").unwrap().key;
    for path in
        [CHAT, "/v1/messages", "/v1/responses", "/v1beta/models/g:generateContent", "/v1/models"]
    {
        for headers in [String::new(), format!("authorization: Bearer {wrong}\r\n")] {
            let reply = exchange(known.watching.address, &post(path, &headers, b"{}")).await;
            assert_eq!(reply.status, 401, "{path} {headers}");
            assert_eq!(reply.header("x-photic-error"), Some("no_caller_key"), "{path}");
            assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
            assert_eq!(reply.header("x-should-retry"), Some("false"));
            let said = reply.json().to_string();
            assert!(said.contains("x-photic-key") && !said.contains(&wrong), "{said}");
        }
    }
    assert_eq!(known.seen(), 0);
}

#[tokio::test]
async fn a_key_is_accepted_wherever_clients_send_keys_and_reaches_no_upstream() {
    let known = Known::start("").await;
    let key = &known.key;
    for (path, headers) in [
        (CHAT.to_owned(), format!("authorization: Bearer {key}\r\n")),
        (CHAT.to_owned(), format!("x-photic-key: {key}\r\n")),
        ("/v1/messages".to_owned(), format!("x-api-key: {key}\r\n")),
        (CHAT.to_owned(), format!("api-key: {key}\r\n")),
        ("/v1beta/models/g:generateContent".to_owned(), format!("x-goog-api-key: {key}\r\n")),
        (format!("/v1beta/models/g:generateContent?key={key}"), String::new()),
    ] {
        let reply = exchange(known.watching.address, &post(&path, &headers, BODY)).await;
        assert_eq!(reply.status, 200, "{path} {headers} {reply:?}");
        let seen = known.upstream.last();
        let secret = key.to_ascii_lowercase();
        assert!(
            !seen.head.contains(&secret) && !seen.head.contains("x-photic-key"),
            "{}",
            seen.head
        );
    }
    // The key of a provider beside it is passed on.
    let headers = format!("x-photic-key: {key}\r\nauthorization: Bearer theirs\r\n");
    exchange(known.watching.address, &post(CHAT, &headers, BODY)).await;
    assert!(known.upstream.last().head.contains("authorization: bearer theirs"));
    let log = known.watching.ended().await;
    assert!(!log.contains("pk_ci"), "{log}");
}

#[tokio::test]
async fn a_caller_uses_its_models_and_no_others() {
    let known = Known::start("models = ['gpt-4o*']").await;
    assert_eq!(known.chat(BODY).await.status, 200);
    let other = br#"{"model":"gpt-5","messages":[]}"#;
    for body in [other.as_slice(), b"{\"messages\":[]}", b"not json"] {
        let reply = known.chat(body).await;
        assert_eq!(
            (reply.status, reply.header("x-photic-error")),
            (403, Some("model_not_allowed"))
        );
        assert!(reply.json()["error"]["message"].as_str().unwrap().contains("`gpt-4o*`"));
    }
    // What is not read could be any model.
    for (path, headers) in
        [("/v1/embeddings", ""), ("/v1/completions", ""), (CHAT, "x-photic-off: 1\r\n")]
    {
        let headers = format!("x-photic-key: {}\r\n{headers}", known.key);
        let reply = exchange(known.watching.address, &post(path, &headers, other)).await;
        assert_eq!(reply.status, 403, "{path}");
        assert_eq!(reply.header("x-photic-error"), Some("not_metered"), "{path}");
    }
    let list = get("/v1/models", &format!("x-photic-key: {}\r\n", known.key));
    assert_eq!(exchange(known.watching.address, &list).await.status, 200);
    assert_eq!(known.seen(), 2);
}

#[tokio::test]
async fn requests_of_a_minute_are_limited() {
    let known = Known::start("requests_per_minute = 2").await;
    let (mut answered, mut refused) = (0, 0);
    for _ in 0..9 {
        let reply = known.chat(BODY).await;
        match reply.status {
            200 => answered += 1,
            429 => {
                refused += 1;
                assert_eq!(reply.header("x-photic-error"), Some("over_budget"));
                let after: u64 = reply.header("retry-after").unwrap().parse().unwrap();
                assert!((1..=60).contains(&after), "{after}");
                assert_eq!(reply.json()["error"]["code"], "over_budget");
                let said = reply.json()["error"]["message"].as_str().unwrap().to_owned();
                assert!(said.contains("requests per minute"), "{said}");
            }
            other => panic!("{other}"),
        }
    }
    // Nine short requests may lie in two minutes.
    assert!((2..=4).contains(&answered) && refused >= 5, "{answered} {refused}");
}

#[tokio::test]
async fn bytes_of_a_minute_are_limited() {
    let known = Known::start("mib_per_minute = 1").await;
    let words = "x".repeat(700 << 10);
    let body = format!(
        "{{\"model\":\"gpt-4o\",\"messages\":[{{\"role\":\"user\",\"content\":\"{words}\"}}]}}"
    );
    let mut answered = 0;
    for _ in 0..7 {
        answered += u32::from(known.chat(body.as_bytes()).await.status == 200);
    }
    assert!(
        (2..=4).contains(&answered),
        "{answered}: the second exceeds it, and no third is taken"
    );
}

#[tokio::test]
async fn usage_is_counted_by_caller_and_model() {
    let known = Known::start("tokens_per_day = 1000000").await;
    for _ in 0..3 {
        assert_eq!(known.chat(BODY).await.status, 200);
    }
    let page = known
        .watching
        .metrics_with(&[
            "photic_caller_requests_total{caller=\"ci\",model=\"gpt-4o\"} 3",
            "photic_caller_tokens_total{caller=\"ci\",model=\"gpt-4o\",kind=\"input\"} 300",
            "photic_caller_tokens_total{caller=\"ci\",model=\"gpt-4o\",kind=\"cached\"} 120",
            "photic_caller_tokens_total{caller=\"ci\",model=\"gpt-4o\",kind=\"output\"} 60",
            "photic_caller_pictures_total{caller=\"ci\",model=\"gpt-4o\"} 0",
            "photic_output_tokens_reported_total{model=\"gpt-4o\"} 60",
        ])
        .await;
    let usd = page.lines().find_map(|line| {
        line.strip_prefix("photic_caller_usd_total{caller=\"ci\",model=\"gpt-4o\"} ")
    });
    // Input for 2.50 dollars, a part of it cached, and output for 10.
    let usd = usd.unwrap().parse::<f64>().unwrap();
    assert!((0.00105..=0.00135).contains(&usd), "{page}");
    let file = known.scratch.path("usage.jsonl");
    let Known { watching, scratch, .. } = known;
    watching.ended().await;
    let lines = std::fs::read_to_string(file).unwrap();
    let lines: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    for (name, value) in [("caller", "ci"), ("model", "gpt-4o")] {
        assert_eq!(lines[0][name], value);
    }
    for (name, value) in [("input", 100), ("cached", 40), ("output", 20), ("pictures", 0)] {
        assert_eq!(lines[0][name], value, "{name}");
    }
    assert_eq!(lines[0]["estimated"], false);
    drop(scratch);
}

#[tokio::test]
async fn names_of_callers_in_labels_are_bounded() {
    let (address, _) = Upstream::answering(ANSWER).await;
    let scratch = Scratch::new();
    let keys: Vec<NewCallerKey> =
        (0..70).map(|number| NewCallerKey::new(&format!("c{number}")).unwrap()).collect();
    let entries = keys.iter().enumerate().map(|(number, key)| {
        format!("[[caller]]\nname = 'c{number}'\ndigest = '{}'\n", key.digest)
    });
    let file = quoted(&scratch.write("callers.toml", entries.collect::<String>()));
    let settings = format!(
        "[admin]\nlisten = '127.0.0.1:0'\n[callers]\nfile = {file}\n[[upstream]]\nurl = 'http://{address}'"
    );
    let watching = Watching::start(&settings).await;
    for key in &keys {
        let headers = format!("authorization: Bearer {}\r\n", key.key);
        assert_eq!(exchange(watching.address, &post(CHAT, &headers, BODY)).await.status, 200);
    }
    let other = "photic_caller_requests_total{caller=\"other\",model=\"gpt-4o\"} 7";
    let page = watching.metrics_with(&[other]).await;
    assert_eq!(page.matches("photic_caller_requests_total{").count(), 64, "{page}");
}

/// A day's tokens: the request that exceeds them is answered, and no further one.
#[tokio::test]
async fn a_budget_of_a_day_ends_and_says_so() {
    let known = Known::start("tokens_per_day = 2000").await;
    let mut codes = Vec::new();
    for _ in 0..200 {
        let reply = known.chat(BODY).await;
        if reply.status == 429 {
            let code = reply.header("x-photic-error").unwrap().to_owned();
            let after: u64 = reply.header("retry-after").unwrap().parse().unwrap();
            assert!(
                if code == "over_budget" { after <= 86_400 } else { after <= 2 },
                "{code} {after}"
            );
            codes.push(code);
        }
    }
    assert!(codes.contains(&"over_budget".to_owned()), "{codes:?}");
    let spent = known.seen() * 120;
    assert!(spent <= 2000 + 120 + 700, "{spent}");
}

#[tokio::test]
async fn a_budget_in_dollars_needs_a_price_and_counts_rejections_as_free() {
    let (address, upstream) = Upstream::start(|seen| {
        let body = String::from_utf8_lossy(&seen.body).into_owned();
        vec![Act::Send(if body.contains("refuse") {
            b"HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\n{}".to_vec()
        } else {
            ok(ANSWER.as_bytes())
        })]
    })
    .await;
    let known = Known::before(address, upstream, "usd_per_day = 0.05").await;
    let unpriced = br#"{"model":"nobody-knows-it","messages":[]}"#;
    let reply = known.chat(unpriced).await;
    assert_eq!((reply.status, reply.header("x-photic-error")), (403, Some("not_metered")));
    assert!(reply.json()["error"]["message"].as_str().unwrap().contains("tokens_per_day"));
    let refused =
        br#"{"model":"gpt-4o","max_tokens":10,"messages":[{"role":"user","content":"refuse"}]}"#;
    for _ in 0..50 {
        let status = known.chat(refused).await.status;
        assert!(matches!(status, 400 | 429), "{status}");
    }
    assert!(known.chat(BODY).await.status != 403);
}
