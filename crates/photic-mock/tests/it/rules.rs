//! A request that breaks a rule gets the provider's own error message, which the classifier knows.

use photic::rejection::{Class, classify};
use photic_mock::{Mock, Options};
use photic_testkit::image;
use serde_json::{Value, json};

use crate::bodies::{WIRES, Wire, chart, user, words};
use crate::client::{Reply, post, send, start};

fn message(reply: &Reply) -> String {
    reply.json()["error"]["message"].as_str().unwrap().to_owned()
}

/// A body that is turned down: status and words of the provider, and what the classifier makes
/// of them.
fn rejected(wire: Wire, body: &Value, status: u16, says: &str, class: Option<Class>) {
    let mock = start();
    let reply = post(&mock, wire.path(), body);
    assert_eq!(reply.status, status, "{}", reply.text);
    assert!(message(&reply).contains(says), "{} instead of {says}", message(&reply));
    if let Some(class) = class {
        assert_eq!(classify(Some(status), &reply.text).class, class, "{}", reply.text);
    }
    let envelope = reply.json();
    if wire == Wire::Messages {
        assert_eq!(envelope["type"], "error");
        assert!(envelope["request_id"].is_string());
    } else {
        assert!(envelope["error"].as_object().unwrap().contains_key("param"));
    }
    assert!(!mock.journal()[0].violations.is_empty());
}

#[test]
fn chat_takes_no_image_in_a_tool_message() {
    let (kind, bytes) = chart(1);
    let body = Wire::Chat.request(Wire::Chat.used_tool(vec![Wire::Chat.image(kind, &bytes)]));
    let says = "Invalid 'messages[2]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL.";
    rejected(Wire::Chat, &body, 400, says, Some(Class::RoleNotAllowed));
}

#[test]
fn the_other_wires_see_images_in_tool_results() {
    let mock = start();
    let (kind, bytes) = chart(2);
    for wire in [Wire::Responses, Wire::Messages] {
        let body = wire.request(wire.used_tool(vec![wire.image(kind, &bytes)]));
        let reply = post(&mock, wire.path(), &body);
        assert!(reply.text.contains(&words(2)), "{}", reply.text);
        assert_eq!(mock.journal().last().unwrap().images[0].slot, "tool_result");
    }
}

#[test]
fn base64_in_text_is_taken_and_not_seen() {
    let mock = start();
    let (kind, bytes) = chart(2);
    for wire in WIRES {
        let text = json!([{"type": "image", "data": image::data_url(kind, &bytes)}]).to_string();
        let body = wire.request(wire.used_tool(vec![wire.text(&text)]));
        let reply = post(&mock, wire.path(), &body);
        assert_eq!(reply.status, 200, "{}", reply.text);
        assert!(reply.text.contains("I see no image."), "{}", reply.text);
        // It is paid for as letters.
        assert!(mock.journal().last().unwrap().input_tokens as usize > bytes.len() / 3);
    }
}

#[test]
fn broken_and_mislabeled_pictures() {
    let png = image::png(8, 8, [1, 2, 3]);
    for wire in [Wire::Chat, Wire::Responses] {
        let body = wire.shows(&[("image/bmp", image::bmp(8, 8, [9; 3]))]);
        let says = "You uploaded an unsupported image. Please make sure your image has of one the following formats";
        rejected(wire, &body, 400, says, Some(Class::BadFormat));
        let body = wire.shows(&[("image/png", png[..40].to_vec())]);
        let says = "The image data you provided does not represent a valid image";
        rejected(wire, &body, 400, says, Some(Class::BadImage));
    }
    let wire = Wire::Messages;
    let body = wire.shows(&[("image/bmp", image::bmp(8, 8, [9; 3]))]);
    let says = "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'";
    rejected(wire, &body, 400, says, Some(Class::BadFormat));
    let body = wire.shows(&[("image/png", png[..40].to_vec())]);
    let says = "messages.0.content.0.image.source.base64.data: Could not process image";
    rejected(wire, &body, 400, says, Some(Class::BadImage));
    let body = wire.shows(&[("image/jpeg", png)]);
    let says = "messages.0.content.0.image.source.base64: Image does not match the provided media type image/jpeg";
    rejected(wire, &body, 400, says, Some(Class::BadLabel));
}

#[test]
fn sizes_and_counts_of_the_profile() {
    let wire = Wire::Messages;
    let body = wire.shows(&[("image/png", image::png(8001, 2, [1; 3]))]);
    let says = "messages.0.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels";
    rejected(wire, &body, 400, says, Some(Class::TooLargeDim));
    let large = ("image/png", image::png(2001, 2, [1; 3]));
    let body = wire.shows(&vec![large; 21]);
    let says = "exceed max allowed size for many-image requests: 2000 pixels";
    rejected(wire, &body, 400, says, Some(Class::TooLargeDim));
    let heavy = ("image/png", image::png_noise(2000, 2000, 1));
    assert!(heavy.1.len() > 8 << 20, "{}", heavy.1.len());
    let body = wire.shows(&[heavy]);
    let says = "messages.0.content.0.image.source.base64: image exceeds 10 MB maximum: ";
    rejected(wire, &body, 400, says, Some(Class::TooLargeBytes));
    let body = wire.request(vec![json!({"role": "user", "content": "x".repeat(33 << 20)})]);
    rejected(wire, &body, 413, "Request exceeds the maximum size", Some(Class::BodyTooLarge));
}

#[test]
fn calls_and_results_are_paired() {
    for (wire, says) in [
        (
            Wire::Chat,
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
        ),
        (Wire::Responses, "No tool output found for function call c1."),
        (
            Wire::Messages,
            "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: c1.",
        ),
    ] {
        let mut list = wire.used_tool(vec![wire.text("ok")]);
        list.pop();
        list.push(user(vec![wire.text("go on")]));
        rejected(wire, &wire.request(list), 400, says, None);
    }
    let mut list = Wire::Messages
        .used_tool(vec![Wire::Messages.image("image/png", &image::png(8, 8, [1; 3]))]);
    list[2]["content"][0]["is_error"] = json!(true);
    let says =
        "messages.2.content.0.tool_result: all content must be type `text` if `is_error` is true";
    rejected(Wire::Messages, &Wire::Messages.request(list), 400, says, None);
}

#[test]
fn unknown_fields_are_named() {
    for (wire, says) in [
        (Wire::Chat, "Unknown parameter: 'x_extra'."),
        (Wire::Responses, "Unknown parameter: 'x_extra'."),
        (Wire::Messages, "x_extra: Extra inputs are not permitted"),
    ] {
        let mut body = wire.shows(&[]);
        body["x_extra"] = json!(1);
        rejected(wire, &body, 400, says, None);
    }
}

#[test]
fn more_than_the_model_holds() {
    let mock = start();
    for (wire, model, says) in [
        (Wire::Chat, "gpt-4o", "This model's maximum context length is 128000 tokens."),
        (Wire::Messages, "claude-sonnet-4-5", "prompt is too long: "),
    ] {
        let mut body =
            wire.request(vec![json!({"role": "user", "content": "abcd".repeat(1_100_000)})]);
        body["model"] = json!(model);
        let reply = post(&mock, wire.path(), &body);
        assert_eq!(reply.status, 400);
        assert!(message(&reply).starts_with(says), "{}", message(&reply));
        assert_eq!(classify(Some(400), &reply.text).class, Class::ContextOverflow);
    }
}

#[test]
fn keys_versions_models_and_paths() {
    let mock =
        Mock::start(Options { models: vec!["gpt-4o".to_owned()], ..Default::default() }).unwrap();
    let body = json!({"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]});
    let body = body.to_string();
    let ask = |path: &str, headers: &[(&str, &str)]| {
        send(&mock, "POST", path, headers, body.as_bytes()).unwrap()
    };
    let reply = ask("/v1/chat/completions", &[]);
    assert_eq!(reply.status, 401);
    assert!(message(&reply).starts_with("You didn't provide an API key."));
    let reply = ask("/v1/messages", &[("anthropic-version", "2023-06-01")]);
    assert_eq!((reply.status, &*message(&reply)), (401, "x-api-key header is required"));
    let reply = ask("/v1/messages", &[("x-api-key", "k")]);
    assert_eq!((reply.status, &*message(&reply)), (400, "anthropic-version: header is required"));
    for key in [("authorization", "Bearer any"), ("api-key", "any"), ("x-api-key", "any")] {
        assert_eq!(ask("/v1/chat/completions", &[key]).status, 200);
    }
    let reply = post(&mock, "/v1/messages", &Wire::Messages.shows(&[]));
    assert_eq!((reply.status, &*message(&reply)), (404, "model: claude-sonnet-5"));
    let reply = post(&mock, "/v1/chat/completions", &Wire::Chat.shows(&[]));
    assert_eq!(reply.json()["error"]["code"], "model_not_found");
    assert_eq!(ask("/v1/nothing", &[]).status, 404);
}
