//! Handles: constant for a tenant, invalid for others.

use photic_store::{BlobId, Facts, Handle, Sqlite, Tenant};

use crate::directory::TestDirectory;

fn facts(label: &str) -> Facts {
    Facts {
        media_type: Some("image/png".into()),
        size: Some((1280, 800)),
        bytes: 1234,
        label: Some(label.into()),
    }
}

#[test]
fn a_handle_is_the_same_for_ever_and_its_newest_facts_hold() {
    let place = TestDirectory::new();
    let blob = BlobId::of(b"picture");
    let tenant = Tenant::local();
    let first = Sqlite::open(&*place).unwrap().issue(&tenant, &blob, &facts("one")).unwrap();
    let record = Sqlite::open(&*place).unwrap();
    assert_eq!(record.issue(&tenant, &blob, &facts("two")).unwrap(), first);
    let issued = record.resolve(&tenant, &first).unwrap().unwrap();
    assert_eq!((issued.blob, issued.facts, issued.pinned), (blob, facts("two"), false));
    assert!(record.pin(&tenant, &first).unwrap());
    assert!(record.resolve(&tenant, &first).unwrap().unwrap().pinned);
    // Issuing it again keeps it pinned.
    record.issue(&tenant, &blob, &facts("three")).unwrap();
    assert!(record.resolve(&tenant, &first).unwrap().unwrap().pinned);
}

#[test]
fn a_handle_of_one_tenant_means_nothing_to_another() {
    let place = TestDirectory::new();
    let record = Sqlite::open(&*place).unwrap();
    let blob = BlobId::of(b"picture");
    let (ours, theirs) = (Tenant::new("ours"), Tenant::new("theirs"));
    let handle = record.issue(&ours, &blob, &facts("")).unwrap();
    assert_eq!(record.resolve(&theirs, &handle).unwrap(), None);
    assert!(!record.pin(&theirs, &handle).unwrap());
    let other = record.issue(&theirs, &blob, &facts("")).unwrap();
    assert_ne!(handle, other);
    assert_eq!(record.resolve(&ours, &other).unwrap(), None);
    // The hash does not resolve as a handle.
    let guess: Handle = format!("img_{}", &blob.to_string()[..16]).parse().unwrap();
    assert_eq!(record.resolve(&ours, &guess).unwrap(), None);
}

#[test]
fn two_records_of_one_file_agree_on_the_secret() {
    let place = TestDirectory::new();
    let blob = BlobId::of(b"picture");
    let handles: Vec<Handle> = std::thread::scope(|scope| {
        let open = || Sqlite::open(&*place).unwrap().issue(&Tenant::local(), &blob, &facts(""));
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap().unwrap()).collect()
    });
    assert!(handles.iter().all(|handle| *handle == handles[0]), "{handles:?}");
}
