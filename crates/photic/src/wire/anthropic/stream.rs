//! Messages: streamed replies.

use crate::json::{Doc, Value};
use crate::reply::{Stop, Usage};
use crate::stream::{Begin, Event, Failed, event, failed, quoted, text};
use crate::structure::plain_id;

use super::reply::{stop_of, stop_reason, usage_json, usage_of};

/// Reads events.
#[derive(Debug, Default)]
pub(crate) struct StreamReader {
    /// The indexes of the blocks that are calls, in order.
    calls: Vec<u64>,
}

impl StreamReader {
    pub(crate) fn read(&mut self, data: &[u8], events: &mut Vec<Event>) {
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
                    events.push(Event::Call {
                        index,
                        id: text(block, "id"),
                        name: text(block, "name"),
                    });
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
            // Pings, the end of blocks, and what may come to be.
            _ => {}
        }
    }

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
            // Reasoning and its signatures travel only on their own wire.
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

/// Writes events.
#[derive(Debug, Default)]
pub(crate) struct StreamWriter {
    usage: Usage,
    stop: Stop,
    /// How many blocks were begun.
    blocks: usize,
    /// The block that is open: of words, or of a call.
    open: Option<Open>,
    /// The block of each call.
    calls: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Words,
    Call,
}

impl StreamWriter {
    pub(crate) fn write(&mut self, what: Event, out: &mut Vec<u8>) {
        match what {
            Event::Begin(Begin { id, model, .. }) => {
                let (id, model, usage) = (quoted(&id), quoted(&model), usage_json(&self.usage));
                event(
                    out,
                    Some("message_start"),
                    &format!(
                        "{{\"type\":\"message_start\",\"message\":{{\"id\":{id},\"type\":\"message\",\
                     \"role\":\"assistant\",\"model\":{model},\"content\":[],\"stop_reason\":null,\
                     \"stop_sequence\":null,\"usage\":{usage}}}}}"
                    ),
                );
            }
            // This wire has no word of its own for a refusal.
            Event::Text(text) | Event::Refusal(text) => {
                if self.open != Some(Open::Words) {
                    self.start(out, Open::Words, "{\"type\":\"text\",\"text\":\"\"}");
                }
                let text = quoted(&text);
                delta(
                    out,
                    self.blocks - 1,
                    &format!("{{\"type\":\"text_delta\",\"text\":{text}}}"),
                );
            }
            Event::Call { id, name, .. } => {
                let (id, name) = (quoted(&plain_id(&id)), quoted(&name));
                self.start(
                    out,
                    Open::Call,
                    &format!(
                        "{{\"type\":\"tool_use\",\"id\":{id},\"name\":{name},\"input\":{{}}}}"
                    ),
                );
                self.calls.push(self.blocks - 1);
            }
            Event::Arguments { index, json } => {
                if let Some(&block) = self.calls.get(index) {
                    let json = quoted(&json);
                    delta(
                        out,
                        block,
                        &format!("{{\"type\":\"input_json_delta\",\"partial_json\":{json}}}"),
                    );
                }
            }
            Event::Stop(stop) => self.stop = stop,
            Event::Usage(usage) => self.usage.update(&usage),
            Event::End => self.end(out),
            Event::Failed(Failed { kind, message }) => {
                let (kind, message) = (quoted(&kind), quoted(&message));
                event(
                    out,
                    Some("error"),
                    &format!(
                        "{{\"type\":\"error\",\"error\":{{\"type\":{kind},\"message\":{message}}}}}"
                    ),
                );
            }
        }
    }

    fn start(&mut self, out: &mut Vec<u8>, what: Open, block: &str) {
        self.close(out);
        let index = self.blocks;
        event(
            out,
            Some("content_block_start"),
            &format!(
                "{{\"type\":\"content_block_start\",\"index\":{index},\"content_block\":{block}}}"
            ),
        );
        self.blocks += 1;
        self.open = Some(what);
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        if self.open.take().is_some() {
            let index = self.blocks - 1;
            event(
                out,
                Some("content_block_stop"),
                &format!("{{\"type\":\"content_block_stop\",\"index\":{index}}}"),
            );
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.close(out);
        let reason = quoted(stop_reason(self.stop, !self.calls.is_empty()));
        let usage = usage_json(&self.usage);
        event(
            out,
            Some("message_delta"),
            &format!(
                "{{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":{reason},\
             \"stop_sequence\":null}},\"usage\":{usage}}}"
            ),
        );
        event(out, Some("message_stop"), "{\"type\":\"message_stop\"}");
    }
}

fn delta(out: &mut Vec<u8>, index: usize, delta: &str) {
    event(
        out,
        Some("content_block_delta"),
        &format!("{{\"type\":\"content_block_delta\",\"index\":{index},\"delta\":{delta}}}"),
    );
}
