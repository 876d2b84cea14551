//! A seventh wire: one folder, one registry line, one profile. Everything else finds it by itself.
//!
//! `cargo test -p photic --features sample-wire --test sample_wire`
#![expect(clippy::unwrap_used, reason = "a test that cannot read its data has failed")]

use std::fs;
use std::path::{Path, PathBuf};

use photic::wire::{ErrorWords, PathParams};
use photic::{Policy, Stream, Wire};
use serde_json::{Value, json};

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// A conversation on the sample wire in which a tool returned a picture.
fn request() -> Value {
    json!({"model": "m", "turns": [
        {"who": "user", "says": [{"text": "Look!"}]},
        {"who": "bot", "says": [], "calls": [{"id": "c", "name": "shot", "with": {"full": true}}]},
        {"who": "tool", "answers": "c", "says": [{"text": "done"}, {"png": PNG}]},
    ]})
}

fn lowered(from: Wire, to: Wire, body: &[u8]) -> Vec<u8> {
    let profile = photic::profile::resolve(to, Some("m"), None);
    let (transcript, _) = photic::lift(from, body);
    let plan = photic::plan(photic::survey(&transcript), &profile, &Policy::default());
    photic::lower(&transcript, &plan).body.to_vec()
}

#[test]
fn a_picture_reaches_every_other_wire_and_comes_back() {
    let body = request().to_string().into_bytes();
    assert_eq!(photic::detect(&body), Some(Wire::Sample));
    assert_eq!(lowered(Wire::Sample, Wire::Sample, &body), body, "its own bytes stay");
    for wire in Wire::ALL {
        let there = lowered(Wire::Sample, wire, &body);
        assert!(String::from_utf8_lossy(&there).contains(PNG), "{wire}");
        let back = lowered(wire, Wire::Sample, &there);
        let back: Value = serde_json::from_slice(&back).unwrap();
        let shown = back["turns"].as_array().unwrap().iter().flat_map(|turn| {
            turn["says"].as_array().unwrap().iter().filter(|part| part["png"] == PNG)
        });
        assert_eq!(shown.count(), 1, "{wire}: {back}");
    }
}

#[test]
fn replies_and_streams_are_translated() {
    let reply = json!({"model": "m", "turn": {"who": "bot", "says": [{"text": "Hello"}]},
        "usage": {"read": 7, "written": 2}});
    let reply = reply.to_string().into_bytes();
    assert_eq!(photic::wire::detect_reply(&reply), Some(Wire::Sample));
    for wire in Wire::ALL {
        let lifted = photic::lift_reply(Wire::Sample, &reply);
        let there = photic::lower_reply(&lifted, wire).to_vec();
        let back = photic::lower_reply(&photic::lift_reply(wire, &there), Wire::Sample).to_vec();
        let back: Value = serde_json::from_slice(&back).unwrap();
        assert_eq!(back["turn"]["says"], json!([{"text": "Hello"}]), "{wire}");
        assert_eq!(back["usage"], json!({"read": 7, "written": 2}), "{wire}");
        let mut there = Stream::with_usage(Wire::Sample, wire);
        let mut back = Stream::new(wire, Wire::Sample);
        let lines = b"{\"text\":\"Hello\"}\n{\"usage\":{\"read\":7,\"written\":2}}\n";
        let mut bytes = there.feed(lines);
        bytes.extend(there.finish());
        let mut returned = back.feed(&bytes);
        returned.extend(back.finish());
        assert_eq!(String::from_utf8_lossy(&returned), String::from_utf8_lossy(lines), "{wire}");
    }
}

#[test]
fn it_is_spoken_over_http() {
    let wire = Wire::from_name("sample").unwrap();
    assert_eq!(wire.path(&PathParams::default()).0, "/sample/turns");
    assert_eq!(wire.parse_path("/sample/turns"), Some(PathParams::default()));
    let error = wire.error_body(&ErrorWords::new(400, "error", "no"));
    assert_eq!(error, json!({"error": "no"}));
    assert_eq!(photic::profile::resolve(wire, Some("m"), None).id, "sample");
}

/// Every line of the library that names the wire stands in its folder, in the registry, or where
/// profiles are listed.
#[test]
fn a_wire_is_one_folder_one_registry_line_and_one_profile() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut elsewhere = Vec::new();
    for file in files(&source) {
        let name = file.strip_prefix(&source).unwrap().to_string_lossy().replace('\\', "/");
        if name.starts_with("wire/sample/") {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let lines = text.lines().filter(|line| {
            let code = line.trim_start();
            !code.starts_with("//")
                && (code.contains("sample::")
                    || code.contains("mod sample")
                    || code.contains("Sample")
                    || code.contains("sample.toml"))
        });
        elsewhere.extend(lines.map(|line| format!("{name}: {}", line.trim())));
    }
    elsewhere.sort();
    assert_eq!(
        elsewhere,
        [
            "profile/catalog.rs: include_str!(\"../../profiles/sample.toml\"),",
            "wire/mod.rs: mod sample;",
            "wire/table.rs: Sample = \"sample\" => sample::Sample; if feature \"sample-wire\",",
        ]
    );
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}
