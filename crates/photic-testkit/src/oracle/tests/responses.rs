//! Responses: one good conversation, and one bad body per rule.

use serde_json::{Value, json};

use super::{bad, good, owned, png_url};
use crate::image;
use crate::oracle::{Rules, Slot, Source};

const WIRE: &str = "openai-responses";

fn call(id: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": "view", "arguments": "{}"})
}

fn output(id: &str, output: impl Into<Value>) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": output.into()})
}

fn body(input: impl Into<Value>) -> Value {
    json!({"model": "m", "input": input.into()})
}

#[test]
fn a_native_conversation() {
    let mut body = body(json!([
        {"role": "user", "content": "hello"},
        {"type": "message", "role": "user", "content": [
            {"type": "input_text", "text": "look"},
            {"type": "input_image", "file_id": "file-1", "detail": "auto"},
            {"type": "input_file", "file_url": "https://a.b/c.pdf"}]},
        {"type": "reasoning", "id": "r", "summary": []},
        call("c1"),
        {"type": "custom_tool_call", "call_id": "c2", "name": "sh", "input": "ls"},
        output("c1", json!([{"type": "input_text", "text": "shot"}, {"type": "input_image", "image_url": png_url()}])),
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "files"},
        {"type": "computer_call_output", "call_id": "c3", "output": {"type": "computer_screenshot", "image_url": png_url()}},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}, {"type": "refusal", "refusal": "no"}]},
        {"type": "telepathy"}
    ]));
    body["instructions"] = "be kind".into();
    let seen = good(WIRE, &body, &Rules::default());
    assert_eq!(seen.images[0].source, Source::File("file-1".into()));
    let second = &seen.images[1];
    assert_eq!((second.slot, second.owner.as_deref()), (Slot::ToolResult, Some("c1")));
    assert_eq!((second.label.as_deref(), second.pixels), (Some("shot"), Some((40, 30))));
    assert_eq!(seen.images[2].owner.as_deref(), Some("c3"));
    assert_eq!(seen.result("c1").unwrap().images, 1);
    assert_eq!(seen.result("c2").unwrap().text, "files");
    assert_eq!(seen.text_of(Slot::System), "be kind");
    assert_eq!(seen.text_of(Slot::Assistant), "done\nno");
    assert_eq!(seen.calls[1].arguments, "ls");
    assert_eq!(seen.unknown[0].name, "telepathy");
    good(WIRE, &super::responses::body("just text"), &Rules::default());
}

#[test]
fn calls_and_outputs_pair() {
    let cases = [
        (json!([call("a")]), "call_unanswered", "/input/0"),
        (json!([output("a", "x")]), "result_orphan", "/input/0"),
        (json!([call("a"), output("a", "x"), output("a", "x")]), "result_duplicate", "/input/2"),
    ];
    for (input, code, pointer) in cases {
        let mut body = body(input);
        assert_eq!(bad(WIRE, &body, &Rules::default()), owned(&[(code, pointer)]));
        body["previous_response_id"] = "resp_1".into();
        assert_eq!(bad(WIRE, &body, &Rules::default()).is_empty(), code != "result_duplicate");
    }
    let cases = [
        (json!([call("a"), call("a"), output("a", "x"), output("a", "x")]), "call_id_duplicate"),
        (json!([output("a", "x"), call("a")]), "result_orphan"),
        (
            json!([call("a"), {"type": "custom_tool_call_output", "call_id": "a", "output": "x"}]),
            "result_orphan",
        ),
        (json!([call("a"), output("a", json!([]))]), "tool_content_empty"),
        (json!([call("a"), output("a", json!({}))]), "field_type"),
        (json!([call("a"), {"type": "function_call_output", "call_id": "a"}]), "field_missing"),
    ];
    for (input, code) in cases {
        assert_eq!(bad(WIRE, &body(input), &Rules::default())[0].0, code);
    }
    let again = json!([call("a"), output("a", "x"), call("a"), output("a", "y")]);
    assert_eq!(good(WIRE, &body(again), &Rules::default()).results.len(), 2);
    let reference = json!([{"type": "item_reference", "id": "fc_1"}, output("a", "x")]);
    good(WIRE, &body(reference), &Rules::default());
}

#[test]
fn parts_and_roles() {
    let user = |part: Value| json!([{"role": "user", "content": [part]}]);
    let assistant = |part: Value| json!([{"role": "assistant", "content": [part]}]);
    let cases = [
        (json!(5), "field_type"),
        (json!([{"role": "robot", "content": "x"}]), "role_unknown"),
        (json!([{"content": "x"}]), "field_missing"),
        (json!([{"role": "user", "content": []}]), "content_empty"),
        (user(json!({"type": "output_text", "text": "x"})), "part_wrong_role"),
        (assistant(json!({"type": "input_text", "text": "x"})), "part_wrong_role"),
        (assistant(json!({"type": "input_image", "image_url": png_url()})), "image_wrong_role"),
        (user(json!({"type": "input_image", "image_url": {"url": png_url()}})), "field_type"),
        (user(json!({"type": "input_image"})), "field_missing"),
        (
            user(json!({"type": "input_image", "image_url": png_url(), "file_id": "f"})),
            "value_unknown",
        ),
        (
            user(
                json!({"type": "input_image", "image_url": image::data_url("image/gif", &image::webp())}),
            ),
            "media_type_mismatch",
        ),
        (user(json!({"type": "input_file"})), "field_missing"),
        (user(json!({"type": "input_file", "file_data": "???"})), "base64_invalid"),
        (user(json!({"type": "input_file", "file_data": ""})), "document_invalid"),
        (
            json!([{"type": "function_call", "call_id": "", "name": "f", "arguments": "{}"}]),
            "field_missing",
        ),
        (
            json!([{"type": "function_call", "call_id": "a", "name": "f", "arguments": {}}]),
            "field_type",
        ),
    ];
    for (input, code) in cases {
        let body = body(input);
        assert_eq!(bad(WIRE, &body, &Rules::default())[0].0, code, "{body}");
    }
}

#[test]
fn no_picture_hides_in_text() {
    let url = image::data_url("image/png", &image::png(80, 60, [1, 2, 3]));
    let mut body = body(
        json!([{"role": "assistant", "content": url}, call("a"), output("a", format!("{{\"screenshot\":\"{url}\"}}"))]),
    );
    body["instructions"] = url.into();
    let found = bad(WIRE, &body, &Rules::default());
    assert_eq!(
        found,
        owned(&[
            ("base64_in_text", "/instructions"),
            ("base64_in_text", "/input/0/content"),
            ("base64_in_text", "/input/2/output"),
        ])
    );
}
