#![no_main]

use libfuzzer_sys::fuzz_target;
use photic::{Dump, Policy, Profile, Wire};
use serde::de::IgnoredAny;

// Whatever it is taken for, it is read, and what is written from it is JSON.
fuzz_target!(|body: &[u8]| {
    let _ = photic::detect_dump(body);
    for dump in Dump::ALL {
        let (transcript, _) = photic::lift_dump(dump, body);
        if !transcript.is_readable() {
            continue;
        }
        for wire in Wire::ALL {
            let profile = Profile::generic(wire);
            let plan = photic::plan(photic::survey(&transcript), &profile, &Policy::default());
            let out = photic::lower(&transcript, &plan).body.to_vec();
            let strict = serde_json::from_slice::<IgnoredAny>(body).is_ok();
            assert!(
                !strict || serde_json::from_slice::<IgnoredAny>(&out).is_ok(),
                "{dump} → {wire}"
            );
        }
    }
});
