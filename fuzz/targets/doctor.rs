//! Any session file: a diagnosis or an error; the file itself is never written to, and what is
//! repaired can be read again.
#![no_main]

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use photic_doctor::{DiagnosisTarget, detect, diagnose, repair};

fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        // In memory where the system has such a folder: no disk is waited for.
        let memory = Path::new("/dev/shm");
        let base = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let folder = base.join(format!("photic-fuzz-doctor-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder
    })
}

fuzz_target!(|bytes: &[u8]| {
    let [kind, bytes @ ..] = bytes else { return };
    // Some formats are told by how their files are named.
    let ending = ["jsonl", "json", "db"][usize::from(kind % 3)];
    let (file, fresh) =
        (folder().join(format!("session.{ending}")), folder().join(format!("fresh.{ending}")));
    std::fs::write(&file, bytes).unwrap();
    let _ = std::fs::remove_file(&fresh);
    if detect(&file).is_ok() {
        let question = DiagnosisTarget::default();
        let _ = diagnose(&file, &question, &mut |_| {});
        if let Ok(Some(repaired)) = repair(&file, &fresh, &question, &mut |_| {}) {
            assert!(repaired.diagnosis.is_broken());
            let again = diagnose(&fresh, &question, &mut |_| {});
            assert!(again.is_ok(), "{:?}", again.err());
        }
    }
    assert!(std::fs::read(&file).unwrap() == bytes, "the session was written to");
});
