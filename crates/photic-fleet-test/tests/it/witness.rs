//! A correct store passes, and a faulty one is detected.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use photic_fleet_test::check::{CachedBlobs, Findings, turns};
use photic_fleet_test::journal::{self, Journal, Line, Turn};
use photic_store::contract::{Conversation, picture};
use photic_store::{FileBlobs, LocalStore, Sqlite, Store};

type Local = Arc<Store<Sqlite, CachedBlobs<FileBlobs>>>;

/// Creates three turns of a session with a picture each, and their journal.
async fn kept(name: &str) -> (Local, Vec<Turn>) {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("witness-{name}"));
    let _ = std::fs::remove_dir_all(&directory);
    let store = LocalStore::open(directory).unwrap();
    let id = store.begin("look").await.unwrap();
    let mut talk = Conversation::new("look");
    let mut noted = Vec::new();
    for turn in 0..3_u32 {
        let png = picture(turn.into(), 900);
        talk.look(&png);
        let (number, sent) = talk.send(&store, &id, 1).await.unwrap();
        noted.push(Turn {
            tenant: "local".to_owned(),
            session: 7,
            turn,
            acknowledged: Some(format!("{id}/{number}")),
            upstream: blake3::hash(&sent).to_hex().to_string(),
            picture: Some(blake3::hash(&png).to_hex().to_string()),
        });
    }
    let blobs = CachedBlobs::new(store.blobs);
    (Arc::new(Store { record: store.record, blobs, tenant: store.tenant }), noted)
}

async fn look(store: &Local, noted: Vec<Turn>, remake: usize) -> Findings {
    let lines: Vec<Line> = noted.into_iter().map(Line::Turn).collect();
    turns(&BTreeMap::from([("local".to_owned(), Arc::clone(store))]), &lines, remake).await
}

#[tokio::test]
async fn what_is_kept_is_found() {
    let (store, mut noted) = kept("kept").await;
    // This turn was not acknowledged.
    noted[1].acknowledged = None;
    noted[1].upstream.clear();
    noted[1].picture = Some("0".repeat(64));
    let found = look(&store, noted, 1).await;
    let wanted = Findings { promised: 2, reproduced: 2, pictures: 2, ..Findings::default() };
    assert_eq!(found, wanted);
}

#[tokio::test]
async fn a_turn_that_is_gone_is_lost() {
    let (store, mut noted) = kept("gone").await;
    let session = noted[0].promise().unwrap().0.to_owned();
    noted[2].acknowledged = Some(format!("{session}/4"));
    noted[1].acknowledged = Some(format!("{}/1", photic_store::SessionId::random().unwrap()));
    let found = look(&store, noted, 1).await;
    assert_eq!((found.promised, found.lost, found.reproduced), (3, 2, 1), "{found:?}");
}

#[tokio::test]
async fn a_turn_of_another_body_is_lost_also_where_none_is_made_again() {
    let (store, mut noted) = kept("other").await;
    noted[0].upstream = noted[1].upstream.clone();
    assert_eq!(look(&store, noted, usize::MAX).await.lost, 1);
}

#[tokio::test]
async fn a_number_is_promised_once() {
    let (store, mut noted) = kept("twice").await;
    noted[1] = Turn { turn: 1, ..noted[0].clone() };
    assert_eq!(look(&store, noted, 1).await.lost, 1);
}

#[tokio::test]
async fn a_picture_that_is_gone_is_missed() {
    let (store, mut noted) = kept("picture").await;
    noted[2].picture = Some(blake3::hash(b"never stored").to_hex().to_string());
    let found = look(&store, noted, usize::MAX).await;
    assert_eq!((found.lost, found.complained), (0, 1), "{found:?}");
}

#[test]
fn a_journal_reads_back() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("witness-journal");
    let lines = [
        Line::Turn(Turn { session: 3, ..Turn::default() }),
        Line::Failure { tenant: "a".to_owned(), status: 503, says: "a\nb".to_owned() },
    ];
    let journal = Journal::create(&path).unwrap();
    for line in &lines {
        journal.write(line).unwrap();
    }
    journal.flush().unwrap();
    assert_eq!(journal::read(&path).unwrap(), lines);
}
