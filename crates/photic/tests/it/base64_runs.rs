//! Bodies that were looked at while they arrived lift as any other.

use photic::{Base64Runs, Policy, Profile, Transcript, Wire};
use serde_json::json;

/// Two long pictures, one of them in JSON within a string, and prose between them.
fn body() -> Vec<u8> {
    let base64 = photic_testkit::image::base64(&photic_testkit::image::png_noise(100, 50, 1));
    let inner = json!([{"type": "image", "data": base64, "mimeType": "image/png"}]).to_string();
    let url = format!("data:image/png;base64,{base64}");
    json!({"model": "gpt-4o", "messages": [
        {"role": "user", "content": "words, ".repeat(2_000)},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "shot", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": inner},
    ]})
    .to_string()
    .into_bytes()
}

fn lowered(transcript: &Transcript<'_>) -> Vec<u8> {
    let profile = Profile::generic(Wire::Anthropic);
    let plan = photic::plan(photic::survey(transcript), &profile, &Policy::default());
    photic::lower(transcript, &plan).body.to_vec()
}

#[test]
fn nothing_is_read_differently_for_them() {
    let body = body();
    let (plain, findings) = photic::lift(Wire::OpenAiChat, &body);
    assert_eq!(plain.media.len(), 2);
    for size in [1, 1000, 4096, 16_384, body.len()] {
        let mut stretches = Base64Runs::default();
        body.chunks(size).for_each(|piece| stretches.feed(piece));
        let (knowing, same) = photic::lift_with_hints(Wire::OpenAiChat, &body, &stretches);
        assert_eq!(same, findings);
        assert_eq!(lowered(&knowing), lowered(&plain), "in pieces of {size}");
    }
}
