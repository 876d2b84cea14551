//! Outcomes of requests in the record: times, attempts, usage, and never a key.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use photic_gateway::{Config, Gateway};
use photic_store::events::RecordChange;
use photic_store::record::{RequestEnd, RequestOutcome};
use photic_store::{LocalStore, SessionId, Tenant};
use photic_testkit::image;
use serde_json::json;

use crate::caller::{exchange, post};
use crate::gateway;
use crate::healing::Wire;
use crate::scripted::{Act, Upstream, chunk, chunked, ok};

const KEY: &str = "sk-SECRET-0123456789abcdef";
const REPLY: &str = r#"{"choices":[{"message":{"role":"assistant","content":"Seen."}}],"usage":{"prompt_tokens":1200,"completion_tokens":30,"prompt_tokens_details":{"cached_tokens":1000}}}"#;

fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("outcomes-{name}"));
    let _ = std::fs::remove_dir_all(&path);
    path
}

fn settings(directory: &Path, more: &str) -> String {
    format!("[record]\ndirectory = '{}'\n{more}", directory.display())
}

fn request(words: &str) -> Vec<u8> {
    let messages = json!([{"role": "user", "content": words}]);
    json!({"model": "gpt-4o", "messages": messages}).to_string().into_bytes()
}

/// Sends a request as a client that tells its name.
async fn ask(gateway: SocketAddr, path: &str, more: &str, body: &[u8]) -> u16 {
    let headers = format!(
        "authorization: Bearer {KEY}\r\ncookie: session={KEY}\r\nuser-agent: tester/1.0\r\n{more}"
    );
    exchange(gateway, &post(path, &headers, body)).await.status
}

/// Waits until something can be found, because outcomes are written when replies have ended.
async fn found<T>(mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_mins(1), "it does not come");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits for the outcome of the first turn of the only session.
async fn outcome(store: &LocalStore) -> (SessionId, RequestOutcome) {
    found(async || {
        let session = store.sessions().await.unwrap().pop()?.id;
        let outcome = store.turn_rows(&session, 1, 1).await.unwrap().pop()?.outcome?;
        Some((session, outcome))
    })
    .await
}

/// Waits for an outcome without a turn and without a session.
async fn other(store: &LocalStore) -> RequestOutcome {
    found(async || store.other_outcomes(None, 10).await.unwrap().pop()).await
}

/// Asserts that no file below a directory contains the key.
fn assert_no_key(directory: &Path) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            assert_no_key(&path);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            let is_there = bytes.windows(KEY.len()).any(|here| here == KEY.as_bytes());
            assert!(!is_there, "{}", path.display());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_outcome_of_a_turn_is_recorded_as_it_was_reported() {
    let directory = directory("turn");
    let (address, _) = Upstream::start(|_| {
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-request-id: req_77\r\n\
             content-length: {}\r\n\r\n{REPLY}",
            REPLY.len()
        );
        vec![Act::Send(head.into_bytes())]
    })
    .await;
    let gateway = gateway(address, &settings(&directory, "")).await;
    let body = request("what is on the screen?");
    assert_eq!(ask(gateway, "/v1/chat/completions", "", &body).await, 200);
    let store = LocalStore::open(&directory).unwrap();
    let (session, outcome) = outcome(&store).await;
    assert_eq!((outcome.turn, outcome.status), (Some(1), Some(200)));
    assert_eq!((outcome.ended, outcome.reason.as_deref()), (RequestEnd::Complete, None));
    assert_eq!(outcome.host.as_deref(), Some(address.to_string().as_str()));
    assert_eq!(outcome.model.as_deref(), Some("gpt-4o"));
    assert_eq!(outcome.agent.as_deref(), Some("tester/1.0"));
    assert_eq!(outcome.provider_request.as_deref(), Some("req_77"));
    assert_eq!(outcome.request.as_ref().map(String::len), Some(16));
    let usage = outcome.usage;
    assert_eq!((usage.input, usage.cache_read, usage.output), (Some(1200), Some(1000), Some(30)));
    let sizes = (outcome.bytes_in, outcome.bytes_sent, outcome.bytes_out);
    assert_eq!(sizes, (body.len() as u64, body.len() as u64, REPLY.len() as u64));
    let [attempt] = &outcome.attempts[..] else { panic!("{outcome:?}") };
    assert_eq!((attempt.status, attempt.bytes), (Some(200), body.len() as u64));
    assert!(outcome.begun > 1_700_000_000_000 && outcome.first_byte_ms.is_some());
    assert!(outcome.first_byte_ms <= Some(outcome.total_ms));
    // 200 tokens at the full price, and 1,000 from the cache.
    let price = photic::profile::resolve(photic::Wire::OpenAiChat, Some("gpt-4o"), None);
    let usd = (200.0 + 1000.0 * price.cache.read) * 2.5 / 1e6;
    assert!((outcome.input_usd.unwrap() - usd).abs() < 1e-12);
    assert!((outcome.output_usd.unwrap() - 30.0 * 10.0 / 1e6).abs() < 1e-12);
    let turn = store.turn(&session, 1).await.unwrap();
    assert_eq!(turn.sums.usd, outcome.input_usd);
    assert_eq!(store.reply(&session, 1).await.unwrap(), None, "replies are not kept unless asked");
    drop(store);
    assert_no_key(&directory);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_attempt_is_recorded_with_what_the_provider_said() {
    let directory = directory("healed");
    let asked = AtomicUsize::new(0);
    let (address, _) = Upstream::start(move |_| {
        if asked.fetch_add(1, Ordering::SeqCst) > 0 {
            return vec![Act::Send(ok(REPLY.as_bytes()))];
        }
        let error = format!(
            r#"{{"error":{{"message":"The image dimensions exceed the maximum of 300 pixels. Key: {KEY}"}}}}"#
        );
        let refused = format!(
            "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{error}",
            error.len()
        );
        vec![Act::Send(refused.into_bytes())]
    })
    .await;
    let learned = format!("[learned]\npath = '{}.json'", directory.display());
    let gateway = gateway(address, &settings(&directory, &learned)).await;
    let noise = Wire::Chat.image("image/png", &image::png_noise(500, 500, 3));
    let body = Wire::Chat.shows(&[noise]).to_string();
    assert_eq!(ask(gateway, "/v1/chat/completions", "", body.as_bytes()).await, 200);
    let store = LocalStore::open(&directory).unwrap();
    let (session, outcome) = outcome(&store).await;
    let [refused, accepted] = &outcome.attempts[..] else { panic!("{outcome:?}") };
    assert_eq!((refused.status, accepted.status), (Some(400), Some(200)));
    assert_eq!(refused.class.as_deref(), Some("too_large_dim"));
    let says = refused.says.as_deref().unwrap();
    assert!(says.starts_with("The image dimensions exceed the maximum of 300 pixels."), "{says}");
    assert!(!says.contains("SECRET"), "{says}");
    assert!(refused.bytes > accepted.bytes && accepted.class.is_none());
    let row = store.turn_rows(&session, 1, 1).await.unwrap().remove(0);
    assert_eq!(row.fates.unwrap().letters(), "m", "it was made smaller");
    drop(store);
    assert_no_key(&directory);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fails_for_good_or_passes_unread_is_recorded_without_a_turn() {
    let directory = directory("others");
    let (address, _) = Upstream::start(|seen| {
        let text = String::from_utf8_lossy(&seen.body);
        if text.contains("break off") {
            return vec![
                Act::Send(chunked("text/event-stream")),
                Act::Send(chunk("data: {")),
                Act::Close,
            ];
        }
        let head = "HTTP/1.1 429 Too Many Requests\r\ncontent-length: 2\r\n\r\n{}";
        vec![Act::Send(head.as_bytes().to_vec())]
    })
    .await;
    let gateway = gateway(address, &settings(&directory, "")).await;
    let store = LocalStore::open(&directory).unwrap();
    let body = request("look");
    assert_eq!(ask(gateway, "/v1/chat/completions", "", &body).await, 429);
    let failed = other(&store).await;
    assert_eq!((failed.status, failed.turn, failed.session.as_ref()), (Some(429), None, None));
    assert_eq!(failed.attempts[0].status, Some(429));
    assert!(store.sessions().await.unwrap().is_empty());

    assert_eq!(ask(gateway, "/v1/chat/completions", "x-photic-off: 1\r\n", &body).await, 429);
    let off = found(async || {
        let all = store.other_outcomes(None, 10).await.unwrap();
        all.into_iter().find(|one| one.reason.as_deref() == Some("off"))
    })
    .await;
    assert_eq!((off.bytes_in, off.turn), (body.len() as u64, None));

    ask(gateway, "/v1/chat/completions", "", &request("break off")).await;
    let (_, broken) = outcome(&store).await;
    assert_eq!((broken.ended, broken.status), (RequestEnd::ProviderGone, Some(200)));
    assert_eq!(broken.usage.input, None, "what was not reported is not known");
    drop(store);
    assert_no_key(&directory);
}

#[tokio::test(flavor = "multi_thread")]
async fn replies_are_kept_if_that_is_asked_for() {
    let directory = directory("replies");
    let event = "data: {\"choices\":[{\"delta\":{\"content\":\"Seen.\"}}]}\n\n";
    let (address, _) = Upstream::start(move |_| {
        let done = chunk("data: [DONE]\n\n");
        vec![
            Act::Send(chunked("text/event-stream")),
            Act::Send(chunk(event)),
            Act::Send([done, b"0\r\n\r\n".to_vec()].concat()),
        ]
    })
    .await;
    let gateway = gateway(address, &settings(&directory, "replies = true")).await;
    assert_eq!(ask(gateway, "/v1/chat/completions", "", &request("look")).await, 200);
    let store = LocalStore::open(&directory).unwrap();
    let (session, _) = outcome(&store).await;
    let reply = store.reply(&session, 1).await.unwrap().unwrap();
    assert_eq!(reply.media_type, "text/event-stream");
    let whole = format!("{event}data: [DONE]\n\n");
    assert_eq!((reply.bytes.as_slice(), reply.length), (whole.as_bytes(), whole.len() as u64));
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_that_show_sessions_are_told_what_is_new() {
    let directory = directory("events");
    let (address, _) = Upstream::answering(REPLY).await;
    let settings = format!("{}\n[[upstream]]\nurl = 'http://{address}'", settings(&directory, ""));
    let mut config = Config::parse(&settings).unwrap();
    "127.0.0.1:0".clone_into(&mut config.listen);
    let gateway = Gateway::bind(config).await.unwrap();
    let (at, events) = (gateway.address(), gateway.events().unwrap());
    let history = gateway.history(&Tenant::local()).unwrap();
    tokio::spawn(gateway.serve(std::future::pending()));
    let mut listener = events.listen(None).unwrap();
    let body = request("look");
    assert_eq!(ask(at, "/v1/chat/completions", "", &body).await, 200);
    let mut told = Vec::new();
    while told.len() < 3 {
        let next = tokio::time::timeout(Duration::from_mins(1), listener.next());
        told.push(next.await.expect("an event comes").unwrap());
    }
    let RecordChange::Opened { request, bytes } = told[0].change else { panic!("{told:?}") };
    assert_eq!((bytes, told[0].session.as_ref()), (body.len() as u64, None));
    assert_eq!(told[1].change, RecordChange::Turn { number: 1 });
    assert_eq!(told[2].change, RecordChange::Outcome { turn: Some(1), request });
    assert!(told.iter().all(|event| event.tenant == Tenant::local()));
    let session = told[2].session.clone().unwrap();
    let rows = history.turns(&session, 1, 10).await.unwrap();
    assert_eq!(rows[0].outcome.as_ref().map(|outcome| outcome.status), Some(Some(200)));
    assert_eq!(rows[0].arrived.as_ref().map(|arrived| arrived.words.as_str()), Some("look"));
}
