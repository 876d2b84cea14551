#![no_main]

use libfuzzer_sys::fuzz_target;
use photic::Wire;
use serde_json::json;

// The string of a picture, wherever a wire keeps one: data URLs, base64 and addresses of any kind.
fuzz_target!(|text: &[u8]| {
    let text = String::from_utf8_lossy(text);
    let user = |content: serde_json::Value| json!([{"role": "user", "content": content}]);
    let chat = json!({"messages": user(json!([
        {"type": "image_url", "image_url": {"url": text}},
        {"type": "file", "file": {"file_data": text, "filename": "a"}},
        {"type": "text", "text": text},
    ]))});
    let responses = json!({"input": user(json!([
        {"type": "input_image", "image_url": text},
        {"type": "input_file", "file_data": text},
        {"type": "input_text", "text": json!({"screenshot": text}).to_string()},
    ]))});
    let source = json!({"type": "base64", "media_type": "image/png", "data": text});
    let messages = json!({"max_tokens": 1, "messages": user(json!([
        {"type": "image", "source": source},
        {"type": "document", "source": source},
        {"type": "text", "text": text},
    ]))});
    for (wire, body) in
        [(Wire::OpenAiChat, chat), (Wire::OpenAiResponses, responses), (Wire::Anthropic, messages)]
    {
        photic_fuzz::travel(wire, body.to_string().as_bytes());
    }
});
