//! Blobs as files: whole or absent, stored once, never the bytes of another blob.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use photic_store::{BlobError, BlobId, FileBlobs};

use crate::directory::TestDirectory;

fn path_of(root: &Path, id: &BlobId) -> PathBuf {
    let name = id.to_string();
    root.join(&name[..2]).join(&name[2..4]).join(name)
}

#[test]
fn what_was_put_is_got_and_is_there_once() {
    let place = TestDirectory::new();
    let blobs = FileBlobs::open(&*place).unwrap();
    for length in [0, 1, 100_000] {
        let bytes = vec![length as u8; length];
        let id = blobs.put(&bytes).unwrap();
        assert_eq!(id, BlobId::of(&bytes));
        assert_eq!(blobs.put(&bytes).unwrap(), id);
        assert_eq!(blobs.get(&id).unwrap(), bytes);
        assert_eq!(blobs.size(&id).unwrap(), Some(length as u64));
    }
    assert_eq!(blobs.list(None).unwrap().len(), 3);
    assert_eq!(fs::read_dir(place.join("unfinished")).unwrap().count(), 0);
    let absent = BlobId::of(b"never put");
    assert!(!blobs.has(&absent).unwrap());
    assert!(matches!(blobs.get(&absent), Err(BlobError::Absent(id)) if id == absent));
}

#[test]
fn a_torn_or_changed_file_is_never_returned_and_a_torn_one_heals() {
    let place = TestDirectory::new();
    let blobs = FileBlobs::open(&*place).unwrap();
    let bytes = b"these bytes and no other".repeat(100);
    let id = blobs.put(&bytes).unwrap();
    let path = path_of(&place, &id);
    for broken in [&bytes[..bytes.len() - 1], &bytes[1..], b"", &[bytes.as_slice(), b"x"].concat()]
    {
        fs::write(&path, broken).unwrap();
        assert!(matches!(blobs.get(&id), Err(BlobError::Damaged(of)) if of == id));
        blobs.put(&bytes).unwrap();
        assert_eq!(blobs.get(&id).unwrap(), bytes);
    }
    let mut changed = bytes.clone();
    changed[7] ^= 1;
    fs::write(&path, changed).unwrap();
    assert!(matches!(blobs.get(&id), Err(BlobError::Damaged(_))));
}

#[test]
fn each_tells_every_blob_once_in_order_and_nothing_that_is_no_blob() {
    let place = TestDirectory::new();
    let blobs = FileBlobs::open(&*place).unwrap();
    let mut expected: Vec<BlobId> = (0..2500u32).map(|n| BlobId::of(&n.to_le_bytes())).collect();
    // Written directly, because `put` waits for the disk.
    for (n, id) in expected.iter().enumerate() {
        let path = path_of(&place, id);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, (n as u32).to_le_bytes()).unwrap();
    }
    expected.sort();
    fs::write(place.join("ab.txt"), "no blob").unwrap();
    fs::create_dir_all(place.join("ab/cd")).unwrap();
    fs::write(place.join("ab/cd/README"), "no blob").unwrap();
    let mut found = Vec::new();
    let mut pages = 0;
    loop {
        let page = blobs.list(found.last()).unwrap();
        if page.is_empty() {
            break;
        }
        assert!(page.iter().all(|listed| listed.bytes == 4));
        found.extend(page.into_iter().map(|listed| listed.id));
        pages += 1;
    }
    assert!(pages > 1);
    assert_eq!(found, expected);
}

#[test]
fn only_what_was_not_stored_lately_is_removed() {
    let place = TestDirectory::new();
    let blobs = FileBlobs::open(&*place).unwrap();
    let id = blobs.put(b"old").unwrap();
    let hour = Duration::from_hours(1);
    let age = || {
        let file = fs::File::open(path_of(&place, &id)).unwrap();
        file.set_modified(SystemTime::now() - 2 * hour).unwrap();
    };
    age();
    // Storing it again renews its time.
    blobs.put(b"old").unwrap();
    assert!(!blobs.remove(&id, SystemTime::now() - hour).unwrap());
    assert!(blobs.has(&id).unwrap());
    age();
    assert!(blobs.remove(&id, SystemTime::now() - hour).unwrap());
    assert!(!blobs.has(&id).unwrap());
    assert!(!blobs.remove(&id, SystemTime::now()).unwrap(), "it was gone");
}

/// Calls a function when dropped.
struct OnDrop<F: Fn()>(F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[test]
fn whoever_puts_a_blob_has_it_whatever_removers_do() {
    let place = TestDirectory::in_memory();
    let ended = AtomicBool::new(false);
    let removed = AtomicUsize::new(0);
    let id = BlobId::of(b"contended");
    let long_ago = SystemTime::now() - Duration::from_hours(9);
    let since = SystemTime::now() - Duration::from_hours(1);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let blobs = FileBlobs::open(&*place).unwrap();
                while !ended.load(Ordering::Relaxed) {
                    if blobs.remove(&id, since).unwrap() {
                        removed.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        // Also if an assertion below fails: the threads would run forever.
        let _end = OnDrop(|| ended.store(true, Ordering::Relaxed));
        let blobs = FileBlobs::open(&*place).unwrap();
        for round in 0..3000 {
            blobs.put(b"contended").unwrap();
            assert_eq!(blobs.get(&id).unwrap(), b"contended", "lost in round {round}");
            // From here on it counts as old and may be removed.
            if let Ok(file) = fs::File::open(path_of(&place, &id)) {
                file.set_modified(long_ago).unwrap();
            }
        }
    });
    println!("removed {} times", removed.load(Ordering::Relaxed));
    assert!(removed.load(Ordering::Relaxed) > 0, "nobody contended");
}

#[test]
fn what_killed_processes_left_is_tidied() {
    let place = TestDirectory::new();
    let blobs = FileBlobs::open(&*place).unwrap();
    fs::write(place.join("unfinished/1-2-3"), "half").unwrap();
    // Killed between the rename and the decision.
    let id = blobs.put(b"leaving").unwrap();
    fs::rename(path_of(&place, &id), place.join(format!("leaving/{id}-1-2-3"))).unwrap();
    assert_eq!(blobs.get(&id).unwrap(), b"leaving", "it is still there for whoever reads");
    assert_eq!(blobs.tidy(SystemTime::now() - Duration::from_hours(1)).unwrap(), 1);
    assert!(path_of(&place, &id).exists());
    assert!(place.join("unfinished/1-2-3").exists(), "somebody may be writing it");
    assert_eq!(blobs.tidy(SystemTime::now() + Duration::from_secs(5)).unwrap(), 1);
    assert!(!place.join("unfinished/1-2-3").exists());
}

#[test]
fn many_writers_of_the_same_bytes_leave_one_blob() {
    let place = TestDirectory::new();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let blobs = FileBlobs::open(&*place).unwrap();
                for n in 0..40u32 {
                    let bytes = n.to_le_bytes().repeat(5000);
                    let id = blobs.put(&bytes).unwrap();
                    assert_eq!(blobs.get(&id).unwrap(), bytes);
                }
            });
        }
    });
    assert_eq!(FileBlobs::open(&*place).unwrap().list(None).unwrap().len(), 40);
    assert_eq!(fs::read_dir(place.join("unfinished")).unwrap().count(), 0);
}
