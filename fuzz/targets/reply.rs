#![no_main]

use libfuzzer_sys::fuzz_target;
use photic::Wire;
use serde::de::IgnoredAny;

fuzz_target!(|body: &[u8]| {
    let was_json = serde_json::from_slice::<serde_json::Value>(body).is_ok();
    for from in Wire::ALL {
        let reply = photic::lift_reply(from, body);
        for to in Wire::ALL {
            let out = photic::lower_reply(&reply, to).to_vec();
            assert!(from != to || out == body);
            if was_json {
                let parsed = serde_json::from_slice::<IgnoredAny>(&out);
                assert!(parsed.is_ok(), "{from} → {to}: {}", String::from_utf8_lossy(&out));
            }
        }
    }
});
