//! Any request to the openwop protocol, with a key and without: an answer, and never a status that
//! blames the host for what was asked.
#![no_main]

use libfuzzer_sys::fuzz_target;
use photic_openwop::OpenwopRequest;

#[path = "../../crates/photic-openwop/tests/it/host.rs"]
#[allow(dead_code, unused_imports)]
mod host;

use host::{CALL, CALL_2, ENDPOINT, FETCH, Fake, KEY, MEDIA, SURFACE, WRAP};

const METHODS: [&str; 5] = ["POST", "GET", "PUT", "DELETE", "HEAD"];
const PATHS: [&str; 8] = [CALL, CALL_2, WRAP, FETCH, SURFACE, MEDIA, "/.well-known/openwop", "/"];

fuzz_target!(|bytes: &[u8]| {
    let [method, path, flags, body @ ..] = bytes else { return };
    let host = Fake::with_model();
    // A path of the sender's own stands before a line feed.
    let (own, body) = match body.iter().position(|&byte| byte == b'\n') {
        Some(at) if flags & 1 == 1 => (std::str::from_utf8(&body[..at]).ok(), &body[at + 1..]),
        _ => (None, body),
    };
    let path = PATHS[usize::from(*path) % PATHS.len()];
    let path = own.map_or(path.to_owned(), |own| format!("{path}{own}"));
    let asked = OpenwopRequest {
        method: METHODS[usize::from(*method) % METHODS.len()],
        bearer: (flags & 2 == 0).then_some(KEY),
        version: (flags & 4 == 4).then_some("1"),
        content_type: Some(if flags & 8 == 8 { "image/png" } else { "application/json" }),
        ..OpenwopRequest::post(&path, body.to_vec())
    };
    let answer = host.ask(asked);
    // 502: what was to be fetched, or what the model said, is not as it was asked for.
    assert!(matches!(answer.status, 200..500 | 502), "{}", answer.status);
    let text = String::from_utf8_lossy(&answer.body);
    assert!(!text.contains(ENDPOINT), "an answer tells where the upstream is: {text}");
});
