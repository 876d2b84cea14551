//! Reads streamed replies of `/api/chat`.

use super::reply::{stop_of, usage_of};
use crate::json::{Doc, Value};
use crate::reply::call_id;
use crate::stream::{Begin, Event, Failed, text};

/// Reads lines. Each is a reply of its own.
#[derive(Debug, Default)]
pub(super) struct StreamReader {
    begun: Option<String>,
    calls: usize,
}

impl crate::wire::StreamReader for StreamReader {
    fn read(&mut self, data: &[u8], events: &mut Vec<Event>) {
        let Ok(doc) = Doc::parse(data) else { return };
        let Some(root) = doc.root() else { return };
        if root.get("error").is_some() {
            let (kind, message) = ("api_error".to_owned(), text(root, "error"));
            events.push(Event::Failed(Failed { kind, message }));
            return;
        }
        if self.begun.is_none() {
            self.begun = Some(text(root, "created_at"));
            let (id, model) = (String::new(), text(root, "model"));
            events.push(Event::Begin(Begin { id, model, created: 0 }));
        }
        if let Some(message) = root.get("message") {
            let said = text(message, "content");
            if !said.is_empty() {
                events.push(Event::Text(said));
            }
            for call in message.get("tool_calls").into_iter().flat_map(Value::items) {
                self.call(call, events);
            }
        }
        if root.get("done").and_then(|done| done.bool()) == Some(true) {
            let reason = root.get("done_reason").and_then(|reason| reason.str());
            events.push(Event::Stop(stop_of(reason.as_ref())));
            events.push(Event::Usage(usage_of(root)));
            events.push(Event::End);
        }
    }
}

impl StreamReader {
    fn call(&mut self, call: Value<'_, '_>, events: &mut Vec<Event>) {
        let Some(function) = call.get("function") else { return };
        let index = self.calls;
        self.calls += 1;
        let id = text(call, "id");
        let own = self.begun.as_deref().unwrap_or_default();
        let id = if id.is_empty() { call_id(own, index) } else { id };
        events.push(Event::call(index, id, text(function, "name")));
        let json = function.get("arguments").map(|json| String::from_utf8_lossy(json.raw()));
        let json = json.map_or_else(|| "{}".to_owned(), std::borrow::Cow::into_owned);
        events.push(Event::Arguments { index, json });
    }
}
