//! Reads streamed replies of Chat Completions.

use crate::json::{Doc, Value};
use crate::stream::{Begin, Event, failed, text};

use super::reply::{stop_of, usage_of};

/// Reads chunks.
#[derive(Debug, Default)]
pub(super) struct StreamReader {
    begun: bool,
    stopped: bool,
    /// The indexes that the server gave its calls, in order.
    calls: Vec<u64>,
}

impl crate::wire::StreamReader for StreamReader {
    fn has_stopped(&self) -> bool {
        self.stopped
    }

    fn read(&mut self, data: &[u8], events: &mut Vec<Event>) {
        if data == b"[DONE]" {
            events.push(Event::End);
            return;
        }
        let Ok(doc) = Doc::parse(data) else { return };
        let Some(root) = doc.root() else { return };
        if let Some(error) = root.get("error").filter(|error| !error.is_null()) {
            events.push(Event::Failed(failed(error)));
            return;
        }
        if !self.begun {
            self.begun = true;
            events.push(Event::Begin(begin(root)));
        }
        if let Some(choice) = root.get("choices").and_then(|choices| choices.items().next()) {
            self.choice(choice, events);
        }
        if let Some(usage) = root.get("usage").filter(|usage| !usage.is_null()) {
            events.push(Event::Usage(usage_of(usage)));
        }
    }
}

impl StreamReader {
    fn choice(&mut self, choice: Value<'_, '_>, events: &mut Vec<Event>) {
        if let Some(delta) = choice.get("delta") {
            for (name, make) in
                [("content", Event::Text as fn(String) -> Event), ("refusal", Event::Refusal)]
            {
                let text = text(delta, name);
                if !text.is_empty() {
                    events.push(make(text));
                }
            }
            for call in delta.get("tool_calls").into_iter().flat_map(Value::items) {
                self.call(call, events);
            }
        }
        if let Some(reason) = choice.get("finish_reason").and_then(|reason| reason.str()) {
            self.stopped = true;
            events.push(Event::Stop(stop_of(Some(&reason))));
        }
    }

    fn call(&mut self, call: Value<'_, '_>, events: &mut Vec<Event>) {
        let function = call.get("function");
        let part = |name: &str| function.map(|function| text(function, name)).unwrap_or_default();
        let (id, name) = (text(call, "id"), part("name"));
        let number = call.get("index").and_then(|index| index.u64());
        // Servers that omit the index send whole calls, each with an id.
        let known = match number {
            Some(number) => self.calls.iter().position(|&other| other == number),
            None if id.is_empty() => self.calls.len().checked_sub(1),
            None => None,
        };
        let index = known.unwrap_or_else(|| {
            self.calls.push(number.unwrap_or(u64::MAX));
            let index = self.calls.len() - 1;
            let id = if id.is_empty() { format!("call_{index}") } else { id.clone() };
            events.push(Event::call(index, id, name.clone()));
            index
        });
        let json = part("arguments");
        if !json.is_empty() {
            events.push(Event::Arguments { index, json });
        }
    }
}

fn begin(root: Value<'_, '_>) -> Begin {
    let created = root.get("created").and_then(|created| created.u64()).unwrap_or(0);
    Begin { id: text(root, "id"), model: text(root, "model"), created }
}
