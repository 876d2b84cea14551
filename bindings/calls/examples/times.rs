//! Times `repair` of the body in a file: the shortest of nine calls, in seconds. The suite compares
//! the packages of both languages with it.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "an example")]

use std::time::Instant;

fn main() {
    let path = std::env::args_os().nth(1).unwrap();
    let body = std::fs::read(path).unwrap();
    let json = r#"{"from":"openai-chat","policy":{"pixels":false}}"#;
    let best = (0..9).map(|_| {
        let began = Instant::now();
        let options = photic_calls::Options::read(json).unwrap();
        let done = photic_calls::repair(&body, &options, &[], copied);
        assert!(done.unwrap().body.is_some());
        began.elapsed()
    });
    println!("{}", best.min().unwrap_or_default().as_secs_f64());
}

/// Copies a body, as the packages do.
fn copied(body: &photic_calls::Segments<'_>) -> Vec<u8> {
    body.to_vec()
}
