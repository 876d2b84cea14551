//! Reads streamed replies of Responses.

use crate::json::{Doc, Value, escape_into};
use crate::stream::{Begin, Event, Failed, failed, text};

use super::reply::{stop_of, usage_of};

/// Reads events.
#[derive(Debug, Default)]
pub(super) struct StreamReader {
    begun: bool,
    /// The items that are calls, in order: the index, and `true` for a call with free text.
    calls: Vec<(u64, bool)>,
}

impl crate::wire::StreamReader for StreamReader {
    fn read(&mut self, data: &[u8], events: &mut Vec<Event>) {
        let Ok(doc) = Doc::parse(data) else { return };
        let Some(root) = doc.root() else { return };
        let kind = text(root, "type");
        match kind.as_str() {
            "response.created" | "response.in_progress" => self.begin(root, events),
            "response.output_text.delta" => events.push(Event::Text(text(root, "delta"))),
            "response.refusal.delta" => events.push(Event::Refusal(text(root, "delta"))),
            "response.output_item.added" => self.item(root, events),
            "response.function_call_arguments.delta" => {
                let json = text(root, "delta");
                self.arguments(root, events, json);
            }
            "response.custom_tool_call_input.delta" => {
                let json = inside(&text(root, "delta"));
                self.arguments(root, events, json);
            }
            "response.custom_tool_call_input.done" => {
                self.arguments(root, events, "\"}".to_owned());
            }
            "response.completed" | "response.incomplete" => {
                let Some(response) = root.get("response") else { return };
                if let Some(usage) = response.get("usage").filter(|usage| !usage.is_null()) {
                    events.push(Event::Usage(usage_of(usage)));
                }
                events.push(Event::Stop(stop_of(response, !self.calls.is_empty())));
                events.push(Event::End);
            }
            "response.failed" => {
                let error = root.get("response").and_then(|response| response.get("error"));
                let unknown = || Failed::ours("the response failed");
                events.push(Event::Failed(error.map_or_else(unknown, failed)));
            }
            "error" => {
                let error = root.get("error").unwrap_or(root);
                events.push(Event::Failed(failed(error)));
            }
            // Reasoning, hosted tools, and the ends of content that was sent in pieces.
            _ => {}
        }
    }
}

impl StreamReader {
    fn begin(&mut self, root: Value<'_, '_>, events: &mut Vec<Event>) {
        let Some(response) = root.get("response").filter(|_| !self.begun) else { return };
        self.begun = true;
        let created = response.get("created_at").and_then(|created| created.u64()).unwrap_or(0);
        let (id, model) = (text(response, "id"), text(response, "model"));
        events.push(Event::Begin(Begin { id, model, created }));
    }

    fn item(&mut self, root: Value<'_, '_>, events: &mut Vec<Event>) {
        let Some(item) = root.get("item") else { return };
        let is_free = match text(item, "type").as_str() {
            "function_call" => false,
            "custom_tool_call" => true,
            _ => return,
        };
        self.calls.push((number(root), is_free));
        let index = self.calls.len() - 1;
        events.push(Event::call(index, text(item, "call_id"), text(item, "name")));
        if is_free {
            // On other wires arguments are JSON.
            events.push(Event::Arguments { index, json: "{\"input\":\"".to_owned() });
        }
    }

    fn arguments(&self, root: Value<'_, '_>, events: &mut Vec<Event>, json: String) {
        let index = self.calls.iter().position(|(item, _)| *item == number(root));
        if let Some(index) = index.filter(|_| !json.is_empty()) {
            events.push(Event::Arguments { index, json });
        }
    }
}

fn number(root: Value<'_, '_>) -> u64 {
    root.get("output_index").and_then(|index| index.u64()).unwrap_or(0)
}

/// Escapes a text for the inside of a JSON string.
fn inside(text: &str) -> String {
    let mut json = Vec::with_capacity(text.len());
    escape_into(text.as_bytes(), &mut json);
    String::from_utf8_lossy(&json).into_owned()
}
