//! The suite that every backend has to pass, on `SQLite` and files.

use photic_store::{LocalStore, contract, wait};

use crate::place::Place;

#[test]
fn the_local_store_keeps_every_promise() {
    let place = Place::new();
    let store = LocalStore::open(&*place).unwrap();
    wait(contract::fresh(&store)).unwrap();
    // Somebody who opens it later finds the same.
    let before = wait(contract::existing(&store)).unwrap();
    drop(store);
    let again = LocalStore::open(&*place).unwrap();
    assert_eq!(wait(contract::existing(&again)).unwrap(), before);
    assert!(before.turns.len() >= 5 && before.blobs > 10, "{before:?}");
}

#[cfg(unix)]
#[test]
fn what_people_said_is_for_their_eyes_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    LocalStore::open(place.join("state/photic")).unwrap();
    for path in ["state", "state/photic", "state/photic/blobs"] {
        let mode = std::fs::metadata(place.join(path)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{path}");
    }
}
