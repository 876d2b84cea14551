//! Bodies recorded from published clients: what their users really send.

use std::fs;
use std::path::Path;

use photic::{Policy, Profile, Wire};
use serde::Deserialize;

use crate::harness::{check, lower, lower_with, rules, seen};

#[derive(Deserialize)]
struct Index {
    capture: Vec<Capture>,
}

#[derive(Deserialize)]
pub(crate) struct Capture {
    pub(crate) file: String,
    pub(crate) wire: Wire,
    pub(crate) client: String,
    pub(crate) version: String,
    pub(crate) images: Vec<String>,
    note: String,
}

pub(crate) fn captures() -> Vec<(Capture, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captured");
    let index: Index =
        toml::from_str(&fs::read_to_string(folder.join("index.toml")).unwrap()).unwrap();
    index
        .capture
        .into_iter()
        .map(|capture| {
            let body = fs::read(folder.join(&capture.file)).unwrap();
            (capture, body)
        })
        .collect()
}

/// The images of a capture that were sent as bytes.
fn inline_images(capture: &Capture) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../captures/images");
    let files = capture.images.iter().filter(|image| !image.starts_with("http"));
    files.map(|file| fs::read(folder.join(file)).unwrap()).collect()
}

/// Whether the provider keeps the turns before this one.
fn is_threaded(body: &[u8]) -> bool {
    String::from_utf8_lossy(body).contains("\"thread\":")
}

#[test]
fn every_image_reaches_every_wire_byte_for_byte() {
    let captures = captures();
    assert!(captures.len() >= 20);
    let mut failures = Vec::new();
    for (capture, body) in &captures {
        for wire in Wire::ALL {
            let profile = Profile::generic(wire);
            let run = lower(capture.wire, body, &profile);
            // A thread that the provider keeps: its own wire gets it as it is, the call is not in it.
            let threaded = wire == capture.wire && is_threaded(body);
            let seen = if threaded {
                photic_testkit::oracle::look(wire.name(), &run.body, &rules(&profile)).0
            } else {
                seen(&capture.file, wire, &run.body, &rules(&profile))
            };
            let pixels: Vec<_> =
                seen.images.iter().filter_map(|image| image.bytes().map(<[u8]>::to_vec)).collect();
            if pixels != inline_images(capture) {
                failures.push(format!(
                    "{} → {wire}: {} images of {:?}; {}\n{}",
                    capture.file,
                    pixels.len(),
                    capture.images,
                    capture.note,
                    String::from_utf8_lossy(&run.body)
                ));
            }
            let again = lower(wire, &run.body, &profile).body;
            if again != run.body {
                failures.push(format!("{} → {wire}: not stable", capture.file));
            }
        }
    }
    assert!(failures.is_empty(), "{}\n\n{}", failures.len(), failures.join("\n\n"));
}

#[test]
fn what_blinds_the_model_is_found_and_what_does_not_is_left_alone() {
    for (capture, body) in captures() {
        let profile = Profile::generic(capture.wire);
        let findings = check(capture.wire, &body, &profile);
        let (seen, violations) =
            photic_testkit::oracle::look(capture.wire.name(), &body, &rules(&profile));
        let threaded = is_threaded(&body);
        let broken =
            violations.iter().any(|violation| !threaded || violation.code != "result_orphan");
        let blind = seen.images.len() < capture.images.len() || broken;
        assert_eq!(
            !findings.is_empty(),
            blind,
            "{} ({}): {findings:?} {violations:?}",
            capture.file,
            capture.client
        );
        if !blind {
            let lowered = lower_with(capture.wire, &body, &profile, &Policy::hands_off());
            assert_eq!(lowered.body, body, "{}", capture.file);
        }
    }
}

#[test]
fn the_wire_is_detected() {
    for (capture, body) in captures() {
        assert_eq!(photic::detect(&body), Some(capture.wire), "{}", capture.file);
    }
}
