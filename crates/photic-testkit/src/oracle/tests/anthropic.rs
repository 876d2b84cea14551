//! Messages: one good conversation, and one bad body per rule.

use serde_json::{Value, json};

use super::{bad, good, owned};
use crate::image;
use crate::oracle::{Rules, Slot};

const WIRE: &str = "anthropic";

fn body(messages: impl Into<Value>) -> Value {
    json!({"model": "m", "max_tokens": 100, "messages": messages.into()})
}

fn user(content: impl Into<Value>) -> Value {
    json!({"role": "user", "content": content.into()})
}

fn assistant(content: impl Into<Value>) -> Value {
    json!({"role": "assistant", "content": content.into()})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn picture() -> Value {
    let data = image::base64(&image::png(40, 30, [9, 8, 7]));
    json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "view", "input": {"path": "a.png"}})
}

fn result(id: &str, content: impl Into<Value>) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": content.into()})
}

#[test]
fn a_native_conversation() {
    let pdf = image::base64(&image::pdf());
    let mut body = body(json!([
        user("hello"),
        assistant(
            json!([{"type": "thinking", "thinking": "x", "signature": "y"}, call("t1"), call("t2")])
        ),
        user(
            json!([result("t2", json!([text("shot"), picture()])), {"type": "tool_result", "tool_use_id": "t1"}, text("more:"), picture()])
        ),
        assistant("seen"),
        user(json!([
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": pdf}, "title": "a"},
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "plain"}},
            {"type": "document", "source": {"type": "content", "content": [text("in"), picture()]}},
            {"type": "image", "source": {"type": "url", "url": "https://a.b/c.png"}},
            {"type": "image", "source": {"type": "file", "file_id": "f"}},
            {"type": "oracle_bone"}]))
    ]));
    body["system"] =
        json!([{"type": "text", "text": "be kind", "cache_control": {"type": "ephemeral"}}]);
    let seen = good(WIRE, &body, &Rules::of(WIRE));
    let images: Vec<_> =
        seen.images.iter().map(|i| (i.slot, i.owner.as_deref(), i.label.as_deref())).collect();
    assert_eq!(
        images,
        [
            (Slot::ToolResult, Some("t2"), Some("shot")),
            (Slot::User, None, Some("more:")),
            (Slot::User, None, Some("in")),
            (Slot::User, None, None),
            (Slot::User, None, None),
        ]
    );
    assert_eq!(seen.documents.len(), 3);
    assert_eq!(seen.text_of(Slot::System), "be kind");
    assert_eq!(seen.calls[0].arguments, r#"{"path":"a.png"}"#);
    assert_eq!(seen.unknown[0].name, "oracle_bone");
    assert_eq!(seen.result("t1").unwrap().text, "");
}

#[test]
fn calls_and_results_pair() {
    let ask = |ids: &[&str]| assistant(ids.iter().map(|id| call(id)).collect::<Vec<_>>());
    let cases = [
        (json!([user("x"), ask(&["a"])]), "call_unanswered", "/messages/1"),
        (
            json!([user("x"), ask(&["a", "b"]), user(json!([result("a", "x")]))]),
            "call_unanswered",
            "/messages/1",
        ),
        (
            json!([user("x"), ask(&["a"]), user(json!([result("a", "x"), result("b", "x")]))]),
            "result_orphan",
            "/messages/2/content/1",
        ),
        (json!([user(json!([result("b", "x")]))]), "result_orphan", "/messages/0/content/0"),
        (
            json!([user("x"), ask(&["a"]), user(json!([result("a", "x"), result("a", "x")]))]),
            "result_duplicate",
            "/messages/2/content/1",
        ),
        (
            json!([user("x"), ask(&["a"]), user(json!([text("see"), result("a", "x")]))]),
            "result_not_first",
            "/messages/2/content/1",
        ),
        (
            json!([
                user("x"),
                ask(&["a", "b"]),
                user(json!([result("a", "x"), picture(), result("b", "x")]))
            ]),
            "result_not_first",
            "/messages/2/content/2",
        ),
        (
            json!([
                user("x"),
                ask(&["a"]),
                user(json!([result("a", "x")])),
                ask(&["a"]),
                user(json!([result("a", "x")]))
            ]),
            "call_id_duplicate",
            "/messages/3",
        ),
    ];
    for (messages, code, pointer) in cases {
        let body = body(messages);
        assert_eq!(bad(WIRE, &body, &Rules::default()), owned(&[(code, pointer)]), "{body}");
    }
    let split = body(json!([
        user("x"),
        ask(&["a", "b"]),
        user(json!([result("a", "x")])),
        user(json!([result("b", "x")]))
    ]));
    let codes: Vec<_> =
        bad(WIRE, &split, &Rules::default()).into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, ["call_unanswered", "result_orphan"]);
    good(WIRE, &split, &Rules { merge_turns: true, ..Rules::default() });
    let spaced = body(json!([user("x"), ask(&["a b"]), user(json!([result("a b", "x")]))]));
    assert_eq!(bad(WIRE, &spaced, &Rules::default())[0].0, "id_pattern");
}

#[test]
fn results_of_failed_calls() {
    let failed = |content: Value| {
        let result = json!({"type": "tool_result", "tool_use_id": "a", "is_error": true, "content": content});
        body(json!([user("x"), assistant(json!([call("a")])), user(json!([result]))]))
    };
    good(WIRE, &failed(json!("broke")), &Rules::default());
    good(WIRE, &failed(json!([text("broke")])), &Rules::default());
    let found = bad(WIRE, &failed(json!([text("broke"), picture()])), &Rules::default());
    assert_eq!(found, owned(&[("error_result_media", "/messages/2/content/0/content/1")]));
    let codes = |content| {
        bad(WIRE, &failed(content), &Rules::default())
            .into_iter()
            .map(|(code, _)| code)
            .collect::<Vec<_>>()
    };
    assert_eq!(codes(json!([])), ["tool_content_empty", "error_result_empty"]);
    assert_eq!(codes(json!("")), ["tool_content_empty", "error_result_empty"]);
}

#[test]
fn roles_and_shapes() {
    let cases = [
        (json!([]), "content_empty"),
        (json!([assistant("x")]), "first_message"),
        (json!([user("x"), {"role": "system", "content": "y"}]), "role_unknown"),
        (json!([user("")]), "content_empty"),
        (json!([user(json!([]))]), "content_empty"),
        (json!([user(json!(7))]), "field_type"),
        (json!([user(json!([text("")]))]), "text_empty"),
        (json!([user(json!([text(" \n")]))]), "text_empty"),
        (json!([user("x"), assistant(json!([picture()]))]), "image_wrong_role"),
        (json!([user(json!([call("a")]))]), "call_unanswered"),
        (json!([user("x"), assistant(json!([result("a", "x")]))]), "result_orphan"),
        (json!([user("x"), assistant(""), user("y")]), "content_empty"),
    ];
    for (messages, code) in cases {
        let body = body(messages);
        assert_eq!(bad(WIRE, &body, &Rules::default())[0].0, code, "{body}");
    }
    good(WIRE, &body(json!([user("x"), assistant("")])), &Rules::default());
    let mut none = body(json!([user("x")]));
    none["max_tokens"] = json!(0);
    assert_eq!(bad(WIRE, &none, &Rules::default()), owned(&[("field_type", "/max_tokens")]));
    none.as_object_mut().unwrap().remove("max_tokens");
    assert_eq!(bad(WIRE, &none, &Rules::default()), owned(&[("field_missing", "")]));
    let mut system = body(json!([user("x")]));
    system["system"] = json!([picture()]);
    assert_eq!(bad(WIRE, &system, &Rules::default()), owned(&[("part_wrong_role", "/system/0")]));
    let mid = Rules { system_messages: true, ..Rules::default() };
    good(WIRE, &body(json!([user("x"), {"role": "system", "content": "y"}, assistant("z")])), &mid);
    let found = bad(
        WIRE,
        &body(json!([user("x"), assistant("z"), {"role": "system", "content": "y"}])),
        &mid,
    );
    assert_eq!(found, owned(&[("role_order", "/messages/2")]));
}

#[test]
fn sources_and_breakpoints() {
    let with = |media_type: &str, data: String| {
        let source = json!({"type": "base64", "media_type": media_type, "data": data});
        body(json!([user(json!([{"type": "image", "source": source}]))]))
    };
    let webp = image::base64(&image::webp());
    let cases = [
        (with("image/webp", format!("data:image/webp;base64,{webp}")), "base64_prefix"),
        (with("image/png", webp.clone()), "media_type_mismatch"),
        (with("image/jpg", image::base64(&image::jpeg())), "media_type_unsupported"),
        (with("image/webp", webp[1..].to_owned()), "base64_invalid"),
        (with("image/webp", String::new()), "image_invalid"),
    ];
    for (body, code) in cases {
        assert_eq!(bad(WIRE, &body, &Rules::default())[0].0, code);
    }
    let not_pdf = json!({"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": webp}});
    assert_eq!(
        bad(WIRE, &body(json!([user(json!([not_pdf]))])), &Rules::default())[0].0,
        "document_invalid"
    );
    let marked = json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}});
    let rules = Rules::of(WIRE);
    good(WIRE, &body(json!([user(vec![marked.clone(); 4])])), &rules);
    let found = bad(WIRE, &body(json!([user(vec![marked.clone(); 5])])), &rules);
    assert_eq!(found, owned(&[("too_many_breakpoints", "")]));
    let mut automatic = body(json!([user(vec![marked.clone(); 4])]));
    automatic["cache_control"] = json!({"type": "ephemeral"});
    assert_eq!(bad(WIRE, &automatic, &rules), owned(&[("too_many_breakpoints", "")]));
    let thought = json!({"type": "thinking", "thinking": "hm", "signature": "s", "cache_control": {"type": "ephemeral"}});
    let turn = json!({"role": "assistant", "content": [thought]});
    let found = bad(WIRE, &body(json!([user(vec![marked]), turn])), &rules);
    assert_eq!(found, owned(&[("breakpoint_misplaced", "/messages/1/content/0")]));
}

#[test]
fn no_picture_hides_in_text() {
    let bare = image::base64(&image::png(64, 64, [1, 2, 3]));
    let mut body = body(json!([
        user("x"),
        assistant(json!([call("a")])),
        user(json!([result("a", bare.clone())]))
    ]));
    body["system"] = bare.into();
    let found = bad(WIRE, &body, &Rules::default());
    assert_eq!(
        found,
        owned(&[
            ("base64_in_text", "/system"),
            ("base64_in_text", "/messages/2/content/0/content"),
        ])
    );
}

#[test]
fn no_breakpoint_of_an_hour_follows_one_of_five_minutes() {
    let marked = |ttl: &str| {
        let mark = json!({"type": "ephemeral", "ttl": ttl});
        json!({"type": "text", "text": "x", "cache_control": mark})
    };
    let rules = Rules::of(WIRE);
    good(WIRE, &body(json!([user(json!([marked("1h"), marked("5m")]))])), &rules);
    let wrong = body(json!([user(json!([marked("5m"), marked("1h")]))]));
    let found = bad(WIRE, &wrong, &rules);
    assert_eq!(found, owned(&[("breakpoint_order", "/messages/0/content/1")]));
    // The prefix begins with tools and system, whatever their place in the body.
    let mut across = body(json!([user(json!([marked("1h")]))]));
    across["system"] = json!([marked("5m")]);
    let found = bad(WIRE, &across, &rules);
    assert_eq!(found, owned(&[("breakpoint_order", "/messages/0/content/0")]));
    // The automatic breakpoint is at the end.
    let mut automatic = body(json!([user(json!([marked("5m")]))]));
    automatic["cache_control"] = json!({"type": "ephemeral", "ttl": "1h"});
    let found = bad(WIRE, &automatic, &rules);
    assert_eq!(found, owned(&[("breakpoint_order", "/cache_control")]));
}

#[test]
fn a_search_result_holds_texts() {
    let found = |content: Value| json!({"type": "search_result", "source": "https://a.b", "title": "t", "content": content});
    let with = |content: Value| {
        body(json!([
            user("go"),
            assistant(json!([call("a")])),
            user(json!([result("a", json!([found(content)]))]))
        ]))
    };
    let seen = good(WIRE, &with(json!([text("found")])), &Rules::default());
    assert_eq!(seen.result("a").unwrap().text, "found");
    assert_eq!(seen.parts.len(), 2);
    let wrong = bad(WIRE, &with(json!([picture()])), &Rules::default());
    let at = "/messages/2/content/0/content/0/content/0";
    assert_eq!(wrong, owned(&[("part_wrong_role", at)]));
}

#[test]
fn nothing_stands_beside_results_that_a_server_tool_waits_for() {
    let server = |id: &str| json!({"type": "server_tool_use", "id": id, "name": "s", "input": {}});
    let mut by_code = call("a");
    by_code["caller"] = json!({"type": "code_execution_20250825", "tool_id": "s1"});
    let mut direct = call("a");
    direct["caller"] = json!({"type": "direct"});
    let done = json!({"type": "web_search_tool_result", "tool_use_id": "s1", "content": []});
    let answered = |calls: Value, more: &[Value]| {
        let mut blocks = vec![result("a", "ok")];
        blocks.extend_from_slice(more);
        body(json!([user("go"), assistant(calls), user(blocks)]))
    };
    let rules = Rules::default();
    let more = [text("more"), picture()];
    good(WIRE, &answered(json!([direct]), &more), &rules);
    good(WIRE, &answered(json!([server("s1"), done, call("a")]), &more), &rules);
    good(WIRE, &answered(json!([server("s1"), call("a")]), &[]), &rules);
    for calls in [json!([server("s1"), call("a")]), json!([by_code])] {
        let found = bad(WIRE, &answered(calls, &more), &rules);
        let siblings = [
            ("result_sibling", "/messages/2/content/1"),
            ("result_sibling", "/messages/2/content/2"),
        ];
        assert_eq!(found, owned(&siblings));
    }
    // A result for code is not text for the model.
    let base64 = image::base64(&image::png(64, 64, [1, 2, 3]));
    let read =
        body(json!([user("go"), assistant(json!([by_code])), user(json!([result("a", base64)]))]));
    good(WIRE, &read, &rules);
}

#[test]
fn other_parts_are_listed_byte_for_byte() {
    let raw = r#"{"type":"document", "title":"a","source":{"type":"text","media_type":"text/plain","data":"x"}}"#;
    let body = format!(
        r#"{{"max_tokens":1,"messages":[{{"role":"user","content":[{raw},{{"type":"text","text":"a"}}]}}]}}"#
    );
    let (seen, violations) = crate::oracle::look(WIRE, body.as_bytes(), &Rules::default());
    assert_eq!(violations, []);
    let parts: Vec<(&str, &str)> =
        seen.parts.iter().map(|part| (part.pointer.as_str(), part.raw.as_str())).collect();
    assert_eq!(parts, [("/messages/0/content/0", raw)]);
}
