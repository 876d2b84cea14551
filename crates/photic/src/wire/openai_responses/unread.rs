//! Lists the members of a Responses body that the reader ignores.

use crate::json::{Kind, Value};
use crate::lift::text_of;
use crate::lower::Unread;

pub(super) fn unread<'a>(root: Value<'_, 'a>, unread: &mut Unread<'a>) {
    for item in root.get("input").into_iter().flat_map(Value::items) {
        let name = text_of(item, "type").decode();
        let read: &[&str] = match &*name {
            "message" => &["type", "role", "content"],
            "" if item.get("role").is_some() => &["role", "content"],
            "function_call" => &["type", "call_id", "name", "namespace", "arguments"],
            "custom_tool_call" => &["type", "call_id", "name", "namespace", "input"],
            "computer_call" => &["type", "call_id", "action", "actions"],
            "function_call_output" | "custom_tool_call_output" | "computer_call_output" => {
                &["type", "call_id", "output"]
            }
            "additional_tools" => &["type", "tools"],
            _ => continue,
        };
        let role = text_of(item, "role").decode();
        let is_known = matches!(&*role, "" | "system" | "developer" | "user" | "assistant");
        if !is_known {
            continue;
        }
        unread.object(item, read);
        for slot in ["content", "output"] {
            match item.get(slot).map(|slot| (slot, slot.kind())) {
                Some((list, Kind::Array)) => list.items().for_each(|one| part(one, unread)),
                Some((screen, Kind::Object)) if name == "computer_call_output" => {
                    part(screen, unread);
                }
                _ => {}
            }
        }
    }
}

fn part<'a>(part: Value<'_, 'a>, unread: &mut Unread<'a>) {
    match &*text_of(part, "type").decode() {
        "input_text" | "output_text" | "text"
            if part.get("text").is_some_and(|text| text.kind() == Kind::String) =>
        {
            unread.object(part, &["type", "text"]);
        }
        "refusal" => unread.object(part, &["type", "refusal"]),
        "input_image" | "computer_screenshot" => {
            let source = if part.get("image_url").is_some() { "image_url" } else { "file_id" };
            unread.object(part, &["type", source, "detail"]);
        }
        "input_file" => {
            let sources = ["file_data", "file_url", "file_id"];
            let source = sources.into_iter().find(|name| part.get(name).is_some());
            unread.object(part, &["type", source.unwrap_or("file_id"), "filename", "detail"]);
        }
        "input_audio" => {
            unread.object(part, &["type", "input_audio"]);
            unread.within(part, "input_audio", &["data", "format"]);
        }
        _ => {}
    }
}
