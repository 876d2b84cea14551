//! Records of older and newer versions. `tests/records/0.1.0` was written by version 0.1.0 (commit
//! f072c7f), with the bodies and lowered requests of its turns as digests in `expected.json`.
//!
//! Its format is 3. No version that was handed out wrote formats 1 and 2: records of these are the
//! same one with the tables of the later formats taken away.

use std::path::{Path, PathBuf};

use photic_store::{Error, LocalStore, SessionId, wait};
use serde::Deserialize;

use crate::directory::TestDirectory;

/// A turn of the stored record.
#[derive(Deserialize)]
struct Expected {
    session: SessionId,
    turn: u64,
    case: String,
    /// BLAKE3 of the client's body.
    body: String,
    /// BLAKE3 of what was sent.
    sent: String,
}

/// Commands that lead back from format 3 to each format.
const BACK: [(u32, &str); 3] = [
    (3, ""),
    (2, "DROP TABLE chunk; DROP TABLE job; DROP TABLE answer; PRAGMA user_version = 2"),
    (
        1,
        "DROP TABLE chunk; DROP TABLE job; DROP TABLE answer; DROP TABLE media;
         PRAGMA user_version = 1",
    ),
];

/// Turns whose request is repaired differently since 0.1.0, so that what was sent cannot be made again.
/// Their bodies can. A new line here is a change that users see: it belongs into the changelog.
const REPAIRED_DIFFERENTLY: [&str; 11] = [
    "anthropic-file-address to anthropic",
    "longer-bare-base64 to openai-chat",
    "longer-bare-base64 to openai-responses",
    "longer-bare-base64 to anthropic",
    "longer-bare-base64 to gemini",
    "longer-bare-base64 to bedrock-converse",
    "longer-bare-base64 to ollama",
    "responses-missing-output to openai-chat",
    "review-first-message-moves to openai-chat",
    "review-label-injection to anthropic",
    "shape-mcp-error to openai-chat",
];

fn stored() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records/0.1.0")
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn database(directory: &Path) -> rusqlite::Connection {
    rusqlite::Connection::open(directory.join("record.db")).unwrap()
}

fn format(directory: &Path) -> u32 {
    database(directory).query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

#[test]
fn records_of_every_earlier_format_are_opened_and_lose_nothing() {
    let expected = std::fs::read(stored().join("expected.json")).unwrap();
    let expected: Vec<Expected> = serde_json::from_slice(&expected).unwrap();
    assert_eq!(expected.len(), 162);
    for (earlier, back) in BACK {
        let place = TestDirectory::in_memory();
        copy(&stored(), &place);
        database(&place).execute_batch(back).unwrap();
        assert_eq!(format(&place), earlier);

        let store = LocalStore::open(&*place).unwrap();
        let mut changed = Vec::new();
        for turn in &expected {
            let Expected { session, turn: number, case, .. } = turn;
            let body = wait(store.body(session, *number)).unwrap();
            assert!(*blake3::hash(&body).to_hex() == *turn.body, "format {earlier}: {case}");
            match wait(store.lower(session, *number)) {
                Ok(view) => {
                    assert!(*blake3::hash(&view.body).to_hex() == *turn.sent, "{case}");
                }
                Err(Error::NotReproduced(_)) => changed.push(case.as_str()),
                Err(error) => panic!("format {earlier}: {case}: {error}"),
            }
        }
        assert_eq!(changed, REPAIRED_DIFFERENTLY, "format {earlier}");
        let sessions = wait(store.sessions()).unwrap();
        assert_eq!(sessions.len(), 5);
        // What was not stored then is not known, and is not 0.
        for session in sessions {
            let rows = wait(store.turn_rows(&session.id, 1, 1000)).unwrap();
            assert_eq!(rows.len() as u64, session.turns);
            for row in rows {
                assert!(row.fates.is_none() && row.change.is_none() && row.outcome.is_none());
            }
            let sums = wait(store.session_row(&session.id)).unwrap().sums;
            assert_eq!((sums.reported, sums.model), (0, None));
            wait(store.picture_page(&session.id, 1, 1000)).unwrap();
        }
        drop(store);
        assert_eq!(format(&place), 4);
    }
}

#[test]
fn a_record_of_a_newer_version_is_refused_and_left_as_it_is() {
    let place = TestDirectory::new();
    copy(&stored(), &place);
    database(&place).pragma_update(None, "user_version", 99).unwrap();
    let before = std::fs::read(place.join("record.db")).unwrap();

    let refused = LocalStore::open(&*place).unwrap_err();
    assert!(matches!(refused, Error::TooNew { found: 99, known: 4 }), "{refused:?}");
    let said = refused.to_string();
    assert!(said.contains("format 99") && said.contains("up to 4"), "{said}");
    assert!(said.contains("update photic"), "{said}");
    // The switch to a journal of its own touches the header and nothing else.
    assert_eq!(format(&place), 99);
    let after = std::fs::read(place.join("record.db")).unwrap();
    assert_eq!(before.len(), after.len());
}
