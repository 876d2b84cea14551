//! Garbage collection while turns are written: blobs of an unfinished turn stay.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use photic_store::contract::{self, Conversation, picture};
use photic_store::{
    BlobError, BlobId, Blobs, FileBlobs, GracePeriods, Listed, LocalStore, Sqlite, Store, Tenant,
    wait,
};

use crate::directory::TestDirectory;

/// Blobs that are collected by another process after every put, at the worst moment.
struct CollectReport {
    blobs: FileBlobs,
    place: PathBuf,
    removed: AtomicU64,
}

impl Blobs for CollectReport {
    async fn put(&self, bytes: &[u8]) -> Result<BlobId, BlobError> {
        let id = self.blobs.put(bytes)?;
        let other = LocalStore::open(&self.place).unwrap();
        let grace = GracePeriods { blobs: Duration::from_mins(10), ..GracePeriods::default() };
        let collected = wait(other.collect(&grace)).unwrap();
        self.removed.fetch_add(collected.removed, Ordering::Relaxed);
        Ok(id)
    }

    async fn touch(&self, ids: &[BlobId]) -> Result<(), BlobError> {
        self.blobs.touch(ids)
    }

    async fn get(&self, id: &BlobId) -> Result<Vec<u8>, BlobError> {
        self.blobs.get(id)
    }

    async fn size(&self, id: &BlobId) -> Result<Option<u64>, BlobError> {
        self.blobs.size(id)
    }

    async fn list(&self, after: Option<&BlobId>) -> Result<Vec<Listed>, BlobError> {
        self.blobs.list(after)
    }

    async fn remove(&self, id: &BlobId, since: SystemTime) -> Result<bool, BlobError> {
        self.blobs.remove(id, since)
    }
}

#[test]
fn a_collection_between_the_blobs_and_the_record_of_a_turn_takes_none_of_them() {
    let place = TestDirectory::new();
    let blobs = FileBlobs::open(place.join("blobs")).unwrap();
    // All were stored long ago, for a session that is gone.
    for seed in 0..4 {
        let name = blobs.put(&picture(seed, 2000)).unwrap().to_string();
        let path = place.join("blobs").join(&name[..2]).join(&name[2..4]).join(name);
        let hours = Duration::from_hours(5);
        File::open(path).unwrap().set_modified(SystemTime::now() - hours).unwrap();
    }
    let blobs = CollectReport { blobs, place: place.to_path_buf(), removed: AtomicU64::new(0) };
    let store = Store::new(Sqlite::open(&*place).unwrap(), blobs, Tenant::local());
    let id = wait(store.begin("collected")).unwrap();
    let mut talk = Conversation::new("look");
    for seed in 0..3 {
        talk.look(&picture(seed, 2000));
    }
    let (number, sent) = wait(talk.send(&store, &id, 1)).unwrap();
    assert_eq!(wait(store.body(&id, number)).unwrap(), talk.body());
    assert!(wait(store.lower(&id, number)).unwrap().body == sent);
    // Two were removed before the turn stored them, and were written again; the unused fourth is
    // gone.
    assert_eq!(store.blobs.removed.load(Ordering::Relaxed), 3);
    assert!(!store.blobs.blobs.has(&BlobId::of(&picture(3, 2000))).unwrap());
}

#[test]
fn a_new_record_is_opened_by_many_at_once() {
    for _ in 0..100 {
        let place = TestDirectory::in_memory();
        let start = Barrier::new(8);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    start.wait();
                    LocalStore::open(&*place).unwrap()
                });
            }
        });
    }
}

#[test]
fn writers_and_a_collector_do_not_disturb_each_other() {
    let place = TestDirectory::in_memory();
    let ended = AtomicBool::new(false);
    let removed = std::thread::scope(|scope| {
        let collector = scope.spawn(|| {
            let store = LocalStore::open(&*place).unwrap();
            let grace = GracePeriods { blobs: Duration::from_secs(2), handles: Duration::ZERO };
            let mut removed = 0;
            while !ended.load(Ordering::Relaxed) {
                removed += wait(store.collect(&grace)).unwrap().removed;
                std::thread::sleep(Duration::from_millis(5));
            }
            removed
        });
        let writers: Vec<_> = (0..2_u64)
            .map(|writer| {
                let place = &place;
                scope.spawn(move || {
                    let store = LocalStore::open(&**place).unwrap();
                    let started = SystemTime::now();
                    for round in 0.. {
                        // The pictures come again after their sessions were forgotten.
                        let id = wait(store.begin("disturbed")).unwrap();
                        let mut talk = Conversation::new("look");
                        for seed in 0..4 {
                            talk.look(&picture(round % 3 * 10 + seed + writer, 1500));
                            wait(talk.send(&store, &id, 1)).unwrap();
                        }
                        for turn in 1..=4 {
                            wait(store.lower(&id, turn)).unwrap();
                        }
                        if started.elapsed().unwrap() > Duration::from_secs(5) {
                            break;
                        }
                        wait(store.forget(&id)).unwrap();
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.join().unwrap();
        }
        std::thread::sleep(Duration::from_millis(2200));
        ended.store(true, Ordering::Relaxed);
        collector.join().unwrap()
    });
    let store = LocalStore::open(&*place).unwrap();
    let found = wait(contract::existing(&store)).unwrap();
    println!("{removed} blobs removed meanwhile; left {found:?}");
    assert!(removed > 0 && found.turns.len() == 2, "{removed} {found:?}");
}
