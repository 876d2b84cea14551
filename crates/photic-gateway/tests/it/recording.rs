//! Turns are recorded as they were sent, and a user's choices for images apply from then on.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic::{Choice, Digest};
use photic_store::{LocalStore, Session, wait};
use serde_json::json;
use tokio::sync::Notify;

use crate::caller::{exchange, get, post};
use crate::fixing::conversation;
use crate::gateway;
use crate::scripted::{Act, Upstream};

fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("recording-{name}"));
    let _ = std::fs::remove_dir_all(&path);
    path
}

fn settings(directory: &Path, more: &str) -> String {
    format!("[policy]\nretention = 'all'\n[record]\ndirectory = '{}'\n{more}", directory.display())
}

/// Waits for a session to have so many turns, because a turn is written while its reply is sent.
async fn sessions(directory: &Path, turns: u64) -> (LocalStore, Vec<Session>) {
    let store = LocalStore::open(directory).unwrap();
    let begun = Instant::now();
    loop {
        let sessions = store.sessions().await.unwrap();
        if sessions.iter().any(|session| session.turns == turns) {
            return (store, sessions);
        }
        assert!(begun.elapsed() < Duration::from_mins(1), "{sessions:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Returns the digests of the images of a body, in order.
fn digests(body: &str) -> Vec<Digest> {
    let (transcript, _) = photic::lift(photic::Wire::OpenAiChat, body.as_bytes());
    let mut survey = photic::survey(&transcript);
    survey.identify(&transcript);
    survey.sightings.iter().map(|sighting| sighting.digest.unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_turn_is_kept_as_it_was_sent() {
    let directory = directory("kept");
    let (address, upstream) = Upstream::answering("{\"ok\":true}").await;
    let gateway = gateway(address, &settings(&directory, "")).await;
    let mut sent = Vec::new();
    for turn in 1..=3 {
        let body = conversation(turn, 9_000);
        let reply = exchange(gateway, &post("/v1/chat/completions", "", body.as_bytes())).await;
        assert_eq!(reply.status, 200);
        sent.push((body, upstream.last().body));
        // The next turn continues the recorded session.
        sessions(&directory, turn.into()).await;
    }
    let (store, sessions) = sessions(&directory, 3).await;
    let [session] = sessions.as_slice() else { panic!("one conversation: {sessions:?}") };
    assert_eq!(session.title, "look");
    for (number, (came, went)) in (1..).zip(&sent) {
        assert!(store.body(&session.id, number).await.unwrap() == came.as_bytes(), "{number}");
        assert!(store.lower(&session.id, number).await.unwrap().body == *went, "{number}");
    }
    let page = String::from_utf8(exchange(gateway, &get("/metrics", "")).await.body).unwrap();
    assert!(page.contains("photic_turns_kept_total 3"), "{page}");
    assert!(page.contains("photic_turns_lost_total 0"), "{page}");
}

/// The sent bytes do not follow from the body alone, because an image was prepared.
#[tokio::test(flavor = "multi_thread")]
async fn a_turn_with_a_picture_that_was_made_is_kept_as_it_was_sent() {
    let directory = directory("made");
    let (address, upstream) = Upstream::answering("{}").await;
    let upstreams = format!("[[upstream]]\nurl='http://{address}'\nwire='anthropic'\n");
    let gateway = crate::started(&settings(&directory, &upstreams)).await;
    // Wider than the wire's limit.
    let picture = STANDARD.encode(photic_testkit::image::png_noise(9000, 40, 7));
    let source = json!({"type": "base64", "media_type": "image/png", "data": picture});
    let content = json!([{"type": "image", "source": source}]);
    let messages = json!([{"role": "user", "content": content}]);
    let body = json!({"model": "claude-sonnet-5", "max_tokens": 9, "messages": messages});
    let came = body.to_string();
    let reply = exchange(gateway, &post("/v1/messages", "", came.as_bytes())).await;
    assert_eq!(reply.header("x-photic-fixed"), Some("remade=1"), "{reply:?}");
    let (store, kept) = sessions(&directory, 1).await;
    assert!(store.lower(&kept[0].id, 1).await.unwrap().body == upstream.last().body);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_user_chose_holds_from_the_next_turn_on() {
    let directory = directory("chosen");
    let (address, upstream) = Upstream::answering("{}").await;
    let gateway = gateway(address, &settings(&directory, "")).await;
    let body = conversation(2, 9_000);
    exchange(gateway, &post("/v1/chat/completions", "", body.as_bytes())).await;
    let (store, kept) = sessions(&directory, 1).await;
    wait(store.choose(&kept[0].id, &digests(&body)[0], Some(Choice::Drop))).unwrap();
    let longer = conversation(3, 9_000);
    let reply = exchange(gateway, &post("/v1/chat/completions", "", longer.as_bytes())).await;
    let fixed = reply.header("x-photic-fixed").unwrap();
    assert!(fixed.contains("not_shown=1") && fixed.contains("hoisted=2"), "{fixed}");
    let seen = upstream.last().body;
    let text = String::from_utf8_lossy(&seen);
    assert!(text.contains("the user chose to leave it out"), "{text}");
    let (store, kept) = sessions(&directory, 2).await;
    assert!(store.lower(&kept[0].id, 2).await.unwrap().body == seen);
}

/// The choice is made while the model answers, so the record of this turn must not contain it.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_kept_is_what_was_sent_and_not_what_was_chosen_since() {
    let directory = directory("meanwhile");
    let thought = Arc::new(Notify::new());
    let told = Arc::clone(&thought);
    let (address, upstream) = Upstream::start(move |seen| {
        let reply = Act::Send(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}".to_vec());
        let is_third = String::from_utf8_lossy(&seen.body).contains("\"c2\"");
        let waits = is_third.then(|| Act::Wait(Arc::clone(&told)));
        waits.into_iter().chain([reply]).collect()
    })
    .await;
    let gateway = gateway(address, &settings(&directory, "")).await;
    let body = conversation(2, 9_000);
    exchange(gateway, &post("/v1/chat/completions", "", body.as_bytes())).await;
    let (store, kept) = sessions(&directory, 1).await;
    let longer = post("/v1/chat/completions", "", conversation(3, 9_000).as_bytes());
    let answer = tokio::spawn(async move { exchange(gateway, &longer).await });
    while upstream.seen.lock().unwrap().len() < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    wait(store.choose(&kept[0].id, &digests(&body)[0], Some(Choice::Drop))).unwrap();
    thought.notify_one();
    assert_eq!(answer.await.unwrap().status, 200);
    let (store, kept) = sessions(&directory, 2).await;
    assert!(store.lower(&kept[0].id, 2).await.unwrap().body == upstream.last().body);
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_can_be_asked_for_by_the_names_in_notices() {
    let directory = directory("names");
    let (address, upstream) = Upstream::answering("{}").await;
    let settings = settings(&directory, "references = true")
        .replace("retention = 'all'", "retention = 'newest(1)'");
    let gateway = gateway(address, &settings).await;
    let body = conversation(2, 9_000);
    exchange(gateway, &post("/v1/chat/completions", "", body.as_bytes())).await;
    let seen = upstream.last().body;
    let (store, kept) = sessions(&directory, 1).await;
    let name = store.name(&digests(&body)[0]).await.unwrap();
    let says = format!("call view with source {} to see it", name.as_str());
    let text = String::from_utf8_lossy(&seen);
    assert!(text.contains(&says), "{says} is not in {text}");
    assert!(store.lower(&kept[0].id, 1).await.unwrap().body == seen);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_or_only_counted_is_no_turn() {
    let directory = directory("none");
    let (address, upstream) = Upstream::answering("{}").await;
    let gateway = gateway(address, &settings(&directory, "")).await;
    let message =
        json!({"max_tokens": 1, "messages": [{"role": "user", "content": "hi"}]}).to_string();
    exchange(gateway, &post("/v1/messages/count_tokens", "", message.as_bytes())).await;
    exchange(gateway, &post("/v1/messages", "x-photic-off: 1\r\n", message.as_bytes())).await;
    upstream.last();
    let page = String::from_utf8(exchange(gateway, &get("/metrics", "")).await.body).unwrap();
    assert!(page.contains("photic_turns_kept_total 0"), "{page}");
    assert_eq!(LocalStore::open(&directory).unwrap().sessions().await.unwrap().len(), 0);
}

#[tokio::test]
async fn a_record_that_cannot_be_opened_is_said_at_the_start() {
    let file = directory("file");
    std::fs::write(&file, "not a directory").unwrap();
    let mut config = photic_gateway::Config::parse(&settings(&file, "")).unwrap();
    "127.0.0.1:0".clone_into(&mut config.listen);
    let error = photic_gateway::Gateway::bind(config).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot open the record");
}
