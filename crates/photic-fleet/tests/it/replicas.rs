//! Many replicas at once, on one database.

use photic_fleet::{Documents as _, Postgres, PostgresOptions};
use photic_store::contract::{self, Conversation, picture};
use photic_store::record::Record as _;
use photic_store::{Handles as _, Tenant};

use crate::servers::place;

#[tokio::test(flavor = "multi_thread")]
async fn a_new_database_is_opened_by_many_at_once() {
    let Some(place) = place().await else { return };
    let opening = (0..6).map(|_| {
        let database = place.database.clone();
        tokio::spawn(async move {
            let options = PostgresOptions { connections: 2, ..PostgresOptions::default() };
            let record = Postgres::open(&database, options).await.unwrap();
            record.secret(&Tenant::new("one of many")).await.unwrap()
        })
    });
    let mut secrets = Vec::new();
    for opened in opening.collect::<Vec<_>>() {
        secrets.push(opened.await.unwrap());
    }
    assert!(secrets.iter().all(|secret| *secret == secrets[0]), "one tenant has one secret");
}

#[tokio::test(flavor = "multi_thread")]
async fn turns_of_one_session_written_by_several_replicas_are_all_there() {
    let Some(place) = place().await else { return };
    let fleet = place.open().await;
    let tenant = Tenant::new("busy");
    let id = fleet.store(tenant.clone()).begin("busy").await.unwrap();
    let mut numbers = Vec::new();
    let mut writing = Vec::new();
    for replica in 0..3_u64 {
        let store = place.open().await.store(tenant.clone());
        let id = id.clone();
        writing.push(tokio::spawn(async move {
            let mut talk = Conversation::new("look");
            let mut numbers = Vec::new();
            for turn in 0..6 {
                talk.look(&picture(turn, 1500));
                talk.look(&picture(100 + turn + replica % 2, 1500));
                numbers.push(talk.send(&store, &id, 1).await.unwrap().0);
            }
            numbers
        }));
    }
    for written in writing {
        numbers.extend(written.await.unwrap());
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=18).collect::<Vec<u64>>());
    let store = fleet.store(tenant);
    assert_eq!(contract::existing(&store).await.unwrap().turns, [(id.clone(), 18)]);
    // Two replicas sent the same, and the third the same up to its second picture.
    let messages = store.record.session(&store.tenant, &id).await.unwrap().unwrap().messages;
    assert_eq!(messages, 1 + 3 + 2 * 21);
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_are_forgotten_while_others_are_written() {
    let Some(place) = place().await else { return };
    let tenant = Tenant::new("forgetful");
    let mut writing = Vec::new();
    for _ in 0..3 {
        let store = place.open().await.store(tenant.clone());
        writing.push(tokio::spawn(async move {
            let mut last = None;
            for round in 0..6 {
                let id = store.begin("forgotten").await.unwrap();
                let mut talk = Conversation::new("look");
                talk.look(&picture(round % 2, 1500));
                talk.send(&store, &id, 1).await.unwrap();
                if let Some(last) = last.replace(id) {
                    assert!(store.forget(&last).await.unwrap());
                }
                store.collect(&photic_store::GracePeriods::default()).await.unwrap();
            }
        }));
    }
    for written in writing {
        written.await.unwrap();
    }
    let store = place.open().await.store(tenant);
    assert_eq!(contract::existing(&store).await.unwrap().turns.len(), 3);
    // All of them refer to this picture, so its handle exists.
    let handle = store.name(photic_store::BlobId::of(&picture(1, 1500)).as_bytes()).await.unwrap();
    assert!(store.record.resolve(&store.tenant, &handle).await.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_replica_knows_may_be_so_no_more() {
    let Some(place) = place().await else { return };
    let tenant = Tenant::new("knowing");
    let (fleet, other) = (place.open().await, place.open().await);
    let (store, elsewhere) = (fleet.store(tenant.clone()), other.store(tenant));
    let mut talk = Conversation::new("look");
    talk.look(&picture(1, 1500));
    let first = store.begin("first").await.unwrap();
    talk.send(&store, &first, 1).await.unwrap();

    // The session continues elsewhere, then here again.
    talk.look(&picture(2, 1500));
    talk.send(&elsewhere, &first, 2).await.unwrap();
    talk.look(&picture(3, 1500));
    let (number, sent) = talk.send(&store, &first, 3).await.unwrap();
    assert_eq!(number, 3);
    assert_eq!(store.lower(&first, 3).await.unwrap().body, sent);
    assert_eq!(store.session(&first).await.unwrap().messages, 7);
    // Back to an earlier point and on: later messages are known.
    let mut back = talk.clone();
    back.messages.truncate(3);
    back.send(&store, &first, 4).await.unwrap();
    talk.send(&store, &first, 5).await.unwrap();
    assert_eq!(store.session(&first).await.unwrap().messages, 7);

    // It is forgotten elsewhere, with all shared segments.
    assert!(elsewhere.forget(&first).await.unwrap());
    let none =
        photic_store::GracePeriods { blobs: std::time::Duration::ZERO, ..Default::default() };
    elsewhere.collect(&none).await.unwrap();
    let gone = talk.try_send(&store, &first, 6).await;
    assert!(matches!(gone, Err(photic_store::Error::NoSession(_))), "{gone:?}");
    let second = store.begin("second").await.unwrap();
    let (_, sent) = talk.send(&store, &second, 7).await.unwrap();
    assert_eq!(store.lower(&second, 1).await.unwrap().body, sent);

    // Days pass without requests, and then one with text only.
    fleet.record.pretend_later(10);
    talk.messages.push(serde_json::json!({"role": "user", "content": "still there?"}));
    talk.send(&store, &second, 8).await.unwrap();
    assert_eq!(contract::existing(&store).await.unwrap().turns, [(second, 2)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_replica_loses_what_another_learned() {
    let Some(place) = place().await else { return };
    let fleet = place.open().await;
    let learning = (0..5).map(|replica| {
        let record = fleet.record.clone();
        tokio::spawn(async move {
            for lesson in 0..5 {
                let line = format!("{replica} learned {lesson}\n");
                record.change_document("learned", |text| format!("{text}{line}")).await.unwrap();
            }
        })
    });
    for learned in learning.collect::<Vec<_>>() {
        learned.await.unwrap();
    }
    let learned = fleet.record.document("learned").await.unwrap();
    assert_eq!((learned.version, learned.text.lines().count()), (25, 25));
    let stale = photic_fleet::Document { version: 24, text: String::new() };
    assert!(!fleet.record.replace_document("learned", &stale, "").await.unwrap());
}
