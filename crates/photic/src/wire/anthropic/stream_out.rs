//! Writes streamed replies of Messages.

use crate::reply::{Stop, Usage};
use crate::stream::{Begin, CallBegin, Event, Failed, event, quoted};
use crate::structure::plain_id;

use super::reply::{stop_reason, usage_json};

/// Writes events.
#[derive(Debug, Default)]
pub(super) struct StreamWriter {
    usage: Usage,
    stop: Stop,
    /// Number of blocks started.
    blocks: usize,
    /// The block that is open: a text, or a call.
    open: Option<Open>,
    /// The block of each call.
    calls: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Words,
    Call,
}

impl crate::wire::StreamWriter for StreamWriter {
    fn write(&mut self, what: Event, out: &mut Vec<u8>) {
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
            // This wire has no block of its own for a refusal.
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
            Event::Call(CallBegin { id, name, .. }) => {
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
}

impl StreamWriter {
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
