//! Reads streamed replies of `ConverseStream`.

use super::reply::{stop_of, usage_of};
use crate::json::{Doc, Value};
use crate::stream::{Begin, Event, failed, text};

/// Reads events. Each is an object with its name as the only member.
#[derive(Debug, Default)]
pub(super) struct StreamReader {
    /// The indexes of the blocks that are calls, in order.
    calls: Vec<u64>,
    stopped: bool,
}

impl crate::wire::StreamReader for StreamReader {
    /// Returns `true` if the message has ended. Only its token usage may still follow.
    fn has_stopped(&self) -> bool {
        self.stopped
    }

    fn read(&mut self, data: &[u8], events: &mut Vec<Event>) {
        let Ok(doc) = Doc::parse(data) else { return };
        let Some((name, event)) = doc.root().and_then(|root| root.entries().next()) else { return };
        match &*name.decode() {
            "messageStart" => events.push(Event::Begin(Begin::default())),
            "contentBlockStart" => {
                let call = event.get("start").and_then(|start| start.get("toolUse"));
                if let Some(call) = call {
                    self.calls.push(number(event));
                    let index = self.calls.len() - 1;
                    let (id, name) = (text(call, "toolUseId"), text(call, "name"));
                    events.push(Event::call(index, id, name));
                }
            }
            "contentBlockDelta" => self.delta(event, events),
            "messageStop" => {
                self.stopped = true;
                let reason = event.get("stopReason").and_then(|reason| reason.str());
                events.push(Event::Stop(stop_of(reason.as_ref())));
            }
            "metadata" => {
                events.extend(event.get("usage").map(|usage| Event::Usage(usage_of(usage))));
                events.push(Event::End);
            }
            "exception" => events.push(Event::Failed(failed(event))),
            // The end of blocks, and events that may be added in the future.
            _ => {}
        }
    }
}

impl StreamReader {
    fn delta(&self, event: Value<'_, '_>, events: &mut Vec<Event>) {
        let Some(delta) = event.get("delta") else { return };
        let said = text(delta, "text");
        if !said.is_empty() {
            events.push(Event::Text(said));
        }
        let json = delta.get("toolUse").map(|call| text(call, "input")).unwrap_or_default();
        let index = self.calls.iter().position(|&block| block == number(event));
        if let Some(index) = index.filter(|_| !json.is_empty()) {
            events.push(Event::Arguments { index, json });
        }
    }
}

fn number(event: Value<'_, '_>) -> u64 {
    event.get("contentBlockIndex").and_then(|index| index.u64()).unwrap_or(0)
}
