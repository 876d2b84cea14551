//! Reads streamed replies of the sample wire.

use super::reply::usage_of;
use crate::json::Doc;
use crate::reply::Stop;
use crate::stream::{Begin, Event, Failed, text};

/// Reads lines: `{"text"}`, `{"call"}`, `{"usage"}`, `{"error"}`.
#[derive(Debug, Default)]
pub(super) struct StreamReader {
    begun: bool,
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
        if !self.begun {
            self.begun = true;
            events.push(Event::Begin(Begin::default()));
        }
        if root.get("text").is_some() {
            events.push(Event::Text(text(root, "text")));
        }
        if let Some(call) = root.get("call") {
            let (index, id, name) = (self.calls, text(call, "id"), text(call, "name"));
            self.calls += 1;
            events.push(Event::call(index, id, name));
            let json = call
                .get("with")
                .map_or_else(String::new, |json| String::from_utf8_lossy(json.raw()).into_owned());
            events.push(Event::Arguments { index, json });
        }
        if let Some(usage) = root.get("usage") {
            events.push(Event::Stop(if self.calls > 0 { Stop::Calls } else { Stop::End }));
            events.push(Event::Usage(usage_of(usage)));
            events.push(Event::End);
        }
    }
}
