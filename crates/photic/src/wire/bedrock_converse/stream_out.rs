//! Writes streamed replies of `ConverseStream`.

use super::reply::{stop_reason, usage_json};
use crate::reply::{Stop, Usage};
use crate::stream::{CallBegin, Event, Failed, exception, frame, quoted};
use crate::structure::plain_id;

/// Writes events.
#[derive(Debug, Default)]
pub(super) struct StreamWriter {
    usage: Usage,
    stop: Stop,
    /// Number of blocks started.
    blocks: usize,
    /// The kind of the last block, a text or a call; `None` if it is closed.
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
            Event::Begin(_) => frame(out, "messageStart", "{\"role\":\"assistant\"}"),
            // This wire has no block of its own for a refusal.
            Event::Text(text) | Event::Refusal(text) => {
                if self.open != Some(Open::Words) {
                    self.start(out, Open::Words);
                }
                delta(out, self.blocks - 1, &format!("{{\"text\":{}}}", quoted(&text)));
            }
            Event::Call(CallBegin { id, name, .. }) => {
                self.start(out, Open::Call);
                let (id, name, index) = (quoted(&plain_id(&id)), quoted(&name), self.blocks - 1);
                let start = format!(
                    "{{\"start\":{{\"toolUse\":{{\"toolUseId\":{id},\"name\":{name}}}}},\
                     \"contentBlockIndex\":{index}}}"
                );
                frame(out, "contentBlockStart", &start);
                self.calls.push(index);
            }
            Event::Arguments { index, json } => {
                if let Some(&block) = self.calls.get(index) {
                    let json = quoted(&json);
                    delta(out, block, &format!("{{\"toolUse\":{{\"input\":{json}}}}}"));
                }
            }
            Event::Stop(stop) => self.stop = stop,
            Event::Usage(usage) => self.usage.update(&usage),
            Event::End => {
                self.close(out);
                let reason = stop_reason(self.stop, !self.calls.is_empty());
                frame(out, "messageStop", &format!("{{\"stopReason\":\"{reason}\"}}"));
                let usage = usage_json(&self.usage);
                let metadata = format!("{{\"usage\":{usage},\"metrics\":{{\"latencyMs\":0}}}}");
                frame(out, "metadata", &metadata);
            }
            Event::Failed(Failed { message, .. }) => {
                let message = format!("{{\"message\":{}}}", quoted(&message));
                exception(out, "internalServerException", &message);
            }
        }
    }
}

impl StreamWriter {
    fn start(&mut self, out: &mut Vec<u8>, what: Open) {
        self.close(out);
        self.blocks += 1;
        self.open = Some(what);
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        if self.open.take().is_some() {
            let index = self.blocks - 1;
            frame(out, "contentBlockStop", &format!("{{\"contentBlockIndex\":{index}}}"));
        }
    }
}

fn delta(out: &mut Vec<u8>, index: usize, delta: &str) {
    frame(
        out,
        "contentBlockDelta",
        &format!("{{\"delta\":{delta},\"contentBlockIndex\":{index}}}"),
    );
}
