//! The new messages of a turn in short: the words of the user and the names of the tools.

use std::borrow::Cow;

use photic::transcript::{Part, Role, Transcript};

use super::title::line;
use crate::record::ArrivedMessages;

/// Maximum number of names of tools.
const MAX_TOOLS: usize = 8;

/// Describes the messages after the last one of the model.
pub(super) fn arrived(transcript: &Transcript<'_>) -> ArrivedMessages {
    let messages = &transcript.messages;
    let last = messages.iter().rposition(|message| message.role == Role::Assistant);
    let new = &messages[last.map_or(0, |last| last + 1)..];
    let mut arrived = ArrivedMessages::default();
    let users = new.iter().filter(|message| message.role == Role::User);
    for part in users.flat_map(|message| &message.parts) {
        if let Part::Text(text) = part
            && arrived.words.is_empty()
        {
            let words = line(&text.text.decode());
            // Agents put tagged blocks first, which are not the user's words.
            arrived.words = Some(words).filter(|words| !words.starts_with('<')).unwrap_or_default();
        }
    }
    // The calls of the model's last turn, which may be several messages.
    let before = &messages[..last.map_or(0, |last| last + 1)];
    let turn = before.iter().rev().take_while(|message| message.role == Role::Assistant);
    let calls: Vec<_> = turn
        .flat_map(|message| &message.parts)
        .filter_map(|part| match part {
            Part::Call(call) => Some((call.id.decode(), call.name.decode())),
            _ => None,
        })
        .collect();
    for part in new.iter().flat_map(|message| &message.parts) {
        let Part::Result(result) = part else { continue };
        let id = result.call_id.decode();
        let name = calls.iter().find(|(call, _)| *call == id).map(|(_, name)| name);
        let name = line(name.unwrap_or(&Cow::Borrowed("")));
        if !name.is_empty() && !arrived.tools.contains(&name) && arrived.tools.len() < MAX_TOOLS {
            arrived.tools.push(name);
        }
    }
    arrived
}

#[cfg(test)]
mod tests {
    use photic::Wire;
    use serde_json::{Value, json};

    use super::*;

    fn of(messages: &Value) -> ArrivedMessages {
        let body = json!({ "messages": messages }).to_string();
        arrived(&photic::lift(Wire::OpenAiChat, body.as_bytes()).0)
    }

    #[test]
    fn words_and_tools_of_the_new_messages_are_named() {
        let call = |id: &str, name: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}});
        let user = json!({"role": "user", "content": "look\nat it"});
        let calls = json!({"role": "assistant", "content": null,
            "tool_calls": [call("a", "shot"), call("b", "read"), call("c", "shot")]});
        let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "done"});
        let first = of(&json!([user]));
        assert_eq!((first.words.as_str(), first.tools.len()), ("look at it", 0));
        let second = of(&json!([user, calls, result("c"), result("b"), result("a")]));
        assert_eq!((second.words.as_str(), second.tools), ("", vec!["shot".into(), "read".into()]));
        let third = of(&json!([user, calls, result("x"), {"role": "user", "content": "go on"}]));
        assert_eq!((third.words.as_str(), third.tools.len()), ("go on", 0));
        assert_eq!(of(&json!([])), ArrivedMessages::default());
    }
}
