//! Tests the oracle itself: good bodies pass, and every violation has a body that causes it.
//!
//! There is one table per wire. These tests must never use `photic` to make a body.

mod anthropic;
mod chat;
mod reply;
mod responses;

use serde_json::{Value, json};

use super::{Limits, Many, Patches, Resize, Rules, Seen, Violation, look, read_with};
use crate::image;

/// Returns the content that a strict host sees. Panics with its complaints.
fn good(wire: &str, body: &Value, rules: &Rules) -> Seen {
    read_with(wire, body.to_string().as_bytes(), rules).unwrap_or_else(|violations| {
        panic!("{}", violations.iter().map(Violation::to_string).collect::<Vec<_>>().join("\n"))
    })
}

/// Returns the code and the pointer of every complaint.
fn bad(wire: &str, body: &Value, rules: &Rules) -> Vec<(&'static str, String)> {
    let (_, violations) = look(wire, body.to_string().as_bytes(), rules);
    violations.into_iter().map(|violation| (violation.code, violation.pointer)).collect()
}

fn owned(expected: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    expected.iter().map(|(code, pointer)| (*code, (*pointer).to_owned())).collect()
}

fn png_url() -> String {
    image::data_url("image/png", &image::png(40, 30, [9, 8, 7]))
}

#[test]
fn bodies_that_are_no_request() {
    let rules = Rules::default();
    for wire in super::WIRES {
        assert_eq!(look(wire, b"{", &rules).1[0].code, "not_json");
        assert_eq!(look(wire, b"[]", &rules).1[0].code, "not_json");
        assert_eq!(look(wire, b"\xff", &rules).1[0].code, "not_json");
        assert_eq!(look(wire, b"{}", &rules).1[0].code, "field_missing");
    }
    assert_eq!(look("telex", b"{}", &rules).1[0].code, "unknown_wire");
    let twice = br#"{"messages":[{"role":"user","role":"user","content":"a"}]}"#;
    let found = look("openai-chat", twice, &rules).1;
    assert_eq!((found[0].code, found[0].pointer.as_str()), ("duplicate_key", "/messages/0/role"));
    let rules = Rules { duplicate_keys: true, ..rules };
    assert!(read_with("openai-chat", twice, &rules).is_ok());
}

#[test]
fn limits_hold_over_the_whole_request() {
    let image = |size: u32| {
        let data = image::base64(&image::png(size, 30, [1, 2, 3]));
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}})
    };
    let body = |images: Vec<Value>| json!({"max_tokens": 9, "messages": [{"role": "user", "content": images}]});
    let rules = Rules::of("anthropic");
    let twenty: Vec<Value> = (0..20).map(|_| image(2500)).collect();
    assert_eq!(good("anthropic", &body(twenty.clone()), &rules).images.len(), 20);
    let more: Vec<Value> = twenty.into_iter().chain([image(30)]).collect();
    let found = bad("anthropic", &body(more), &rules);
    assert_eq!(found.len(), 20);
    assert_eq!(found[3], ("image_too_large", "/messages/0/content/3".to_owned()));
    let found = bad("anthropic", &body(vec![image(8001)]), &rules);
    assert_eq!(found, owned(&[("image_too_large", "/messages/0/content/0")]));

    let mut rules = Rules::default();
    rules.limits.images = Some(1);
    rules.limits.min_edge = Some(31);
    rules.limits.image_base64 = Some(10);
    rules.limits.body = Some(100);
    let found = bad("anthropic", &body(vec![image(40), image(40)]), &rules);
    let codes: Vec<&str> = found.iter().map(|(code, _)| *code).collect();
    let each = ["image_too_large", "image_too_small"];
    assert_eq!(codes, [&["body_too_large"][..], &each, &each, &["too_many_images"]].concat());
}

#[test]
fn limits_of_documents_raw_bytes_and_patches() {
    let image = |width: u32, height: u32, detail: &str| {
        let url = image::data_url("image/png", &image::png(width, height, [1, 2, 3]));
        json!({"type": "image_url", "image_url": {"url": url, "detail": detail}})
    };
    let paper = || {
        let data = image::data_url("application/pdf", &image::pdf());
        json!({"type": "file", "file": {"filename": "a.pdf", "file_data": data}})
    };
    let body = |parts: Vec<Value>| json!({"messages": [{"role": "user", "content": parts}]});
    let codes = |parts: Vec<Value>, rules: &Rules| -> Vec<&'static str> {
        bad("openai-chat", &body(parts), rules).into_iter().map(|(code, _)| code).collect()
    };
    let mut rules = Rules::default();
    assert_eq!(codes(vec![paper(), image(30, 30, "low")], &rules), [""; 0]);
    rules.limits.documents = Some(1);
    rules.limits.document_raw = Some(image::pdf().len());
    rules.limits.many = Some(Many { over: 2, edge: 100, documents: true });
    assert_eq!(codes(vec![paper(), image(101, 30, "low")], &rules), [""; 0]);
    let found = codes(vec![paper(), paper(), image(101, 30, "low")], &rules);
    assert_eq!(found, ["too_many_documents", "image_too_large"]);
    rules.limits.document_raw = Some(image::pdf().len() - 1);
    assert_eq!(codes(vec![paper()], &rules), ["document_too_large"]);
    rules.documents = false;
    rules.document_types = Some(&["text/csv"]);
    let found = codes(vec![paper()], &rules);
    assert_eq!(found, ["document_unsupported", "media_type_unsupported", "document_too_large"]);

    let mut rules = Rules::default();
    let size = image::png(64, 64, [1, 2, 3]).len();
    rules.limits.image_raw = Some(size);
    rules.details = &["low", "original"];
    let resize = Resize { side: Some(32), budget: None };
    let original = Resize::default();
    rules.limits.patches =
        Some(Patches { most: 3, high: resize, original, omitted_is_original: false });
    assert_eq!(codes(vec![image(64, 33, "low")], &rules), ["image_too_large"]);
    assert_eq!(codes(vec![image(64, 64, "original")], &rules), ["image_too_large"]);
    assert_eq!(codes(vec![image(64, 64, "high")], &rules), ["value_unknown"]);
    rules.limits.image_raw = Some(size - 1);
    rules.limits.patches = None;
    assert_eq!(codes(vec![image(64, 64, "low")], &rules), ["image_too_large"]);
}

#[test]
fn cache_marks_of_the_two_wires_of_one_owner() {
    let mark = json!({"mode": "explicit"});
    let texts = |count: usize| -> Vec<Value> {
        let text = json!({"type": "text", "text": "a", "prompt_cache_breakpoint": mark});
        vec![text; count]
    };
    let body = |count: usize| json!({"messages": [{"role": "user", "content": texts(count)}]});
    let rules = Rules::of("openai-chat");
    good("openai-chat", &body(3), &rules);
    let many = owned(&[("too_many_breakpoints", "")]);
    assert_eq!(bad("openai-chat", &body(4), &rules), many);
    let mut explicit = body(4);
    explicit["prompt_cache_options"] = json!({"mode": "explicit"});
    good("openai-chat", &explicit, &rules);
    let none = Rules { limits: Limits { breakpoints: Some(0), ..rules.limits }, ..rules };
    assert_eq!(bad("openai-chat", &body(1), &none), many);
    good("openai-chat", &json!({"messages": [{"role": "user", "content": "a"}]}), &none);
    let written = json!({"type": "output_text", "text": "a", "prompt_cache_breakpoint": mark});
    let read = json!({"type": "input_text", "text": "a", "prompt_cache_breakpoint": mark});
    let body = json!({"input": [
        {"role": "user", "content": [read]},
        {"role": "assistant", "content": [written]},
        {"type": "function_call", "call_id": "c", "name": "n", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": [read]},
    ]});
    let found = bad("openai-responses", &body, &Rules::of("openai-responses"));
    assert_eq!(found, owned(&[("breakpoint_misplaced", "/input/1/content/0")]));
}

#[test]
fn a_tool_message_may_have_to_be_a_string() {
    let body = json!({"messages": [
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "n", "arguments": "{}"}},
        ]},
        {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "a"}]},
    ]});
    good("openai-chat", &body, &Rules::default());
    let rules = Rules { tool_lists: false, ..Rules::default() };
    let found = bad("openai-chat", &body, &rules);
    assert_eq!(found, owned(&[("field_type", "/messages/1/content")]));
    let file = json!({"input": [{"role": "user", "content": [
        {"type": "input_image", "file_id": "file-1"},
        {"type": "input_image", "image_url": "https://a.b/c.png"},
    ]}]});
    let rules = Rules { file_images: false, ..Rules::default() };
    let found = bad("openai-responses", &file, &rules);
    assert_eq!(found, owned(&[("image_remote", "/input/0/content/0")]));
}
