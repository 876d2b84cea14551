//! A full disk: committed turns stay readable, failed writes are reported, and writing works again
//! when there is space.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use photic_store::contract::{self, Conversation, picture};
use photic_store::{BlobError, Error, LocalStore, wait};
use serde_json::json;

use crate::directory::TestDirectory;

const DIRECTORY_VARIABLE: &str = "PHOTIC_FULL_DISK";

/// Not a test by itself: runs on a small disk.
#[test]
fn on_a_small_disk() {
    let Ok(directory) = std::env::var(DIRECTORY_VARIABLE) else { return };
    let directory = Path::new(&directory);
    let ballast = directory.join("ballast");
    fs::write(&ballast, vec![7; 600_000]).unwrap();
    let store = LocalStore::open(directory).unwrap();
    let id = wait(store.begin("full")).unwrap();
    let mut talk = Conversation::new("look");
    let mut turns = 0;
    let error = loop {
        talk.look(&picture(turns, 20_000));
        match send(&talk, &store, &id) {
            Ok(number) => turns = number,
            Err(error) => break error,
        }
        assert!(turns < 1000, "the disk never fills");
    };
    assert!(is_full(&error), "{error:?}");
    let found = wait(contract::existing(&store)).unwrap();
    assert_eq!(found.turns, [(id.clone(), turns)]);

    // To the last byte, so that the record has no space either.
    fill(&ballast);
    let mut words = Conversation::new("words");
    words.messages.push(json!({"role": "user", "content": "word ".repeat(20_000)}));
    let error = send(&words, &store, &id).unwrap_err();
    assert!(is_full(&error), "{error:?}");
    assert_eq!(wait(contract::existing(&store)).unwrap(), found);
    drop(store);
    fill(&ballast);
    let again = LocalStore::open(directory).unwrap();
    assert_eq!(wait(contract::existing(&again)).unwrap(), found);
    assert!(is_full(&send(&words, &again, &id).unwrap_err()));
    drop(again);

    fs::remove_file(ballast).unwrap();
    let again = LocalStore::open(directory).unwrap();
    assert_eq!(send(&words, &again, &id).unwrap(), turns + 1);
    wait(contract::existing(&again)).unwrap();
    println!("full after {turns} turns, readable, and writable again");
}

fn send(
    talk: &Conversation,
    store: &LocalStore,
    id: &photic_store::SessionId,
) -> Result<u64, Error> {
    let body = talk.body();
    let (transcript, _) = photic::lift(photic::Wire::OpenAiChat, &body);
    let plan = photic::plan(photic::survey(&transcript), &talk.profile, &talk.policy);
    let lowered = photic::lower(&transcript, &plan);
    let done = photic_store::FinishedTurn {
        shed: &[],
        transcript: &transcript,
        plan: &plan,
        policy: &talk.policy,
        prepared: &photic::Prepared::new(),
        sent: photic_store::SentBody::of(&lowered.body),
        hashes: None,
        conversation_key: None,
        remembered: &BTreeMap::new(),
        time: 1,
    };
    wait(store.append(id, &done))
}

fn is_full(error: &Error) -> bool {
    matches!(error, Error::Full(_) | Error::Blob(BlobError::Full(_)))
}

fn fill(path: &Path) {
    use std::io::Write as _;
    let mut file = fs::File::options().create(true).append(true).open(path).unwrap();
    for size in [4096, 512, 1] {
        while file.write_all(&vec![7; size]).is_ok() {}
    }
}

#[test]
fn a_full_disk_leaves_the_record_readable() {
    let place = TestDirectory::new();
    let output = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c"])
        .arg("mount -t tmpfs -o size=2m none \"$1\" || exit 77; shift; exec \"$@\"")
        .arg("sh")
        .arg(&*place)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "full::on_a_small_disk", "--nocapture"])
        .env(DIRECTORY_VARIABLE, &*place)
        .output();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output {
        Ok(output) if output.status.success() => {
            let out = said(&output.stdout);
            assert!(out.contains("full after"), "{out}");
            println!("{out}");
        }
        Ok(output) if output.status.code() == Some(101) => {
            panic!("{}{}", said(&output.stdout), said(&output.stderr));
        }
        // Namespaces are not available: the test is skipped with a message.
        other => println!("SKIPPED: no small disk can be mounted here: {other:?}"),
    }
}
