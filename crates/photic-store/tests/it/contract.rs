//! Runs the contract suite on `SQLite` and files.

use photic_store::{LocalStore, Sqlite, Tenant, contract, wait};

use crate::directory::TestDirectory;

#[test]
fn the_local_store_keeps_every_promise() {
    let place = TestDirectory::new();
    let store = LocalStore::open(&*place).unwrap();
    wait(contract::fresh(&store)).unwrap();
    // A store that is opened later has the same contents.
    let before = wait(contract::existing(&store)).unwrap();
    drop(store);
    let again = LocalStore::open(&*place).unwrap();
    assert_eq!(wait(contract::existing(&again)).unwrap(), before);
    assert!(before.turns.len() >= 5 && before.blobs > 10, "{before:?}");
}

#[test]
fn the_local_store_keeps_every_promise_about_work() {
    let place = TestDirectory::new();
    wait(contract::work(&Sqlite::open(&*place).unwrap())).unwrap();
}

#[test]
fn a_record_of_the_first_format_gets_work_lists_and_loses_nothing() {
    let place = TestDirectory::new();
    std::fs::create_dir_all(&*place).unwrap();
    let old = rusqlite::Connection::open(place.join("record.db")).unwrap();
    old.execute_batch(include_str!("../../src/sqlite/schema.sql")).unwrap();
    old.execute_batch("INSERT INTO tenant VALUES (1, 'local', zeroblob(32))").unwrap();
    old.pragma_update(None, "user_version", 1).unwrap();
    drop(old);
    let record = Sqlite::open(&*place).unwrap();
    assert_eq!(record.secret(&Tenant::local()).unwrap(), [0; 32].into());
    wait(contract::work(&record)).unwrap();
}

#[cfg(unix)]
#[test]
fn what_people_said_is_for_their_eyes_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = TestDirectory::new();
    LocalStore::open(place.join("state/photic")).unwrap();
    for path in ["state", "state/photic", "state/photic/blobs"] {
        let mode = std::fs::metadata(place.join(path)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{path}");
    }
}
