//! Recorded sessions that go on: of a later turn only what is new is hashed and written, and the
//! record is the same as if every turn had been read whole.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use photic_store::record::{Record as _, StoredTurn};
use photic_store::{GracePeriods, LocalStore, Session};
use photic_testkit::SplitMix64;
use serde_json::{Value, json};

use crate::caller::{exchange, get, post};
use crate::continuing::{Api, figure};
use crate::gateway;
use crate::scripted::Upstream;

/// A directory for a record.
fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("recorded-parts-{name}"));
    let _ = std::fs::remove_dir_all(&path);
    path
}

/// Starts a gateway whose replies wait for the record.
async fn recording(upstream: SocketAddr, directory: &Path, more: &str) -> SocketAddr {
    let settings = format!(
        "[policy]\nretention = 'all'\n[record]\nacknowledge = true\ndirectory = '{}'\n{more}",
        directory.display()
    );
    gateway(upstream, &settings).await
}

/// Sends a request, and checks that its turn is kept.
async fn ask(gateway: SocketAddr, api: Api, key: &str, body: &[u8]) {
    let headers = format!("authorization: Bearer {key}\r\n");
    let reply = exchange(gateway, &post(api.path(), &headers, body)).await;
    assert_eq!(reply.status, 200);
    assert!(reply.header("x-photic-turn").is_some(), "{}", reply.head);
}

/// Everything that is stored of a session, except its id and times.
#[derive(Debug, PartialEq)]
struct Stored {
    title: String,
    counts: [u64; 5],
    turns: Vec<(Vec<String>, Vec<u8>, Vec<u8>)>,
}

/// Returns what is stored of a turn, except its time and its row numbers.
fn described(turn: &StoredTurn) -> Vec<String> {
    vec![
        turn.wire.name().to_owned(),
        format!("{:?} {:?}", turn.before, turn.after),
        turn.profile.clone(),
        turn.policy.clone(),
        turn.circumstances.clone(),
        format!("{:?} {} {:?}", turn.digest, turn.length, turn.sums),
    ]
}

/// Returns what is stored of all sessions, the oldest first.
async fn stored(directory: &Path) -> Vec<Stored> {
    let store = LocalStore::open(directory).unwrap();
    let mut sessions: Vec<Session> = store.sessions().await.unwrap();
    sessions.sort_by_key(|session| (session.created, session.title.clone()));
    let mut all = Vec::new();
    for session in sessions {
        let mut turns = Vec::new();
        for number in 1..=session.turns {
            let turn = store.turn(&session.id, number).await.unwrap();
            let mut said = described(&turn);
            said.push(format!("{:?}", store.record.messages(&turn).await.unwrap()));
            let sent = store.sent_messages(&session.id, number).await.unwrap();
            assert!(sent.is_some(), "turn {number} has no hashes of what was sent");
            said.push(format!("{sent:?}"));
            let row = store.turn_rows(&session.id, number, 1).await.unwrap().remove(0);
            said.push(format!("{:?} {:?} {:?}", row.fates, row.arrived, row.change));
            let came = store.body(&session.id, number).await.unwrap();
            // Fails if it does not have the digest of what was sent.
            let went = store.lower(&session.id, number).await.unwrap().body;
            turns.push((said, came, went));
        }
        let Session { turns: count, messages, images, blobs, bytes, .. } = session;
        let counts = [count, messages, images, blobs, bytes];
        all.push(Stored { title: session.title, counts, turns });
    }
    all
}

/// Sessions with edits, forks, retries and summaries, some of them at once.
struct Talks {
    random: SplitMix64,
    talks: Vec<(Api, String, Vec<Value>)>,
}

impl Talks {
    fn new(seed: u64) -> Self {
        let talk = |number: usize| {
            let api = [Api::Chat, Api::Responses, Api::Messages][number % 3];
            let words = format!("Session {number}. {}", "Please read these files. ".repeat(200));
            let opening = vec![json!({"role": "user", "content": words})];
            (api, format!("sk-caller-{}", number % 2), opening)
        };
        Self { random: SplitMix64::new(seed), talks: (0..6).map(talk).collect() }
    }

    /// Changes a session, and returns its next request.
    fn next(&mut self, turn: usize) -> (Api, String, Vec<u8>) {
        let random = &mut self.random;
        let (api, key, messages) = &mut self.talks[random.below(6)];
        match random.below(24) {
            // Again.
            0 => {}
            // From an earlier point.
            1 => messages.truncate(1 + random.below(messages.len()) / 2 * 2),
            // After a summary.
            2 => messages.truncate(1),
            // An edit.
            3 => {
                let at = random.below(messages.len()) / 2 * 2;
                messages.truncate(at);
                messages.push(json!({"role": "user", "content": format!("No. {turn}")}));
            }
            kind => messages.extend(api.turn(turn, kind == 4)),
        }
        (*api, key.clone(), api.body(messages))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_record_is_the_same_as_if_every_turn_was_read_whole() {
    let (address, _) = Upstream::answering("{}").await;
    let [known, whole] = ["known", "whole"].map(directory);
    let knowing = recording(address, &known, "").await;
    let forgetful = recording(address, &whole, "[limits]\nconversations_mib = 0").await;
    let mut talks = Talks::new(26);
    for turn in 0..120 {
        let (api, key, body) = talks.next(turn);
        ask(knowing, api, &key, &body).await;
        ask(forgetful, api, &key, &body).await;
    }
    let read = |gateway| figure(gateway, "photic_turns_bytes_read_total");
    let sent = |gateway| figure(gateway, "photic_turns_bytes_total");
    assert_eq!(read(forgetful).await, sent(forgetful).await);
    let (read, sent) = (read(knowing).await, sent(knowing).await);
    // The openings are long and the sessions short. How much is saved is tested below.
    assert!(read < sent / 10 * 9, "{read} of {sent} bytes were read");
    let (known, whole) = (stored(&known).await, stored(&whole).await);
    assert_eq!(known.len(), whole.len());
    for (known, whole) in known.iter().zip(&whole) {
        assert_eq!((&known.title, known.counts), (&whole.title, whole.counts));
        for (number, (known, whole)) in known.turns.iter().zip(&whole.turns).enumerate() {
            assert_eq!(known.0, whole.0, "turn {number}");
            assert!(known == whole, "turn {number}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_long_session_only_what_is_new_is_hashed() {
    let (address, _) = Upstream::answering("{}").await;
    for api in [Api::Chat, Api::Responses, Api::Messages] {
        let directory = directory(&format!("long-{api:?}"));
        let gateway = recording(address, &directory, "").await;
        let mut messages = vec![json!({"role": "user", "content": "words ".repeat(300)})];
        for turn in 0..50 {
            messages.extend(api.turn(turn, false));
            ask(gateway, api, "sk-one", &api.body(&messages)).await;
        }
        let read = figure(gateway, "photic_turns_bytes_read_total").await;
        let sent = figure(gateway, "photic_turns_bytes_total").await;
        assert!(read * 5 < sent, "{api:?}: {read} of {sent} bytes were read");
        let [session] = &stored(&directory).await[..] else { panic!("one session") };
        assert_eq!(session.turns.len(), 50);
        assert!(session.turns[49].1 == api.body(&messages));
    }
}

/// Another gateway does not know what this one wrote, and the record is the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_restart_or_another_replica_changes_nothing() {
    let (address, _) = Upstream::answering("{}").await;
    let [shared, whole] = ["shared", "alone"].map(directory);
    let replicas = [recording(address, &shared, "").await, recording(address, &shared, "").await];
    let alone = recording(address, &whole, "[limits]\nconversations_mib = 0").await;
    let mut random = SplitMix64::new(3);
    let mut messages = vec![json!({"role": "user", "content": "words ".repeat(900)})];
    for turn in 0..40 {
        messages.extend(Api::Messages.turn(turn, turn % 16 == 9));
        let body = Api::Messages.body(&messages);
        ask(replicas[random.below(2)], Api::Messages, "sk-one", &body).await;
        ask(alone, Api::Messages, "sk-one", &body).await;
    }
    let (shared, whole) = (stored(&shared).await, stored(&whole).await);
    assert!(shared == whole, "{} and {} sessions", shared.len(), whole.len());
}

/// Messages that were removed from the record are not taken to be there.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_is_deleted_meanwhile_is_recorded_whole() {
    let (address, _) = Upstream::answering("{}").await;
    let directory = directory("deleted");
    let gateway = recording(address, &directory, "").await;
    let store = LocalStore::open(&directory).unwrap();
    let mut messages = vec![json!({"role": "user", "content": "words ".repeat(900)})];
    for turn in 0..24 {
        messages.extend(Api::Chat.turn(turn, turn == 5));
        ask(gateway, Api::Chat, "sk-one", &Api::Chat.body(&messages)).await;
        if turn % 8 == 7 && turn < 23 {
            let session = store.sessions().await.unwrap().remove(0);
            assert!(store.forget(&session.id).await.unwrap());
            let grace = GracePeriods { blobs: Duration::ZERO, handles: Duration::ZERO };
            store.collect(&grace).await.unwrap();
        }
    }
    let [session] = &stored(&directory).await[..] else { panic!("one session") };
    assert_eq!(session.turns.len(), 8);
    assert!(session.turns[7].1 == Api::Chat.body(&messages));
    let page = exchange(gateway, &get("/metrics", "")).await.body;
    assert!(String::from_utf8(page).unwrap().contains("photic_turns_lost_total 0"));
}
