//! Cases of pictures inside text: whole ones are shown, everything else stays as it came.

use std::collections::BTreeMap;

use photic::{Finding, Policy, Profile, Wire};
use photic_testkit::{image, oracle};
use serde::Deserialize;
use serde_json::{Value, json};

use super::body;
use crate::harness::{STAYS, check, codes, lower, rules};

/// A text with pictures in it, and what must become of it.
#[derive(Deserialize)]
struct Shape {
    name: String,
    becomes: String,
    pictures: usize,
    text: String,
}

/// A text that only looks as if a picture could be taken out of it.
#[derive(Deserialize)]
struct Lookalike {
    name: String,
    reported: bool,
    tool: String,
    arguments: String,
    text: String,
}

fn data<T: for<'d> Deserialize<'d>>(name: &str) -> Vec<T> {
    let path = format!("{}/tests/shapes/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// A body of a wire in which a tool returned a text.
fn tool_body(wire: Wire, tool: &str, arguments: &str, text: &str) -> Vec<u8> {
    let input: Value = serde_json::from_str(arguments).unwrap();
    let value = match wire {
        Wire::OpenAiChat => json!({"model": "gpt-4o", "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": tool, "arguments": arguments}}]},
            {"role": "tool", "tool_call_id": "a", "content": text}]}),
        Wire::OpenAiResponses => json!({"model": "gpt-5.4", "input": [
            {"role": "user", "content": "go"},
            {"type": "function_call", "call_id": "a", "name": tool, "arguments": arguments},
            {"type": "function_call_output", "call_id": "a", "output": text}]}),
        Wire::Anthropic => json!({"model": "claude-opus-5", "max_tokens": 100, "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "a", "name": tool, "input": input}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": text}]}]}),
        Wire::Gemini => json!({"contents": [
            {"role": "user", "parts": [{"text": "go"}]},
            {"role": "model", "parts": [{"functionCall": {"name": tool, "args": input}}]},
            {"role": "user", "parts": [
                {"functionResponse": {"name": tool, "response": {"output": text}}}]}]}),
        Wire::BedrockConverse => json!({"messages": [
            {"role": "user", "content": [{"text": "go"}]},
            {"role": "assistant", "content": [
                {"toolUse": {"toolUseId": "a", "name": tool, "input": input}}]},
            {"role": "user", "content": [
                {"toolResult": {"toolUseId": "a", "content": [{"text": text}]}}]}],
            "toolConfig": {"tools": [{"toolSpec": {"name": tool,
                "inputSchema": {"json": {"type": "object"}}}}]}}),
        Wire::Ollama => json!({"model": "llava", "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": "", "tool_calls": [
                {"function": {"name": tool, "arguments": input}}]},
            {"role": "tool", "tool_name": tool, "content": text}]}),
        _ => unreachable!("only the six wires are tested here"),
    };
    value.to_string().into_bytes()
}

/// A body of a wire in which a user says a text.
fn user_body(wire: Wire, text: &str) -> Vec<u8> {
    let value = match wire {
        Wire::OpenAiChat | Wire::Ollama => {
            json!({"model": "m", "messages": [{"role": "user", "content": text}]})
        }
        Wire::OpenAiResponses => {
            json!({"model": "m", "input": [{"role": "user", "content": text}]})
        }
        Wire::Anthropic => json!({"model": "m", "max_tokens": 100,
            "messages": [{"role": "user", "content": text}]}),
        Wire::Gemini => json!({"contents": [{"role": "user", "parts": [{"text": text}]}]}),
        Wire::BedrockConverse => {
            json!({"messages": [{"role": "user", "content": [{"text": text}]}]})
        }
        _ => unreachable!("only the six wires are tested here"),
    };
    value.to_string().into_bytes()
}

fn found(wire: Wire, body: &[u8]) -> Vec<Finding> {
    check(wire, body, &Profile::generic(wire))
}

/// The pictures that a strict provider sees after lowering, and the lowered body.
fn seen(wire: Wire, body: &[u8], profile: &Profile) -> (Vec<Vec<u8>>, Vec<u8>) {
    let lowered = lower(wire, body, profile).body;
    let (seen, violations) = oracle::look(wire.name(), &lowered, &rules(profile));
    let text = String::from_utf8_lossy(&lowered);
    assert!(violations.is_empty(), "{violations:#?}\n{text}");
    let bytes = |image: &oracle::Image| match &image.source {
        oracle::Source::Inline(bytes) => bytes.clone(),
        other => panic!("{other:?}"),
    };
    let images = seen.images.iter().map(bytes).collect();
    let again = lower(wire, &lowered, profile).body;
    assert!(again == lowered, "lowering again changes it\n{text}");
    (images, lowered)
}

#[test]
fn the_shapes_that_tools_write_are_shown() {
    let shapes: Vec<Shape> = data("shapes");
    assert!(shapes.len() >= 80);
    for wire in Wire::ALL {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let mut wrong = Vec::new();
        for shape in &shapes {
            let body = tool_body(wire, "shot", "{}", &shape.text);
            let (images, lowered) = seen(wire, &body, &Profile::generic(wire));
            let codes = codes(&found(wire, &body));
            let whole = images.iter().all(|bytes| oracle::whole(bytes).is_ok());
            let outcome = match (shape.becomes.as_str(), images.len()) {
                ("lifted", seen) if seen == shape.pictures && whole => "lifted",
                ("reported", 0) if lowered == body && !codes.is_empty() => "reported",
                (_, 0) if !codes.is_empty() => "only reported",
                (_, 0) => "silent",
                _ => "wrong",
            };
            *counts.entry(outcome).or_default() += 1;
            if outcome != shape.becomes {
                wrong.push(format!("{}: {outcome}, {} seen, {codes:?}", shape.name, images.len()));
            }
        }
        println!("{wire}: {counts:?} of {}", shapes.len());
        assert!(wrong.is_empty(), "{wire}\n{}", wrong.join("\n"));
        assert!(counts["lifted"] >= 72, "{counts:?}");
    }
}

#[test]
fn what_only_looks_like_a_picture_stays_to_the_byte() {
    let texts: Vec<Lookalike> = data("lookalikes");
    assert!(texts.len() >= 80);
    for wire in Wire::ALL {
        let (mut untouched, mut wrong) = (0, Vec::new());
        for one in &texts {
            let body = tool_body(wire, &one.tool, &one.arguments, &one.text);
            let lowered = lower(wire, &body, &Profile::generic(wire)).body;
            let codes = codes(&found(wire, &body));
            let as_expected =
                codes.iter().all(|code| STAYS.contains(code)) && codes.is_empty() != one.reported;
            if lowered != body || !as_expected {
                wrong.push(format!("{} (result): {codes:?}", one.name));
            }
            let said = user_body(wire, &one.text);
            if lower(wire, &said, &Profile::generic(wire)).body != said {
                wrong.push(format!("{} (user)", one.name));
            }
            untouched += 2;
        }
        println!("{wire}: {untouched} texts untouched, {} wrong", wrong.len());
        assert!(wrong.is_empty(), "{wire}\n{}", wrong.join("\n"));
    }
}

#[test]
fn the_words_of_a_user_stay_unless_they_are_a_picture() {
    let shapes: Vec<Shape> = data("shapes");
    for shape in &shapes {
        let body = user_body(Wire::OpenAiChat, &shape.text);
        let lowered = lower(Wire::OpenAiChat, &body, &Profile::generic(Wire::OpenAiChat)).body;
        let codes = codes(&found(Wire::OpenAiChat, &body));
        assert!(!codes.is_empty(), "{} is silent", shape.name);
        let is_lifted = codes.contains(&"image_as_text");
        assert_eq!(lowered != body, is_lifted, "{}: {codes:?}", shape.name);
    }
}

fn case(name: &str, wire: Wire, model: &str) -> (Vec<u8>, Profile, Vec<&'static str>) {
    let body = body(name);
    let profile = photic::profile::resolve(wire, Some(model), None);
    let codes = codes(&check(wire, &body, &profile));
    (body, profile, codes)
}

#[test]
fn pictures_that_are_cut_off_stay_text_and_are_reported() {
    for name in ["truncated_base64_tool_output", "openapi_example_prefix"] {
        let (body, profile, codes) = case(name, Wire::OpenAiChat, "gpt-4o");
        assert_eq!(codes, ["image_cut_off"], "{name}");
        assert_eq!(lower(Wire::OpenAiChat, &body, &profile).body, body, "{name}");
    }
}

#[test]
fn an_icon_in_a_file_stays_in_it() {
    let (body, profile, codes) = case("read_file_json_with_icon", Wire::OpenAiChat, "gpt-4o");
    assert_eq!(codes, ["small_image_in_text"]);
    assert_eq!(lower(Wire::OpenAiChat, &body, &profile).body, body);
}

#[test]
fn pictures_in_unusual_places_are_found_and_seen() {
    for (name, wire, model, pictures) in [
        ("notebook_multiline_image", Wire::OpenAiChat, "gpt-4o", 1),
        ("node_buffer_in_tool_result", Wire::OpenAiChat, "gpt-4o", 1),
        ("legacy_function_image", Wire::OpenAiChat, "gpt-4o", 1),
        ("shell_and_mcp_output_image", Wire::OpenAiResponses, "gpt-5.4", 2),
    ] {
        let (body, profile, codes) = case(name, wire, model);
        assert_eq!(codes, vec!["image_as_text"; pictures], "{name}");
        let lowered = lower(wire, &body, &profile).body;
        let (seen, violations) = oracle::look(wire.name(), &lowered, &rules(&profile));
        assert_eq!(seen.images.len(), pictures, "{name}: {violations:?}");
        assert_eq!(lower(wire, &lowered, &profile).body, lowered, "{name}");
    }
}

/// Both pictures of a tool result stand in their order, and the text keeps a marker for each.
#[test]
fn several_pictures_of_one_text_keep_their_order() {
    let pictures = [image::png(80, 70, [1, 2, 3]), image::png(90, 70, [4, 5, 6])];
    let [one, two] = pictures.each_ref().map(|bytes| image::base64(bytes));
    let text = format!("first ![a](data:image/png;base64,{one}) then\n{two}\nend");
    let body = tool_body(Wire::Anthropic, "shot", "{}", &text);
    let (images, lowered) = seen(Wire::Anthropic, &body, &Profile::generic(Wire::Anthropic));
    assert_eq!(images, pictures);
    let lowered = String::from_utf8(lowered).unwrap();
    let words = "first ![a]([image 1 of this result is shown beside this text]) then\\n\
                 [image 2 of this result is shown beside this text]\\nend";
    assert!(lowered.contains(words), "{lowered}");
}

#[test]
fn a_million_values_are_no_reason_to_give_up() {
    let bytes = image::png_noise(460, 460, 3);
    assert!(bytes.len() > 630_000);
    let spelled: serde_json::Map<_, _> =
        bytes.iter().enumerate().map(|(at, byte)| (at.to_string(), json!(byte))).collect();
    let response = json!({"screenshot": spelled});
    let body = json!({"contents": [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "shot", "args": {}}}]},
        {"role": "user", "parts": [
            {"functionResponse": {"name": "shot", "response": response}}]}]});
    let body = body.to_string().into_bytes();
    assert_eq!(codes(&found(Wire::Gemini, &body)), ["image_as_text"]);
    let (images, _) = seen(Wire::Gemini, &body, &Profile::generic(Wire::Gemini));
    assert_eq!(images, [bytes]);
}

#[test]
fn a_body_of_too_many_values_is_said_to_be_that() {
    let body = format!("{{\"messages\":[{}]}}", "0,".repeat(600_000) + "0");
    let (transcript, findings) = photic::lift(Wire::OpenAiChat, body.as_bytes());
    assert_eq!(codes(&findings), ["too_many_values"]);
    let profile = Profile::generic(Wire::OpenAiChat);
    let plan = photic::plan(photic::survey(&transcript), &profile, &Policy::default());
    assert_eq!(photic::lower(&transcript, &plan).body.to_vec(), body.as_bytes());
}

#[test]
fn a_body_of_another_wire_is_said_to_be_that() {
    let bodies = Wire::ALL.map(|wire| (wire, tool_body(wire, "shot", "{}", "words")));
    for (wire, body) in &bodies {
        assert_eq!(codes(&found(*wire, body)), [""; 0], "{wire}");
    }
    let said = |named: Wire, of: usize| codes(&photic::lift(named, &bodies[of].1).1);
    // Anthropic, Gemini and Responses as each other's; Chat as Anthropic.
    for (named, of) in [
        (Wire::Anthropic, 0),
        (Wire::BedrockConverse, 0),
        (Wire::OpenAiChat, 1),
        (Wire::OpenAiChat, 2),
        (Wire::OpenAiChat, 3),
        (Wire::OpenAiResponses, 0),
        (Wire::Gemini, 2),
        (Wire::Ollama, 4),
    ] {
        assert!(said(named, of).contains(&"wrong_wire"), "{named} {of}: {:?}", said(named, of));
    }
}
