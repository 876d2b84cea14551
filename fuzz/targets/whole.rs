#![no_main]

use libfuzzer_sys::fuzz_target;
use photic::media::Payload;
use photic::{Policy, Profile, Wire};
use serde_json::json;

// Bytes that may be a picture, alone and inside longer text: no panic, and lowering again changes
// nothing.
fuzz_target!(|bytes: &[u8]| {
    let payload = Payload::encode(bytes);
    let _ = payload.is_whole_picture();
    let base64 = String::from_utf8_lossy(payload.base64()).into_owned();
    let text = format!("see {base64} there, or {}", String::from_utf8_lossy(bytes));
    let body = json!({"messages": [
        {"role": "user", "content": text},
        {"role": "assistant", "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "a", "content": text},
    ]});
    let body = body.to_string();
    let (transcript, _) = photic::lift(Wire::OpenAiChat, body.as_bytes());
    let profile = Profile::generic(Wire::OpenAiChat);
    let plan = photic::plan(photic::survey(&transcript), &profile, &Policy::hands_off());
    let once = photic::lower(&transcript, &plan).body.to_vec();
    let (again, _) = photic::lift(Wire::OpenAiChat, &once);
    let plan = photic::plan(photic::survey(&again), &profile, &Policy::hands_off());
    assert_eq!(photic::lower(&again, &plan).body.to_vec(), once);
});
