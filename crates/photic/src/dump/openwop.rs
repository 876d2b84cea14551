//! Reads calls of a workflow to an openwop host into a transcript. The openwop documents say
//! `data` and `document`, and its own tests say `dataBase64` and `file`. Both are read.

use super::{first, list, medium_or_opaque, say, text_of};
use crate::json::{Kind, Value};
use crate::lift::{Draft, Lifter, TextOwner};
use crate::settings::Format;
use crate::transcript::{Opaque, Part, Role};

pub(super) fn lift<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    root: Value<'d, 'a>,
    draft: &mut Draft<'a>,
) {
    settings(root, draft);
    if let Some(system) = first(root, &["systemPrompt"]) {
        let mut parts = Vec::new();
        lifter.text(system, Some(system.id()), TextOwner::Said, &mut parts);
        say(draft, Role::System, system.id(), parts);
    }
    for message in list(root) {
        let role = match text_of(message, &["role"]).decode().as_ref() {
            "system" => Role::System,
            "user" => Role::User,
            "assistant" => Role::Assistant,
            _ => Role::Unknown,
        };
        let mut parts = Vec::new();
        match message.get("content").map(|content| (content, content.kind())) {
            _ if role == Role::Unknown => {
                parts.push(Part::Opaque(Opaque { node: Some(message.id()) }));
            }
            Some((text, Kind::String)) => {
                lifter.text(text, Some(text.id()), TextOwner::of(role), &mut parts);
            }
            Some((list, _)) => {
                for part in list.items() {
                    match part
                        .get("text")
                        .filter(|_| part.get("type").is_some_and(|name| name.is("text")))
                    {
                        Some(text) => {
                            lifter.text(text, Some(part.id()), TextOwner::of(role), &mut parts);
                        }
                        None => parts.push(medium_or_opaque(lifter, part)),
                    }
                }
            }
            None => {}
        }
        say(draft, role, message.id(), parts);
    }
}

fn settings<'a>(root: Value<'_, 'a>, draft: &mut Draft<'a>) {
    let settings = &mut draft.settings;
    for (key, value) in root.entries().filter(|(_, value)| !value.is_null()) {
        match &*key.decode() {
            "messages" | "systemPrompt" | "provider" => {}
            "model" => settings.model = value.str(),
            "maxTokens" => settings.limit_answer(&key, value),
            "temperature" => settings.share("temperature", value),
            "stopSequences" => settings.take_stops(value),
            "responseSchema" => {
                settings.take_format(Format::Schema(None, value.raw().into(), None), value);
            }
            _ => settings.lose(key, value),
        }
    }
}
