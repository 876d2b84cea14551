//! The oracle against itself: good bodies pass, and every violation has a body that earns it.
//!
//! Owns one table per wire. Must never use `photic` to make a body.

mod anthropic;
mod chat;
mod reply;
mod responses;

use serde_json::{Value, json};

use super::{Rules, Seen, Violation, look, read_with};
use crate::image;

/// What a strict host sees; panics with its complaints.
fn good(wire: &str, body: &Value, rules: &Rules) -> Seen {
    read_with(wire, body.to_string().as_bytes(), rules).unwrap_or_else(|violations| {
        panic!("{}", violations.iter().map(Violation::to_string).collect::<Vec<_>>().join("\n"))
    })
}

/// The code and the pointer of every complaint.
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
