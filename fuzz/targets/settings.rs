//! Any text as settings: settings, or an error in words.
#![no_main]

use libfuzzer_sys::fuzz_target;
use photic_gateway::Config;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Config::parse(text) {
        Ok(config) => assert!(config == Config::parse(text).unwrap()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
