//! Bodies that version 0.1.0 broke, lost or left unread, and what becomes of each now.
//!
//! The bodies are `tests/cases/*.json`. Each submodule holds the cases of one rule.

pub(crate) mod across_wires;
mod rescue;
mod retention;
mod same_wire;
mod tokens;

/// Reads the body of the case `name`.
fn body(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/cases/{name}.json", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn every_case_is_a_request_body() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.is_file());
    files.sort();
    assert!(files.len() >= 22, "only {} cases", files.len());
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(photic::detect(&body(&name)).is_some(), "{name}");
    }
}
