//! Digests of everything that photic writes, to compare two versions of it byte for byte.
//!
//! `PHOTIC_DIGESTS=FILE` names the file that receives one line for each body and each wire it was
//! written for. `.ci/same-bytes REVISION` writes such a file with the tests of another revision and
//! with those of the working tree, and compares them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use photic::{Policy, Profile, Stream, Wire};
use proptest::prelude::Strategy;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngSeed, TestRunner};

use super::exam::trials;
use super::guests::{guests, joined};
use super::render;
use crate::captured::captures;
use crate::golden::cases;

/// Conversations that are drawn; each is written on one wire and lowered to all.
const RANDOM: usize = 2000;

/// Lines of `name from to digest`.
#[derive(Default)]
struct Digests(String);

impl Digests {
    fn line(&mut self, name: &str, from: Wire, to: &str, bytes: &[u8]) {
        let digest = blake3::hash(bytes).to_hex();
        writeln!(self.0, "{name} {from} {to} {digest}").unwrap();
    }

    fn request(&mut self, name: &str, from: Wire, body: &[u8], profile: &Profile) {
        for (policy_name, policy) in [("all", Policy::default()), ("off", Policy::hands_off())] {
            let (transcript, findings) = photic::lift(from, body);
            let plan = photic::plan(photic::survey(&transcript), profile, &policy);
            let lowered = photic::lower(&transcript, &plan);
            let mut written = lowered.body.to_vec();
            for finding in &findings {
                written.extend(finding.code.name().bytes());
            }
            for decision in &lowered.decisions {
                written.extend(decision.did.name().bytes());
            }
            self.line(name, from, &format!("{}/{policy_name}", profile.wire), &written);
        }
    }

    fn requests(&mut self, name: &str, from: Wire, body: &[u8]) {
        for to in Wire::ALL {
            self.request(name, from, body, &Profile::generic(to));
        }
    }

    fn reply(&mut self, name: &str, from: Wire, body: &[u8]) {
        for to in Wire::ALL {
            let written = photic::lower_reply(&photic::lift_reply(from, body), to).to_vec();
            self.line(name, from, to.name(), &written);
        }
    }

    /// A stream, and what it becomes on the way over each wire to each other.
    fn stream(&mut self, name: &str, from: Wire, bytes: &[u8]) {
        for by in Wire::ALL {
            let first = converted(from, by, bytes);
            self.line(name, from, by.name(), &first);
            for to in Wire::ALL {
                self.line(name, from, &format!("{by}+{to}"), &converted(by, to, &first));
            }
        }
    }
}

fn converted(from: Wire, to: Wire, bytes: &[u8]) -> Vec<u8> {
    let mut stream = Stream::with_usage(from, to);
    let mut out: Vec<u8> = bytes.chunks(100).flat_map(|chunk| stream.feed(chunk)).collect();
    out.extend(stream.finish());
    out
}

#[test]
fn digests_of_all_that_is_written() {
    let Some(file) = std::env::var_os("PHOTIC_DIGESTS") else { return };
    let mut digests = Digests::default();
    for (name, (case, body)) in cases("in.json") {
        digests.requests(&name, case.wire, &body);
        for to in Wire::ALL {
            digests.request(&format!("{name}:own-profile"), case.wire, &body, &case.profile(to));
        }
    }
    for (capture, body) in captures() {
        digests.requests(&capture.file, capture.wire, &body);
    }
    for (name, (case, body)) in cases("reply.json") {
        digests.reply(&name, case.wire, &body);
    }
    let streams = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/streams");
    for from in Wire::ALL {
        if let Ok(bytes) = fs::read(streams.join(format!("{from}.sse"))) {
            digests.stream("stream", from, &bytes);
        }
    }
    let config = Config { rng_seed: RngSeed::Fixed(23), ..Config::default() };
    let mut runner = TestRunner::new(config);
    let drawn = (trials(3), guests());
    for number in 0..RANDOM {
        let (trial, guests) = drawn.new_tree(&mut runner).unwrap().current();
        let body = joined(&render::body(&trial.talk(), trial.from), trial.from, &guests);
        let name = format!("random-{number}");
        digests.requests(&name, trial.from, &body);
        digests.request(
            &format!("{name}:twist"),
            trial.from,
            &body,
            &trial.twist.profile(trial.to),
        );
    }
    fs::write(file, digests.0).unwrap();
}
