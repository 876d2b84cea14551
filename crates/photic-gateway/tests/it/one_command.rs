//! A gateway that serves one command: its sessions are its own, and the usage of every reply counts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use photic_gateway::{SessionTurns, Tally};
use photic_store::LocalStore;
use serde_json::{Value, json};

use crate::caller::{exchange, post};
use crate::fixing::conversation;
use crate::scripted::Upstream;
use crate::watching::Watching;

const REPLY: &str = r#"{"choices":[{"message":{"role":"assistant","content":"a"}}],"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":40}}}"#;

fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("one-command-{name}"));
    let _ = std::fs::remove_dir_all(&path);
    path
}

/// A conversation with so many turns of the user. Each reply is the same, as of a test server.
fn talk(turns: usize) -> Value {
    let mut messages = vec![json!({"role": "user", "content": "begin"})];
    for turn in 1..turns {
        messages.push(json!({"role": "assistant", "content": "a"}));
        messages.push(json!({"role": "user", "content": format!("go on {turn}")}));
    }
    json!({"model": "gpt-4o", "messages": messages})
}

/// Sends these requests through a gateway of their own, and returns its counts.
async fn run(directory: &Path, requests: &[Value]) -> Arc<Tally> {
    let (address, _) = Upstream::answering(REPLY).await;
    let settings = format!(
        "[policy]\nretention = 'all'\n[record]\ndirectory = '{}'\nacknowledge = true\n\
         [[upstream]]\nurl = 'http://{address}'",
        directory.display()
    );
    let watching = Watching::of_one_command(&settings).await;
    for body in requests {
        let body = body.to_string();
        let reply =
            exchange(watching.address, &post("/v1/chat/completions", "", body.as_bytes())).await;
        assert_eq!(reply.status, 200);
        assert!(reply.header("x-photic-turn").is_some(), "{reply:?}");
    }
    let tally = Arc::clone(&watching.tally);
    watching.ended().await;
    tally
}

/// Returns the only session that a run wrote to, and its number of turns.
fn only(tally: &Arc<Tally>) -> SessionTurns {
    let sessions = tally.sessions();
    let [one] = &sessions[..] else { panic!("{sessions:?}") };
    one.clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_runs_that_begin_alike_are_two_sessions() {
    let directory = directory("alike");
    let both = [talk(1), talk(2), talk(3)];
    let first = only(&run(&directory, &both).await);
    let second = only(&run(&directory, &both).await);
    assert_ne!(first.session, second.session);
    assert_eq!((first.turns, second.turns), (3, 3));
    let store = LocalStore::open(&directory).unwrap();
    let kept = store.sessions().await.unwrap();
    assert_eq!(kept.iter().map(|one| one.turns).collect::<Vec<_>>(), [3, 3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_resumes_a_conversation_goes_on_in_its_session() {
    let directory = directory("resumed");
    let first = only(&run(&directory, &[talk(1), talk(2)]).await);
    let resumed = only(&run(&directory, &[talk(3), talk(4)]).await);
    assert_eq!(first.session, resumed.session);
    assert_eq!((first.turns, resumed.turns), (2, 2));
    // A request that is sent again is of the same session, and so is one after it.
    let again = only(&run(&directory, &[talk(1), talk(1), talk(2)]).await);
    assert_ne!(again.session, first.session);
    assert_eq!(again.turns, 3);
    let store = LocalStore::open(&directory).unwrap();
    assert_eq!(store.sessions().await.unwrap().len(), 2);
}

/// Makes messages so long that earlier turns are left out of later requests.
fn lengthened(mut body: Value) -> Value {
    for message in body["messages"].as_array_mut().unwrap() {
        let words = message["content"].as_str().unwrap().repeat(300);
        message["content"] = words.into();
    }
    body
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_of_which_turns_are_left_out_has_the_same_sessions() {
    let directory = directory("long");
    let bodies: Vec<Value> = (1..=9).map(|turns| lengthened(talk(turns))).collect();
    let first = only(&run(&directory, &bodies[..6]).await);
    assert_eq!(first.turns, 6);
    let second = only(&run(&directory, &bodies[..6]).await);
    assert_ne!(second.session, first.session);
    let resumed = only(&run(&directory, &bodies[6..]).await);
    // The later one of two that have the same words.
    assert_eq!((resumed.session, resumed.turns), (second.session, 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_was_deleted_meanwhile_begins_anew() {
    let directory = directory("deleted");
    let (address, _) = Upstream::answering(REPLY).await;
    let settings = format!(
        "[record]\ndirectory = '{}'\nacknowledge = true\n[[upstream]]\nurl = 'http://{address}'",
        directory.display()
    );
    let watching = Watching::of_one_command(&settings).await;
    let ask = async |turns: usize| {
        let body = talk(turns).to_string();
        let reply =
            exchange(watching.address, &post("/v1/chat/completions", "", body.as_bytes())).await;
        reply.header("x-photic-turn").map(str::to_owned)
    };
    assert!(ask(1).await.is_some());
    let store = LocalStore::open(&directory).unwrap();
    let [session] = &store.sessions().await.unwrap()[..] else { panic!("one session") };
    assert!(store.forget(&session.id).await.unwrap());
    assert!(ask(2).await.is_some());
    assert_eq!(store.sessions().await.unwrap().len(), 1);
    watching.ended().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_usage_of_every_reply_counts() {
    let tally = run(&directory("usage"), &[talk(1), talk(2)]).await;
    let tokens = tally.tokens();
    assert_eq!((tokens.reported, tokens.unreported), (2, 0));
    assert_eq!((tokens.input, tokens.cached, tokens.output), (200, 80, 14));
    // 60 uncached and 40 cached tokens in each of two requests.
    assert!(tokens.input_usd > 0.0, "{tokens:?}");
    assert!(tokens.input_usd < 200.0 * 2.5 / 1e6, "{tokens:?}");
    assert!(tokens.output_usd > 0.0 && tokens.unpriced_outputs == 0, "{tokens:?}");
    assert!(tokens.unpriced.is_empty(), "{tokens:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_that_is_sent_again_was_made_visible_once() {
    let bodies = [1, 2, 3]
        .map(|images| serde_json::from_str::<Value>(&conversation(images, 2_000)).unwrap());
    let tally = run(&directory("visible"), &bodies).await;
    assert_eq!(tally.made_visible(), 3);
    assert_eq!(tally.fixes().get("hoisted"), Some(&6));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_without_usage_and_a_model_without_price_are_told() {
    let (address, _) = Upstream::answering("{\"choices\":[]}").await;
    let watching =
        Watching::of_one_command(&format!("[[upstream]]\nurl = 'http://{address}'")).await;
    let body = talk(1).to_string();
    exchange(watching.address, &post("/v1/chat/completions", "", body.as_bytes())).await;
    let tally = Arc::clone(&watching.tally);
    watching.ended().await;
    assert_eq!((tally.tokens().reported, tally.tokens().unreported), (0, 1));

    let (address, _) = Upstream::answering(REPLY).await;
    let watching =
        Watching::of_one_command(&format!("[[upstream]]\nurl = 'http://{address}'")).await;
    let body = body.replace("gpt-4o", "mine-7b");
    exchange(watching.address, &post("/v1/chat/completions", "", body.as_bytes())).await;
    let tally = Arc::clone(&watching.tally);
    watching.ended().await;
    let unpriced = tally.tokens().unpriced;
    assert_eq!(unpriced.iter().map(String::as_str).collect::<Vec<_>>(), ["mine-7b"]);
}
