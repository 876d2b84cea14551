#![no_main]

use libfuzzer_sys::fuzz_target;

// The first two bytes are the status; the rest is what the provider said.
fuzz_target!(|input: &[u8]| {
    let (status, body) = input.split_at(input.len().min(2));
    let status = <[u8; 2]>::try_from(status).ok().map(u16::from_be_bytes);
    let body = String::from_utf8_lossy(body);
    let rejection = photic::rejection::classify(status, &body);
    assert!(rejection.text.len() <= 16 * 1024);
    assert!(rejection.position.is_none_or(|pointer| pointer.starts_with('/')));
    assert_eq!(rejection.text, photic::rejection::classify(status, &body).text);
});
