//! Lists the members of a `generateContent` body that the reader ignores.

use super::lift::resolution;
use super::spelling::either;
use crate::json::Value;
use crate::lift::text_of;
use crate::lower::Unread;

pub(super) fn unread<'a>(root: Value<'_, 'a>, unread: &mut Unread<'a>) {
    let system = either(root, "systemInstruction", "system_instruction");
    let contents = root.get("contents").into_iter().flat_map(Value::items);
    for content in system.into_iter().chain(contents) {
        let role = text_of(content, "role").decode();
        if !matches!(&*role, "user" | "function" | "" | "model" | "system") {
            continue;
        }
        unread.object(content, &["role", "parts"]);
        for part in content.get("parts").into_iter().flat_map(Value::items) {
            self::part(part, unread);
        }
    }
}

fn part<'a>(part: Value<'_, 'a>, unread: &mut Unread<'a>) {
    if part.get("thought").and_then(|flag| flag.bool()) == Some(true) {
        return;
    }
    // Two spellings of one name.
    let both = |camel, snake| either(part, camel, snake);
    let flag = "thought";
    if part.get("text").is_some() {
        unread.object(part, &["text", flag]);
    } else if let Some(blob) = both("inlineData", "inline_data") {
        let level = resolution(part).map(|_| ["mediaResolution", "media_resolution"]);
        let [camel, snake] = level.unwrap_or([flag, flag]);
        unread.object(part, &["inlineData", "inline_data", camel, snake]);
        let read = ["data", "mimeType", "mime_type", "displayName", "display_name"];
        unread.object(blob, &read);
    } else if let Some(file) = both("fileData", "file_data") {
        unread.object(part, &["fileData", "file_data"]);
        unread.object(file, &["fileUri", "file_uri", "mimeType", "mime_type"]);
    } else if let Some(call) = both("functionCall", "function_call") {
        unread.object(part, &["functionCall", "function_call"]);
        unread.object(call, &["id", "name", "args"]);
    } else if let Some(response) = both("functionResponse", "function_response") {
        unread.object(part, &["functionResponse", "function_response"]);
        unread.object(response, &["id", "name", "response", "parts"]);
        for inner in response.get("parts").into_iter().flat_map(Value::items) {
            self::part(inner, unread);
        }
    }
}
