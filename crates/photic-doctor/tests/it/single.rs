//! Single promises: formats that are none, histories that are forgotten, lines that keep their
//! length.

use photic_doctor::{DiagnosisTarget, Error, SessionFormat, detect, diagnose, repair, replace};
use photic_testkit::image;
use serde_json::json;

use crate::sessions::{Folder, Step, write};

const LONG: fn() -> Vec<u8> = || image::png(8100, 4, [9, 9, 9]);

#[test]
fn what_is_no_session_is_refused_with_what_was_looked_for() {
    let folder = Folder::new();
    for (name, text) in [
        ("empty", ""),
        ("prose", "Dear diary,\n"),
        ("json", "{\"hello\":\"world\"}\n"),
        ("lines", "{\"a\":1}\n{\"a\":2}\n"),
        ("list", "[1,2,3]"),
    ] {
        let path = folder.0.join(name);
        std::fs::write(&path, text).unwrap();
        let error = detect(&path).unwrap_err();
        assert!(matches!(error, Error::UnknownFormat(_)), "{name}: {error}");
        let says = error.to_string();
        for format in SessionFormat::SESSIONS {
            assert!(says.contains(format.name()), "{says}");
        }
        assert!(says.contains("openai-responses"), "{says}");
    }
    let path = folder.0.join("database");
    rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
    assert!(matches!(detect(&path), Err(Error::UnknownFormat(_))));
}

#[test]
fn lines_of_codex_keep_their_places() {
    let folder = Folder::new();
    let steps = [
        Step::Returns(vec![("image/png", LONG())]),
        Step::Shows(vec![("image/bmp", image::bmp(40, 40, [9; 3]))]),
    ];
    let path = write(SessionFormat::Codex, &steps, "gpt-5.1", &folder.0);
    let to = folder.0.join("repaired");
    repair(&path, &to, &DiagnosisTarget::default(), &mut |_| {}).unwrap().unwrap();
    let lengths = |path| -> Vec<usize> {
        std::fs::read_to_string(path).unwrap().lines().map(str::len).collect()
    };
    assert_eq!(lengths(&to), lengths(&path));
}

#[test]
fn what_was_compacted_makes_nobody_sick() {
    let folder = Folder::new();
    for (format, boundary) in [
        (
            SessionFormat::ClaudeCode,
            json!({"type": "system", "subtype": "compact_boundary", "uuid": "b", "sessionId": "s"}),
        ),
        (
            SessionFormat::Codex,
            json!({"timestamp": "", "type": "compacted", "payload": {"message": "a summary"}}),
        ),
        (
            SessionFormat::Pi,
            json!({"type": "compaction", "id": "c", "parentId": "e3", "summary": "", "firstKeptEntryId": "e3"}),
        ),
        (SessionFormat::GeminiCli, json!({"$rewindTo": "g1"})),
        (
            SessionFormat::QwenCode,
            json!({"uuid": "x", "sessionId": "s", "type": "system", "subtype": "chat_compression", "systemPayload": {"compressedHistory": []}}),
        ),
    ] {
        let path = write(
            format,
            &[Step::Shows(vec![("image/png", LONG())])],
            "claude-sonnet-4-5",
            &folder.0,
        );
        let sick =
            |path| diagnose(path, &DiagnosisTarget::default(), &mut |_| {}).unwrap().is_broken();
        assert!(sick(&path), "{}", format.name());
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{text}{boundary}\n")).unwrap();
        assert!(!sick(&path), "{}", format.name());
    }
}

#[test]
fn a_message_that_is_written_again_counts_once() {
    let folder = Folder::new();
    let path = write(
        SessionFormat::GeminiCli,
        &[Step::Shows(vec![("image/png", LONG())])],
        "gemini-3-pro",
        &folder.0,
    );
    let text = std::fs::read_to_string(&path).unwrap();
    let line = text.lines().nth(1).unwrap();
    std::fs::write(&path, format!("{text}{line}\n")).unwrap();
    let found = diagnose(&path, &DiagnosisTarget::default(), &mut |_| {}).unwrap();
    let sent: Vec<bool> = found.media.iter().map(|medium| medium.is_sent).collect();
    assert_eq!(sent, [false, true]);
}

#[test]
fn helpers_of_an_agent_are_sent_only_in_files_of_their_own() {
    let folder = Folder::new();
    let path = write(
        SessionFormat::ClaudeCode,
        &[Step::Shows(vec![("image/png", LONG())])],
        "claude-sonnet-4-5",
        &folder.0,
    );
    let sick = |path| diagnose(path, &DiagnosisTarget::default(), &mut |_| {}).unwrap().is_broken();
    let text = std::fs::read_to_string(&path).unwrap();
    let aside = text.replace("\"isSidechain\":false", "\"isSidechain\":true");
    std::fs::write(&path, &aside).unwrap();
    assert!(sick(&path), "a file of a helper");
    let main = json!({"type": "user", "uuid": "z", "sessionId": "s", "isSidechain": false, "message": {"role": "user", "content": "hello"}});
    std::fs::write(&path, format!("{aside}{main}\n")).unwrap();
    assert!(!sick(&path), "a helper in the file of its agent");
}

#[test]
fn a_document_of_several_lines_is_one_session() {
    let folder = Folder::new();
    let path = folder.0.join("session.json");
    let part = json!({"inlineData": {"mimeType": "image/png", "data": image::base64(&LONG())}});
    let session = json!({"sessionId": "s", "projectHash": "p", "messages": [
        {"id": "1", "type": "user", "content": [part, {"text": "look"}]}]});
    std::fs::write(&path, serde_json::to_string_pretty(&session).unwrap()).unwrap();
    let found = diagnose(&path, &DiagnosisTarget::default(), &mut |_| {}).unwrap();
    assert_eq!((found.format, found.broken().count()), (SessionFormat::GeminiCli, 1));
    let to = folder.0.join("repaired");
    assert_eq!(
        repair(&path, &to, &DiagnosisTarget::default(), &mut |_| {}).unwrap().unwrap().remade,
        1
    );
    assert!(!diagnose(&to, &DiagnosisTarget::default(), &mut |_| {}).unwrap().is_broken());
}

#[test]
fn what_goose_hides_from_the_model_makes_nobody_sick() {
    let folder = Folder::new();
    let path =
        write(SessionFormat::Goose, &[Step::Shows(vec![("image/png", LONG())])], "", &folder.0);
    let question = DiagnosisTarget { model: Some("claude-sonnet-4-5".to_owned()), wire: None };
    let sick = || diagnose(&path, &question, &mut |_| {}).unwrap().is_broken();
    assert!(sick());
    let hide =
        "UPDATE messages SET metadata_json = '{\"userVisible\":true,\"agentVisible\":false}'";
    rusqlite::Connection::open(&path).unwrap().execute(hide, []).unwrap();
    assert!(!sick());
}

#[test]
fn the_original_is_kept_with_what_is_only_in_its_log() {
    let folder = Folder::new();
    let steps = [Step::Shows(vec![("image/png", LONG())])];
    let path = write(SessionFormat::OpenCode, &steps, "claude-sonnet-4-5", &folder.0);
    // An agent that was stopped leaves its log behind: it never had time to write it into the file.
    let agent = rusqlite::Connection::open(&path).unwrap();
    agent.execute_batch("UPDATE session SET title = 'only in the log'").unwrap();
    let folder2 = Folder::new();
    let stopped = folder2.0.join("opencode.db");
    for end in ["", "-wal"] {
        let name = |path: &std::path::Path| format!("{}{end}", path.display());
        std::fs::copy(name(&path), name(&stopped)).unwrap();
    }
    let written = folder2.0.join("written.db");
    repair(&stopped, &written, &DiagnosisTarget::default(), &mut |_| {}).unwrap().unwrap();
    let backup = replace(&stopped, &written).unwrap();
    let title = |path: &std::path::Path| {
        let database = rusqlite::Connection::open(path).unwrap();
        let query = "SELECT title FROM session WHERE id = 'ses'";
        database.query_row(query, [], |row| row.get::<_, String>(0)).unwrap()
    };
    assert_eq!(title(&stopped), "only in the log");
    assert_eq!(title(&backup), "only in the log");
    let sick = |path| diagnose(path, &DiagnosisTarget::default(), &mut |_| {}).unwrap().is_broken();
    assert_eq!((sick(&stopped), sick(&backup)), (false, true));
    assert!(matches!(detect(&backup), Ok(SessionFormat::OpenCode)));
}

#[test]
fn media_are_not_moved_out_of_databases() {
    let folder = Folder::new();
    let path = write(SessionFormat::Goose, &[], "", &folder.0);
    let blobs = photic_store::FileBlobs::open(folder.0.join("blobs")).unwrap();
    let to = folder.0.join("small.db");
    let error = photic_doctor::externalize(&path, &to, &blobs).unwrap_err();
    assert!(matches!(error, Error::NoLines(_)) && !to.exists(), "{error}");
}
