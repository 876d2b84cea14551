//! Chat completions: one good conversation, and one bad body per rule.

use serde_json::{Value, json};

use super::{bad, good, owned, png_url};
use crate::image::{self, broken};
use crate::oracle::{Pixels, Rules, Slot, Source};

const WIRE: &str = "openai-chat";

fn calls(ids: &[&str]) -> Value {
    let call = |id: &&str| json!({"id": id, "type": "function", "function": {"name": "view", "arguments": "{}"}});
    json!({"role": "assistant", "content": null, "tool_calls": ids.iter().map(call).collect::<Vec<_>>()})
}

fn tool(id: &str, content: impl Into<Value>) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": content.into()})
}

fn body(messages: impl Into<Value>) -> Value {
    json!({"model": "m", "messages": messages.into()})
}

fn user(parts: impl Into<Value>) -> Value {
    body(json!([{"role": "user", "content": parts.into()}]))
}

fn picture(url: &str) -> Value {
    json!({"type": "image_url", "image_url": {"url": url}})
}

#[test]
fn a_hoisted_conversation() {
    let pdf = image::data_url("application/pdf", &image::pdf());
    let body = body(json!([
        {"role": "system", "content": "be kind"},
        {"role": "developer", "content": [{"type": "text", "text": "be brief"}]},
        {"role": "user", "content": [
            {"type": "text", "text": "look"},
            {"type": "image_url", "image_url": {"url": "https://example.com/a.png", "detail": "high"}},
            {"type": "input_audio", "input_audio": {"data": image::base64(&image::wav()), "format": "wav"}},
            {"type": "file", "file": {"file_data": pdf, "filename": "a.pdf"}},
            {"type": "hologram", "beam": 1}]},
        calls(&["c1", "c2"]),
        tool("c2", json!([{"type": "text", "text": "ok"}, {"type": "text", "text": "fine"}])),
        tool("c1", "image 1 follows"),
        {"role": "user", "content": [
            {"type": "text", "text": "Image 1:"}, picture(&png_url()),
            picture(&image::data_url("image/webp", &image::webp()))], "mood": "blue"},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}
    ]));
    let seen = good(WIRE, &body, &Rules::default());
    let images: Vec<_> =
        seen.images.iter().map(|i| (i.order, i.slot, i.label.as_deref(), i.pixels)).collect();
    assert_eq!(
        images,
        [
            (0, Slot::User, Some("look"), None),
            (1, Slot::User, Some("Image 1:"), Some((40, 30))),
            (2, Slot::User, None, Some((16, 12))),
        ]
    );
    assert_eq!(seen.images[0].source, Source::Remote("https://example.com/a.png".into()));
    assert_eq!(seen.images[0].detail.as_deref(), Some("high"));
    assert_eq!(seen.images[1].pointer, "/messages/6/content/1");
    assert_eq!(seen.images[1].digest(), image::digest(&image::png(40, 30, [9, 8, 7])));
    assert_eq!(seen.images[1].owner, None);
    let calls: Vec<&str> = seen.calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(calls, ["c1", "c2"]);
    assert_eq!(seen.result("c2").unwrap().text, "ok\nfine");
    assert_eq!(seen.text_of(Slot::Assistant), "no");
    assert_eq!(seen.documents[0].media_type.as_deref(), Some("application/pdf"));
    assert_eq!(seen.audio[0].bytes, image::wav());
    let unknown: Vec<&str> = seen.unknown.iter().map(|unknown| unknown.pointer.as_str()).collect();
    assert_eq!(unknown, ["/messages/2/content/4", "/messages/6/mood"]);
    let strict = Rules { strict_unknown: true, ..Rules::default() };
    assert_eq!(bad(WIRE, &body, &strict).len(), 2);
}

#[test]
fn pictures_stand_with_the_user_only() {
    let url = png_url();
    for role in ["system", "developer", "assistant"] {
        let body = body(json!([{"role": role, "content": [picture(&url)]}]));
        let found = bad(WIRE, &body, &Rules::default());
        assert_eq!(found, owned(&[("image_wrong_role", "/messages/0/content/0")]));
    }
    let body = body(json!([calls(&["c1"]), tool("c1", json!([picture(&url)]))]));
    let found = bad(WIRE, &body, &Rules::default());
    assert_eq!(found, owned(&[("image_wrong_role", "/messages/1/content/0")]));
    let seen = good(WIRE, &body, &Rules { tool_images: true, ..Rules::default() });
    assert_eq!(seen.images_of("c1").count(), 1);
    assert_eq!(seen.result("c1").unwrap().images, 1);
    let text_only = Rules { text_only: true, tool_images: true, ..Rules::default() };
    assert_eq!(bad(WIRE, &body, &text_only)[0].0, "image_unsupported");
    let found = bad(
        WIRE,
        &super::chat::body(
            json!([{"role": "system", "content": [{"type": "file", "file": {"file_id": "f"}}]}]),
        ),
        &Rules::default(),
    );
    assert_eq!(found[0].0, "part_wrong_role");
}

#[test]
fn calls_and_results_pair() {
    let cases = [
        (json!([calls(&["a"])]), "call_unanswered", "/messages/0"),
        (json!([calls(&["a", "b"]), tool("a", "x")]), "call_unanswered", "/messages/0"),
        (
            json!([calls(&["a"]), {"role": "user", "content": "x"}]),
            "call_unanswered",
            "/messages/0",
        ),
        (json!([tool("a", "x")]), "result_orphan", "/messages/0"),
        (json!([calls(&["a"]), tool("a", "x"), tool("b", "x")]), "result_orphan", "/messages/2"),
        (json!([calls(&["a"]), tool("a", "x"), tool("a", "x")]), "result_duplicate", "/messages/2"),
        (
            json!([calls(&["a", "a"]), tool("a", "x"), tool("a", "x")]),
            "call_id_duplicate",
            "/messages/0/tool_calls/1",
        ),
        (json!([calls(&["a"]), tool("a", "")]), "tool_content_empty", "/messages/1"),
        (
            json!([calls(&["a"]), tool("a", json!([{"type": "text", "text": ""}]))]),
            "tool_content_empty",
            "/messages/1",
        ),
        (json!([calls(&[])]), "content_empty", "/messages/0/tool_calls"),
    ];
    for (messages, code, pointer) in cases {
        assert_eq!(bad(WIRE, &body(messages), &Rules::default()), owned(&[(code, pointer)]));
    }
    let split = json!([calls(&["a", "b"]), tool("a", "x"), {"role": "user", "content": "img"}, tool("b", "x")]);
    let found = bad(WIRE, &body(split), &Rules::default());
    assert_eq!(
        found,
        owned(&[("call_unanswered", "/messages/0"), ("result_orphan", "/messages/3")])
    );
    // An id may come again in a later turn: some servers number their calls from zero each time.
    let again = json!([calls(&["a"]), tool("a", "x"), calls(&["a"]), tool("a", "y")]);
    assert_eq!(good(WIRE, &body(again), &Rules::default()).result("a").unwrap().text, "y");
    let object = json!([{"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": {}}}]}, tool("a", "x")]);
    let found = bad(WIRE, &body(object), &Rules::default());
    assert_eq!(found, owned(&[("field_type", "/messages/0/tool_calls/0/function/arguments")]));
}

#[test]
fn roles_and_shapes() {
    let cases = [
        (json!([]), "content_empty"),
        (json!([{"role": "user", "content": []}]), "content_empty"),
        (json!([{"role": "user"}]), "field_missing"),
        (json!([{"role": "user", "content": 5}]), "field_type"),
        (json!([{"role": "assistant", "content": null}]), "content_empty"),
        (json!([{"role": "robot", "content": "x"}]), "role_unknown"),
        (json!([{"content": "x"}]), "field_missing"),
        (json!(["x"]), "field_type"),
        (json!([{"role": "user", "content": [{"text": "x"}]}]), "field_missing"),
    ];
    for (messages, code) in cases {
        assert_eq!(bad(WIRE, &body(messages), &Rules::default())[0].0, code);
    }
    let strict = Rules { user_after_tool: false, consecutive_user: false, ..Rules::default() };
    let user = json!({"role": "user", "content": "x"});
    let found = bad(WIRE, &body(json!([user, user, calls(&["a"]), tool("a", "x"), user])), &strict);
    assert_eq!(found, owned(&[("role_order", "/messages/1"), ("role_order", "/messages/4")]));
}

#[test]
fn image_urls() {
    let png = image::png(3, 3, [5; 3]);
    let base64 = image::base64(&png);
    let cases = [
        (
            json!({"url": image::data_url("image/gif", &image::gif()).trim_end_matches('=')}),
            "base64_invalid",
        ),
        (json!({"url": format!("data:image/png;base64, {base64}")}), "base64_invalid"),
        (
            json!({"url": format!("data:image/png;charset=utf-8;base64,{base64}")}),
            "data_url_invalid",
        ),
        (json!({"url": format!("data:Image/PNG;base64,{base64}")}), "data_url_invalid"),
        (json!({"url": format!("data:;base64,{base64}")}), "data_url_invalid"),
        (json!({"url": format!("DATA:image/png;base64,{base64}")}), "data_url_invalid"),
        (json!({"url": base64}), "image_url_invalid"),
        (json!({"url": "file:///etc/passwd"}), "image_url_invalid"),
        (json!({"url": image::data_url("image/jpg", &image::jpeg())}), "media_type_unsupported"),
        (
            json!({"url": image::data_url("image/bmp", &image::bmp(2, 2, [0; 3]))}),
            "media_type_unsupported",
        ),
        (json!({"url": image::data_url("image/jpeg", &png)}), "media_type_mismatch"),
        (json!({"url": image::data_url("image/png", &broken::html())}), "image_invalid"),
        (json!({"url": image::data_url("image/png", &broken::empty())}), "image_invalid"),
        (json!({"url": image::data_url("image/png", &broken::truncated_png())}), "image_invalid"),
        (json!({"url": image::data_url("image/png", &broken::png_signature())}), "image_invalid"),
        (json!({"url": png_url(), "detail": "sharp"}), "value_unknown"),
        (json!({"detail": "low"}), "field_missing"),
        (json!(png_url()), "field_type"),
    ];
    for (image_url, code) in cases {
        let body = user(json!([{"type": "image_url", "image_url": image_url}]));
        assert_eq!(bad(WIRE, &body, &Rules::default())[0].0, code, "{body}");
    }
    let body = user(json!([picture(&image::data_url("image/png", &broken::truncated_png()))]));
    good(WIRE, &body, &Rules { pixels: Pixels::Header, ..Rules::default() });
    let remote = user(json!([picture("https://a.b/c.png")]));
    let rules = Rules { remote_images: false, needs_detail: true, ..Rules::default() };
    let codes: Vec<_> = bad(WIRE, &remote, &rules).into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, ["detail_missing", "image_remote"]);
}

#[test]
fn no_picture_hides_in_text() {
    let url = image::data_url("image/png", &image::png(80, 60, [1, 2, 3]));
    let bare = image::base64(&image::png(90, 60, [1, 2, 3]));
    let wrapped =
        json!([{"type": "image-data", "data": bare, "mediaType": "image/png"}]).to_string();
    let messages = json!([
        {"role": "system", "content": url},
        {"role": "user", "content": [{"type": "text", "text": bare}]},
        // A person may quote what they like.
        {"role": "user", "content": format!("logo: {url}")},
        calls(&["c"]),
        tool("c", wrapped),
        {"role": "assistant", "content": "fine"}
    ]);
    let found = bad(WIRE, &body(messages.clone()), &Rules::default());
    assert_eq!(
        found,
        owned(&[
            ("base64_in_text", "/messages/0/content"),
            ("base64_in_text", "/messages/1/content/0/text"),
            ("base64_in_text", "/messages/4/content"),
        ])
    );
    good(WIRE, &body(messages), &Rules { base64_text: true, ..Rules::default() });
    let mut call = calls(&["c"]);
    call["tool_calls"][0]["function"]["arguments"] = json!({"image": bare}).to_string().into();
    let messages = json!([call, tool("c", "x")]);
    good(WIRE, &body(messages.clone()), &Rules::default());
    let scan = Rules { scan_arguments: true, ..Rules::default() };
    assert_eq!(bad(WIRE, &body(messages), &scan)[0].0, "base64_in_text");
}

/// The switches of an endpoint with a dialect of its own; each is off by default.
#[test]
fn dialects() {
    let strict = Rules {
        nine_letter_ids: true,
        short_parts: true,
        first_settings: true,
        ..Rules::default()
    };
    let pdf = image::data_url("application/pdf", &image::pdf());
    let seen = good(
        WIRE,
        &body(json!([
            {"role": "user", "content": [
                {"type": "image_url", "image_url": png_url()},
                {"type": "document_url", "document_url": pdf, "document_name": "a.pdf"},
                {"type": "document_url", "document_url": "https://example.com/a.pdf"},
                {"type": "file", "file_id": "file-1"},
                {"type": "input_audio", "input_audio": "UklGRg=="},
            ]},
            calls(&["a1B2c3D4e"]),
            tool("a1B2c3D4e", "x"),
        ])),
        &strict,
    );
    assert_eq!((seen.images.len(), seen.documents.len(), seen.audio.len()), (1, 3, 1));
    assert_eq!(seen.documents[0].name.as_deref(), Some("a.pdf"));

    let ids = json!([calls(&["call_1"]), tool("call_1", "x")]);
    let at = [("id_pattern", "/messages/0/tool_calls/0"), ("id_pattern", "/messages/1")];
    assert_eq!(bad(WIRE, &body(ids.clone()), &strict), owned(&at));
    good(WIRE, &body(ids), &Rules::default());

    let file = json!([{"type": "file", "file": {"file_data": pdf, "filename": "a.pdf"}}]);
    assert_eq!(bad(WIRE, &user(file.clone()), &strict)[0].0, "field_missing");
    good(WIRE, &user(file), &Rules::default());
    let sound =
        json!([{"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}]);
    assert_eq!(bad(WIRE, &user(sound.clone()), &strict)[0].0, "field_type");
    good(WIRE, &user(sound), &Rules::default());
    let short = user(json!([{"type": "image_url", "image_url": png_url()}]));
    assert!(!bad(WIRE, &short, &Rules::default()).is_empty());

    let mut later = user("x");
    later["max_completion_tokens"] = json!(5);
    assert_eq!(bad(WIRE, &later, &strict), owned(&[("unknown_field", "/max_completion_tokens")]));
    good(WIRE, &later, &Rules::default());
}
