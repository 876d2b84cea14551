#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| photic_fuzz::travel(photic::Wire::BedrockConverse, body));
