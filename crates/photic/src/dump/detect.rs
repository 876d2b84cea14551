//! Detects whether a body is a dump, and of which framework.
//!
//! A request of a wire must never be taken for a dump, so shapes that both have decide nothing.

use super::{Dump, langchain, list, mcp};
use crate::json::{Doc, Kind, Value};

/// Returns the framework whose dump a body is, or `None` for a request of a wire and anything
/// else.
///
/// ```
/// use photic::Dump;
///
/// let result = br#"{"content":[{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}]}"#;
/// assert_eq!(photic::detect_dump(result), Some(Dump::Mcp));
/// let request = br#"{"messages":[{"role":"user","content":"Hello"}]}"#;
/// assert_eq!(photic::detect_dump(request), None);
/// ```
pub fn detect_dump(body: &[u8]) -> Option<Dump> {
    let doc = Doc::parse(body).ok()?;
    let root = doc.root()?;
    if langchain::messages(root).any(langchain::is_message) {
        return Some(Dump::LangChain);
    }
    if list(root).any(is_of_pydantic_ai) {
        return Some(Dump::PydanticAi);
    }
    if mcp::is_result(root) || mcp::is_prompt(root) {
        return Some(Dump::Mcp);
    }
    if is_openwop(root) {
        return Some(Dump::Openwop);
    }
    let is_said = |message: Value<'_, '_>| {
        message.get("role").is_some() && message.get("tool_calls").is_none()
    };
    let is_plain = |message: Value<'_, '_>| {
        is_said(message) && message.get("content").is_some_and(|said| said.kind() == Kind::String)
    };
    // A bare list of texts could come from any framework, and reads the same for all of them.
    let is_ai = list(root).any(|message| is_said(message) && parts(message).any(is_of_ai_sdk))
        || (root.is_list() && list(root).next().is_some() && list(root).all(is_plain));
    is_ai.then_some(Dump::AiSdk)
}

fn parts<'d, 'a>(message: Value<'d, 'a>) -> impl Iterator<Item = Value<'d, 'a>> {
    message.get("content").into_iter().flat_map(Value::items)
}

fn is_of_pydantic_ai(message: Value<'_, '_>) -> bool {
    let kind = message.get("kind");
    kind.is_some_and(|kind| kind.is("request") || kind.is("response"))
        && message.get("parts").is_some_and(Value::is_list)
}

/// Returns `true` for types and members that no wire has.
fn is_of_ai_sdk(part: Value<'_, '_>) -> bool {
    let has = |name: &str| part.get(name).is_some();
    let kind = part.get("type").and_then(|name| name.str());
    match kind.as_ref().map(crate::json::Str::decode).as_deref() {
        Some("tool-call" | "tool-result") => has("toolCallId"),
        Some("image") => has("image"),
        Some("file") => has("mediaType") || (has("mimeType") && has("data")),
        _ => false,
    }
}

fn is_openwop(root: Value<'_, '_>) -> bool {
    let has_own_field = ["systemPrompt", "provider", "responseSchema"]
        .iter()
        .any(|name| root.get(name).is_some_and(|value| value.kind() != Kind::Array));
    let is_own = |part: Value<'_, '_>| {
        part.get("mimeType").is_some()
            && (["dataBase64", "mediaRef"].iter().any(|name| part.get(name).is_some())
                || (has_own_field && ["data", "url"].iter().any(|name| part.get(name).is_some())))
    };
    list(root).any(|message| message.get("role").is_some() && parts(message).any(is_own))
}
