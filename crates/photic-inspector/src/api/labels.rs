//! Words for turns and pictures, from the conversation around them.

use photic::transcript::{Arguments, Message, Part, Role};
use photic::{MediaId, Transcript};
use photic_store::numbered_source;
use serde_json::Value;

/// Longest label, in characters.
const MAX_LABEL: usize = 80;

/// The newest message of a request in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Came {
    /// The words.
    pub(crate) text: String,
    /// The call that it answers.
    pub(crate) call: Option<String>,
}

/// Returns one line of a text, without control characters.
pub(crate) fn line(text: &str, most: usize) -> String {
    let plain = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    let words: Vec<String> =
        plain.collect::<String>().split_whitespace().map(str::to_owned).collect();
    let line = words.join(" ");
    if line.chars().count() <= most {
        return line;
    }
    line.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// Returns the first words of parts that are not notices of photic.
fn words(parts: &[Part<'_>]) -> Option<String> {
    parts.iter().find_map(|part| {
        let text = match part {
            Part::Text(text) | Part::Refusal(text) => text.text.decode().into_owned(),
            Part::TextWithMedia(mixed) => {
                mixed.pieces.iter().map(|piece| piece.decode().into_owned()).collect()
            }
            Part::Nested(nested) => return words(&nested.parts),
            Part::Result(result) => return words(&result.content),
            _ => return None,
        };
        // What is left of JSON around a picture is no label.
        let line = line(&text, MAX_LABEL);
        line.chars().any(char::is_alphabetic).then_some(line)
    })
}

/// Returns the name and the values of the arguments of a call.
fn call_line(name: &str, arguments: &Arguments<'_>) -> String {
    let text = arguments_text(arguments);
    let values = match serde_json::from_str::<Value>(&text) {
        Ok(Value::Object(members)) => {
            let values = members.values().map(|value| match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            });
            values.collect::<Vec<_>>().join(", ")
        }
        _ => String::new(),
    };
    line(&format!("{name} {values}"), MAX_LABEL)
}

/// Returns the arguments of a call as text.
pub(crate) fn arguments_text(arguments: &Arguments<'_>) -> String {
    match arguments {
        Arguments::Text(text) | Arguments::Free(text) => text.decode().into_owned(),
        Arguments::Json(raw) | Arguments::Wrapped(_, raw) => {
            String::from_utf8_lossy(raw).into_owned()
        }
    }
}

/// Returns the words for the newest messages of a request: those behind the last one of the model.
pub(crate) fn came(transcript: &Transcript<'_>) -> Came {
    let messages = &transcript.messages;
    let is_model = |message: &Message<'_>| message.role == Role::Assistant;
    let start = messages.iter().rposition(is_model).map_or(0, |last| last + 1);
    let new = messages.get(start..).unwrap_or_default();
    let asks = |message: &&Message<'_>| message.role == Role::User || message.role == Role::Tool;
    let text = new.iter().filter(asks).find_map(|message| words(&message.parts));
    let results = new.iter().flat_map(|message| &message.parts);
    let ids = results.filter_map(|part| match part {
        Part::Result(result) => Some(result.call_id.decode().into_owned()),
        _ => None,
    });
    let ids: Vec<String> = ids.collect();
    let calls = messages.get(..start).unwrap_or_default().iter().rev().flat_map(|one| &one.parts);
    let mut call = calls.filter_map(|part| match part {
        Part::Call(call) if ids.contains(&call.id.decode().into_owned()) => {
            Some(call_line(&call.name.decode(), &call.arguments))
        }
        _ => None,
    });
    Came { text: text.unwrap_or_default(), call: call.next() }
}

/// Returns the words beside each medium of a client's body with numbered stand-ins.
pub(crate) fn labels(transcript: &Transcript<'_>) -> Vec<(MediaId, String)> {
    let mut found = Vec::new();
    for message in &transcript.messages {
        let mut media = Vec::new();
        media_of(&message.parts, None, &mut media);
        let of_message = words(&message.parts);
        for (id, near) in media {
            let source = transcript.media.get(id.index()).map(|one| &one.source);
            let id = source.and_then(numbered_source).unwrap_or(id);
            found.push((id, near.or_else(|| of_message.clone()).unwrap_or_default()));
        }
    }
    found
}

/// Collects the media of parts, and the words of the result that each is in.
fn media_of(parts: &[Part<'_>], near: Option<&str>, found: &mut Vec<(MediaId, Option<String>)>) {
    for part in parts {
        match part {
            Part::Media(part) => found.push((part.id, near.map(str::to_owned))),
            Part::TextWithMedia(mixed) => {
                found.extend(mixed.media.iter().map(|id| (*id, near.map(str::to_owned))));
            }
            Part::Result(result) => {
                let own = words(&result.content);
                media_of(&result.content, own.as_deref().or(near), found);
            }
            Part::Nested(nested) => media_of(&nested.parts, near, found),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use photic::Wire;

    use super::*;

    #[test]
    fn a_label_is_one_line_without_control_characters() {
        assert_eq!(line(" a\n\u{1b}[31mb\tc ", 80), "a [31mb c");
        assert_eq!(line("abcdef", 4), "abc…");
    }

    #[test]
    fn the_newest_message_says_what_came_and_which_call_it_answers() {
        let body = br#"{"messages":[{"role":"user","content":"Refund the order"},
            {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"click",
             "input":{"x":640,"y":440}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[
             {"type":"text","text":"Clicked"}]}]}]}"#;
        let (transcript, _) = photic::lift(Wire::Anthropic, body);
        let came = came(&transcript);
        assert_eq!(came.text, "Clicked");
        assert_eq!(came.call.as_deref(), Some("click 640, 440"));
    }
}
