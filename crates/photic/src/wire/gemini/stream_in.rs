//! Reads streamed replies of `streamGenerateContent`.

use super::reply::{stop_of, usage_of};
use super::spelling::either;
use crate::json::{Doc, Value};
use crate::reply::call_id;
use crate::stream::{Begin, Event, failed, text};

/// Reads chunks, each a response of its own.
#[derive(Debug, Default)]
pub(super) struct StreamReader {
    begun: Option<String>,
    stopped: bool,
    calls: usize,
}

impl crate::wire::StreamReader for StreamReader {
    /// Returns `true` if the service sent a finish reason. It sends no other end.
    fn has_stopped(&self) -> bool {
        self.stopped
    }

    fn read(&mut self, data: &[u8], events: &mut Vec<Event>) {
        let Ok(doc) = Doc::parse(data) else { return };
        let Some(root) = doc.root() else { return };
        if let Some(error) = root.get("error").filter(|error| !error.is_null()) {
            events.push(Event::Failed(failed(error)));
            return;
        }
        if self.begun.is_none() {
            let (id, model) = (text(root, "responseId"), text(root, "modelVersion"));
            let own = if id.is_empty() { String::from_utf8_lossy(data).into_owned() } else { id };
            self.begun = Some(own.clone());
            let id = text(root, "responseId");
            events.push(Event::Begin(Begin { id, model, created: 0 }));
        }
        let candidate = root.get("candidates").and_then(|candidates| candidates.items().next());
        let parts = candidate.and_then(|candidate| candidate.get("content")?.get("parts"));
        for part in parts.into_iter().flat_map(Value::items) {
            self.part(part, events);
        }
        let reason = candidate.and_then(|candidate| candidate.get("finishReason")?.str());
        if reason.is_some() {
            self.stopped = true;
            events.push(Event::Stop(stop_of(reason.as_ref())));
        }
        let usage = root.get("usageMetadata").map(usage_of);
        events.extend(usage.map(Event::Usage));
        if reason.is_some() && usage.is_some() {
            events.push(Event::End);
        }
    }
}

impl StreamReader {
    fn part(&mut self, part: Value<'_, '_>, events: &mut Vec<Event>) {
        // Reasoning is sent only on its own wire.
        if part.get("thought").and_then(|flag| flag.bool()).unwrap_or(false) {
            return;
        }
        let said = text(part, "text");
        if !said.is_empty() {
            events.push(Event::Text(said));
        }
        let Some(call) = either(part, "functionCall", "function_call") else { return };
        let index = self.calls;
        self.calls += 1;
        let id = text(call, "id");
        let own = self.begun.as_deref().unwrap_or_default();
        let id = if id.is_empty() { call_id(own, index) } else { id };
        events.push(Event::call(index, id, text(call, "name")));
        let json = call.get("args").map_or("{}".into(), |json| String::from_utf8_lossy(json.raw()));
        events.push(Event::Arguments { index, json: json.into_owned() });
    }
}
