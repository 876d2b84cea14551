//! Reads streamed replies of Messages.

use crate::json::{Doc, Value};
use crate::stream::{Begin, Event, failed, text};

use super::reply::{stop_of, usage_of};

/// Reads events.
#[derive(Debug, Default)]
pub(super) struct StreamReader {
    /// The indexes of the blocks that are calls, in order.
    calls: Vec<u64>,
}

impl crate::wire::StreamReader for StreamReader {
    fn read(&mut self, data: &[u8], events: &mut Vec<Event>) {
        let Ok(doc) = Doc::parse(data) else { return };
        let Some(root) = doc.root() else { return };
        match text(root, "type").as_str() {
            "message_start" => {
                let Some(message) = root.get("message") else { return };
                let (id, model) = (text(message, "id"), text(message, "model"));
                events.push(Event::Begin(Begin { id, model, created: 0 }));
                usage(message, events);
            }
            "content_block_start" => {
                let Some(block) = root.get("content_block") else { return };
                let said = text(block, "text");
                if !said.is_empty() {
                    events.push(Event::Text(said));
                }
                if text(block, "type") == "tool_use" {
                    self.calls.push(number(root));
                    let index = self.calls.len() - 1;
                    events.push(Event::call(index, text(block, "id"), text(block, "name")));
                }
            }
            "content_block_delta" => self.delta(root, events),
            "message_delta" => {
                let reason = root.get("delta").and_then(|delta| delta.get("stop_reason")?.str());
                if reason.is_some() {
                    events.push(Event::Stop(stop_of(reason.as_ref())));
                }
                usage(root, events);
            }
            "message_stop" => events.push(Event::End),
            "error" => events.extend(root.get("error").map(|error| Event::Failed(failed(error)))),
            // Pings, the end of blocks, and events that may be added in the future.
            _ => {}
        }
    }
}

impl StreamReader {
    fn delta(&self, root: Value<'_, '_>, events: &mut Vec<Event>) {
        let Some(delta) = root.get("delta") else { return };
        match text(delta, "type").as_str() {
            "text_delta" => events.push(Event::Text(text(delta, "text"))),
            "input_json_delta" => {
                let json = text(delta, "partial_json");
                let index = self.calls.iter().position(|&block| block == number(root));
                if let Some(index) = index.filter(|_| !json.is_empty()) {
                    events.push(Event::Arguments { index, json });
                }
            }
            // Reasoning and its signatures are sent only on their own wire.
            _ => {}
        }
    }
}

fn usage(holder: Value<'_, '_>, events: &mut Vec<Event>) {
    events.extend(holder.get("usage").map(|usage| Event::Usage(usage_of(usage))));
}

fn number(root: Value<'_, '_>) -> u64 {
    root.get("index").and_then(|index| index.u64()).unwrap_or(0)
}
