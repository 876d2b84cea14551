//! Tests of the record's growth: many views of one picture, and long sessions.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime};

use photic::retention::Retention;
use photic::{Form, MediaId, Wire};

use super::{LocalStore, Store, keys};
use crate::blobs::{BlobId, Blobs, FileBlobs, Listed};
use crate::contract::{Conversation, picture};
use crate::error::BlobError;
use crate::handle::Tenant;
use crate::record::{
    ArrivedMessages, CutMedia, Fates, NewMessage, NewSegment, NewTurn, Record as _, SessionId,
    TurnCost,
};
use crate::sqlite::Sqlite;
use crate::wait;

/// A temporary directory, in memory if possible, because these tests are not about disks.
struct TestDirectory(PathBuf);

impl TestDirectory {
    fn new(name: &str) -> Self {
        let memory = PathBuf::from("/dev/shm");
        let root = if memory.is_dir() { memory } else { std::env::temp_dir() };
        let path = root.join(format!("photic-store-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }

    /// Returns the size of the record in bytes.
    fn record(&self) -> u64 {
        let file = |name: &str| std::fs::metadata(self.0.join(name)).map_or(0, |facts| facts.len());
        file("record.db")
    }
}

impl Drop for TestDirectory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Blobs that count reads.
#[derive(Debug)]
struct Counting(FileBlobs, AtomicU64);

impl Blobs for Counting {
    async fn put(&self, bytes: &[u8]) -> Result<BlobId, BlobError> {
        self.0.put(bytes)
    }

    async fn touch(&self, ids: &[BlobId]) -> Result<(), BlobError> {
        self.0.touch(ids)
    }

    async fn get(&self, id: &BlobId) -> Result<Vec<u8>, BlobError> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.get(id)
    }

    async fn size(&self, id: &BlobId) -> Result<Option<u64>, BlobError> {
        self.0.size(id)
    }

    async fn list(&self, after: Option<&BlobId>) -> Result<Vec<Listed>, BlobError> {
        self.0.list(after)
    }

    async fn remove(&self, id: &BlobId, since: SystemTime) -> Result<bool, BlobError> {
        self.0.remove(id, since)
    }
}

#[test]
fn a_thousand_views_of_one_picture_add_one_blob_and_less_than_a_megabyte() {
    const VIEWS: usize = 1000;
    let place = TestDirectory::new("views");
    let record = Sqlite::open(&place.0).unwrap();
    let id = wait(record.begin(&Tenant::local(), "views")).unwrap();
    let shot = picture(1, 1500);
    let mut grower = Grower::new(&id, Retention::default());
    grower.grow(&record, 0, &shot);
    drop(record);
    let before = place.record();
    let record = Sqlite::open(&place.0).unwrap();
    for turn in 1..VIEWS {
        grower.grow(&record, turn, &shot);
    }
    drop(record);
    let store = LocalStore::open(&place.0).unwrap();
    store.blobs.put(&shot).unwrap();
    let mut talk = grower.talk;
    talk.look(&shot);
    let (last, sent) = wait(talk.send(&store, &id, 1)).unwrap();
    let session = wait(store.session(&id)).unwrap();
    assert_eq!((session.turns, session.messages, session.blobs), (1001, 2002, 1));
    assert_eq!(store.blobs.list(None).unwrap().len(), 1);
    assert_eq!(wait(store.body(&id, last)).unwrap(), talk.body());
    assert_eq!(wait(store.lower(&id, last)).unwrap().body, sent);
    // Closed, so that the log is in the file.
    drop(store);
    let added = place.record() - before;
    println!("{VIEWS} views of one picture: 1 blob, {added} bytes of record");
    assert!(added < 1_000_000, "{added}");
}

/// Writes turns like [`Store::append`], without lifting a body that grows to megabytes each time.
struct Grower<'a> {
    id: &'a SessionId,
    talk: Conversation,
    links: Vec<NewMessage<'a>>,
}

impl<'a> Grower<'a> {
    fn new(id: &'a SessionId, retention: Retention) -> Self {
        let mut talk = Conversation::new("");
        talk.messages.clear();
        talk.policy.retention = retention;
        Self { id, talk, links: Vec::new() }
    }

    fn grow(&mut self, record: &Sqlite, turn: usize, shot: &[u8]) {
        let from = self.talk.messages.len();
        self.talk.look(shot);
        let mut last = self.links.last().map_or_else(|| keys::start(self.id), |link| link.chain);
        for (at, message) in self.talk.messages.iter().enumerate().skip(from) {
            let comma = if at == 0 { "" } else { "," };
            let raw: &'static [u8] = format!("{comma}{message}").into_bytes().leak();
            let cuts = cut(raw, shot, turn);
            let stretch = NewSegment { raw, cuts };
            last = keys::next(&last, &stretch);
            self.links.push(NewMessage { chain: last, stretch });
        }
        let facts =
            crate::Facts { media_type: None, bytes: shot.len() as u64, ..crate::Facts::default() };
        let plain = |raw| NewSegment { raw, cuts: Vec::new() };
        let entry = NewTurn {
            wire: Wire::OpenAiChat,
            before: plain(b"{\"model\":\"gpt-4o\",\"stream\":true,\"messages\":["),
            follows: None,
            messages: &self.links,
            after: plain(b"],\"tools\":[]}"),
            conversation_key: Some(last),
            profile: serde_json::to_string(&self.talk.profile).unwrap(),
            policy: serde_json::to_string(&self.talk.policy).unwrap(),
            circumstances: "{}".to_owned(),
            memories: vec![(BlobId::of(shot), remembered(shot))],
            holds: vec![(BlobId::of(shot), facts)],
            made: Vec::new(),
            digest: [0; 32],
            length: 1_000_000,
            sums: TurnCost::default(),
            fates: Fates::default(),
            sent: None,
            arrived: ArrivedMessages::default(),
            time: 1,
        };
        wait(record.append(&Tenant::local(), self.id, &entry)).unwrap();
    }
}

fn cut(raw: &[u8], shot: &[u8], turn: usize) -> Vec<(std::ops::Range<usize>, CutMedia)> {
    let base64 = photic::media::Payload::encode(shot);
    let base64 = base64.base64();
    let found = raw.windows(base64.len()).position(|window| window == base64);
    let piece = CutMedia { form: Form::Base64, media: MediaId::new(turn), blob: BlobId::of(shot) };
    found.map(|at| (at..at + base64.len(), piece)).into_iter().collect()
}

fn remembered(shot: &[u8]) -> photic::MediaStub {
    let base64 = photic::media::Payload::encode(shot);
    let head = String::from_utf8(base64.base64()[..256].to_vec()).unwrap();
    photic::MediaStub { digest: *BlobId::of(shot).as_bytes(), bytes: shot.len(), pages: None, head }
}

#[test]
fn ten_thousand_turns_open_at_once_and_the_last_lowers_without_older_blobs() {
    const TURNS: usize = 10_000;
    let place = TestDirectory::new("turns");
    let record = Sqlite::open(&place.0).unwrap();
    let id = wait(record.begin(&Tenant::local(), "long")).unwrap();
    let mut grower = Grower::new(&id, Retention::Newest(2));
    for turn in 0..TURNS - 1 {
        grower.grow(&record, turn, &picture(turn as u64, 600));
    }
    drop(record);

    // The last turn as a host would write it: the whole body is lifted, planned, lowered and
    // appended. The blobs of older pictures do not exist, so that nothing can read them.
    let blobs = FileBlobs::open(place.0.join("blobs")).unwrap();
    for turn in TURNS - 3..TURNS - 1 {
        blobs.put(&picture(turn as u64, 600)).unwrap();
    }
    let record = Sqlite::open(&place.0).unwrap();
    let store = Store::new(record, Counting(blobs, AtomicU64::new(0)), Tenant::local());
    let mut talk = grower.talk;
    talk.look(&picture(TURNS as u64, 600));
    let started = Instant::now();
    let (number, sent) = wait(talk.send(&store, &id, 2)).unwrap();
    println!("turn {number} appended in {:?}", started.elapsed());
    assert_eq!(number, TURNS as u64);
    let session = wait(store.session(&id)).unwrap();
    assert_eq!(session.messages, 2 * TURNS as u64, "what was known was not written again");
    drop(store.record);

    let started = Instant::now();
    let record = Sqlite::open(&place.0).unwrap();
    let store = Store::new(record, store.blobs, Tenant::local());
    let (session, last) = wait(store.open_session(&id)).unwrap();
    let opened = started.elapsed();
    assert_eq!((session.turns, last.unwrap().number), (TURNS as u64, TURNS as u64));
    let started = Instant::now();
    let view = wait(store.lower(&id, TURNS as u64)).unwrap();
    println!(
        "a session of {TURNS} turns, {} KB of record: opened in {opened:?}; its last turn lowered \
         in {:?}, reading {} blobs",
        place.record() / 1000,
        started.elapsed(),
        store.blobs.1.load(Ordering::Relaxed)
    );
    assert!(view.body == sent);
    assert_eq!(store.blobs.1.load(Ordering::Relaxed), 2);
    assert!(opened.as_millis() < 100, "{opened:?}");
}
