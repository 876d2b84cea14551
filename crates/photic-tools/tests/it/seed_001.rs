//! The perception-tool contract and its implementor checklist, one test per line.

use photic::{Policy, Profile, Wire};
use photic_tools::RefusalCode::{Absent, NeedsRender, NotAnImage, NotText, Stale, TooLarge};
use photic_tools::{Capability, Fidelity, Perception, ViewArguments};
use serde_json::{Value, json};

use crate::world::{World, code, looking, picture, read, view, wait};

// The read/view split.

#[test]
fn read_returns_text_and_refuses_pixels() {
    let world = World::new();
    assert_eq!(read(&world.tools(), "inside.txt").unwrap().text, "one\ntwo\nthree\n");
    assert_eq!(code(read(&world.tools(), "picture.png")), NotText);
}

#[test]
fn view_returns_pixels_and_refuses_text() {
    let world = World::new();
    let seen = view(&world.tools(), "picture.png").unwrap();
    assert!(photic::media::sniff(&seen.bytes).is_some_and(|kind| kind.starts_with("image/")));
    assert_eq!(code(view(&world.tools(), "inside.txt")), NeedsRender);
}

#[test]
fn read_has_no_mode_that_returns_media_and_view_none_that_returns_text() {
    let schema = |schema: schemars::Schema| -> Vec<String> {
        let value = serde_json::to_value(schema).unwrap();
        value["properties"].as_object().unwrap().keys().cloned().collect()
    };
    let read = schema(schemars::schema_for!(photic_tools::ReadArguments));
    assert_eq!(read, ["source", "lines", "page"], "nothing else can be asked of `read`");
    let view = schema(schemars::schema_for!(ViewArguments));
    let modes = ["text", "ocr", "mode", "format", "as"];
    assert!(!view.iter().any(|name| modes.contains(&name.as_str())), "{view:?}");
}

// The perception-tool contract.

#[test]
fn a_perception_is_an_image_block_with_light_metadata() {
    let world = World::new();
    let seen = view(&world.tools(), "picture.png").unwrap();
    assert_eq!(seen.media_type, "image/png");
    assert_eq!((seen.width, seen.height), (320, 240));
    assert!(seen.byte_size > 0);
    assert!(serde_json::to_string(&seen).unwrap().len() < 1000, "light");
}

#[test]
fn an_absent_source_is_a_typed_refusal() {
    let world = World::new();
    assert_eq!(code(view(&world.tools(), "nothing.png")), Absent);
}

#[test]
fn a_type_that_cannot_be_perceived_is_a_typed_refusal() {
    let world = World::new();
    world.write("data.bin", [0, 1, 2, 3]);
    assert_eq!(code(view(&world.tools(), "data.bin")), NotAnImage);
}

#[test]
fn a_source_over_the_size_bound_is_a_typed_refusal() {
    let world = World::new();
    let mut large = picture(64, 64);
    large.resize((20 << 20) + 1, 0);
    world.write("large.png", large);
    assert_eq!(code(view(&world.tools(), "large.png")), TooLarge);
}

#[test]
fn a_refusal_is_a_result_that_a_model_can_read() {
    let world = World::new();
    let refusal = view(&world.tools(), "nothing.png").unwrap_err();
    let json = serde_json::to_value(&refusal).unwrap();
    assert_eq!(json["code"], "absent");
    assert!(json["says"].as_str().is_some_and(|says| says.contains("nothing.png")));
    assert!(json["hint"].as_str().is_some_and(|hint| !hint.is_empty()));
}

#[test]
fn perceiving_needs_the_scope_of_reading_and_nothing_more() {
    let world = World::new();
    let tools = world.tools();
    assert_eq!(tools.capabilities(), [Capability::Read]);
    assert!(view(&tools, "picture.png").is_ok());
    // No file was written nearby.
    let mut names: Vec<_> = std::fs::read_dir(world.root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["folder", "inside.txt", "picture.png"]);
}

#[test]
fn perception_does_not_satisfy_the_freshness_token() {
    let world = World::new();
    world.write("drawing.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>\n");
    let tools = world.tools();
    // A perception has no field that could be a token, and its fields open nothing.
    let seen = serde_json::to_value(view(&tools, "picture.png").unwrap()).unwrap();
    let fields: Vec<&String> = seen.as_object().unwrap().keys().collect();
    assert!(
        !fields
            .iter()
            .any(|name| name.contains("fresh") || name.contains("token") && *name != "tokens")
    );
    let token = read(&tools, "drawing.svg").unwrap().fresh;
    assert_eq!(wait(tools.check_fresh("drawing.svg", &token)), Ok(()));
    for value in seen.as_object().unwrap().values() {
        if let Ok(forged) = serde_json::from_value::<photic_tools::FreshToken>(value.clone()) {
            assert_eq!(code(wait(tools.check_fresh("drawing.svg", &forged))), Stale);
        }
    }
}

// The input matrix.

#[test]
fn bitmaps_need_only_a_byte_read() {
    let world = World::new();
    for name in ["bars.png", "page.jpg", "wave.webp"] {
        world.write("any", crate::world::captured(name));
        assert!(view(&world.tools(), "any").is_ok(), "{name}");
    }
    let gif = concat!(env!("CARGO_MANIFEST_DIR"), "/../photic-cli/tests/data/three-frames.gif");
    world.write("any", std::fs::read(gif).unwrap());
    assert!(view(&world.tools(), "any").is_ok());
}

#[test]
fn vector_and_text_wait_for_a_renderer_under_the_same_tool() {
    let world = World::new();
    world.write("drawing.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>");
    for name in ["drawing.svg", "inside.txt"] {
        let refusal = view(&world.tools(), name).unwrap_err();
        assert_eq!(refusal.code, NeedsRender);
        assert!(refusal.says.contains("`render`"), "the capability is named: {}", refusal.says);
    }
}

// The implementor checklist.

#[test]
fn checklist_1_perception_is_a_tool_of_its_own_and_read_is_text_only() {
    read_returns_text_and_refuses_pixels();
    view_returns_pixels_and_refuses_text();
}

#[test]
fn checklist_2_refusals_are_typed_and_nothing_is_thrown() {
    an_absent_source_is_a_typed_refusal();
    a_type_that_cannot_be_perceived_is_a_typed_refusal();
    a_source_over_the_size_bound_is_a_typed_refusal();
}

#[test]
fn checklist_3_the_perceivable_size_is_bounded() {
    assert_eq!(photic_tools::Bounds::default().picture_bytes, 20 << 20);
}

/// A conversation with one picture of a tool per turn, as a host stores it.
fn persisted(seen: &[Perception], pasted: Option<&Perception>) -> Vec<u8> {
    use base64::Engine as _;
    let address = |seen: &Perception| {
        let data = base64::engine::general_purpose::STANDARD.encode(&seen.bytes);
        format!("data:{};base64,{data}", seen.media_type)
    };
    let mut opening = vec![json!({ "type": "text", "text": "What is there?" })];
    opening.extend(
        pasted.map(|seen| json!({ "type": "image_url", "image_url": { "url": address(seen) } })),
    );
    let mut messages = vec![json!({ "role": "user", "content": opening })];
    for (index, seen) in seen.iter().enumerate() {
        let id = format!("call_{index}");
        let function = json!({ "name": "view", "arguments": "{\"source\":\"picture.png\"}" });
        messages.push(json!({ "role": "assistant", "tool_calls": [
            { "id": id, "type": "function", "function": function }] }));
        messages.push(json!({ "role": "tool", "tool_call_id": id, "content": [
            { "type": "text", "text": seen.label },
            { "type": "image_url", "image_url": { "url": address(seen) } }] }));
    }
    json!({ "model": "gpt-4o", "messages": messages }).to_string().into_bytes()
}

fn lowered(body: &[u8], wire: Wire, retention: &str) -> Value {
    let (transcript, _) = photic::lift(Wire::OpenAiChat, body);
    let profile = Profile::generic(wire);
    let mut policy = Policy::default();
    policy.retention = photic::retention::Retention::from_name(retention).unwrap();
    let plan = photic::plan(photic::survey(&transcript), &profile, &policy);
    serde_json::from_slice(&photic::lower(&transcript, &plan).body.to_vec()).unwrap()
}

#[test]
fn checklist_4_a_perception_reproduces_from_the_persisted_result() {
    let world = World::new();
    let seen = view(&world.tools(), "picture.png").unwrap();
    // Equal views have equal bytes, so the record can be rebuilt.
    assert_eq!(view(&world.tools(), "picture.png").unwrap(), seen);
    let body = persisted(std::slice::from_ref(&seen), None);
    for wire in Wire::ALL {
        let now = lowered(&body, wire, "all");
        assert_eq!(now, lowered(&body.clone(), wire, "all"));
        assert_eq!(now.to_string().matches("iVBORw0KGgo").count(), 1, "{wire}: seen as pixels");
    }
}

#[test]
fn checklist_5_stale_perceptions_become_descriptors_and_pasted_images_stay() {
    let world = World::new();
    let look = |edge| {
        let asked = ViewArguments {
            max_edge: Some(edge),
            fidelity: Some(Fidelity::Pixel),
            ..looking("picture.png")
        };
        wait(world.tools().view(&asked)).unwrap()
    };
    let seen = [look(300), look(260), look(220)];
    let pasted = look(200);
    let body = persisted(&seen, Some(&pasted));
    let text = lowered(&body, Wire::OpenAiChat, "newest(1)").to_string();
    // The newest view and the pasted picture; the others are named in text.
    assert_eq!(text.matches(";base64,").count(), 2);
    assert!(text.contains("not shown"), "{}", &text[..500]);
    // The record still has all of them.
    assert_eq!(String::from_utf8(body).unwrap().matches(";base64,").count(), 4);
}

#[test]
fn checklist_6_bitmaps_need_read_and_rendering_is_a_capability_apart() {
    perceiving_needs_the_scope_of_reading_and_nothing_more();
    vector_and_text_wait_for_a_renderer_under_the_same_tool();
}
