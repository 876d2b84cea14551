//! Messages, streamed → neutral events.

use crate::json::{Str, Value};
use crate::reply::{Stop, Usage, number};
use crate::stream::{Begin, Event, LiftStream, failure, text};

/// Reads events.
#[derive(Debug, Default)]
pub(crate) struct StreamLift {
    calls: usize,
    usage: Usage,
}

impl LiftStream for StreamLift {
    fn lift<'a>(&mut self, data: Value<'_, 'a>, emit: &mut dyn FnMut(Event<'a>)) {
        let kind = text(data, &["type"]);
        match kind.as_ref().map(Str::decode).as_deref() {
            Some("message_start") => {
                let Some(message) = data.get("message") else { return };
                self.count(message);
                emit(Event::Begin(Begin {
                    id: text(message, &["id"]),
                    model: text(message, &["model"]),
                    created: None,
                    usage: Some(self.usage),
                }));
            }
            Some("content_block_start") => {
                let Some(block) = data.get("content_block") else { return };
                if block.get("type").is_some_and(|kind| kind.is("tool_use")) {
                    self.calls += 1;
                    let member = |name| text(block, &[name]).unwrap_or_else(|| Str::plain(""));
                    emit(Event::Call { id: member("id"), name: member("name") });
                } else if let Some(words) = text(block, &["text"]) {
                    emit(Event::Text(words));
                }
            }
            Some("content_block_delta") => {
                if let Some(words) = text(data, &["delta", "text"]) {
                    emit(Event::Text(words));
                } else if let Some(piece) = text(data, &["delta", "partial_json"])
                    && let Some(call) = self.calls.checked_sub(1)
                {
                    emit(Event::Arguments { call, piece });
                }
            }
            Some("message_delta") => {
                self.count(data);
                emit(Event::Usage(self.usage));
                if let Some(reason) = text(data, &["delta", "stop_reason"]) {
                    emit(Event::Stop(match &*reason.decode() {
                        "tool_use" => Stop::Calls,
                        "max_tokens" | "model_context_window_exceeded" => Stop::Length,
                        "stop_sequence" => Stop::Sequence,
                        "refusal" => Stop::Refused,
                        _ => Stop::End,
                    }));
                }
            }
            Some("message_stop") => emit(Event::End),
            Some("error") => emit(failure(data.get("error").unwrap_or(data))),
            // Pings, ends of blocks, and what comes after this was written.
            _ => {}
        }
    }
}

impl StreamLift {
    /// Counts are totals so far; the last word on each holds.
    fn count(&mut self, holder: Value<'_, '_>) {
        let Some(usage) = holder.get("usage").filter(|usage| !usage.is_null()) else { return };
        let fresh = number(usage, &["input_tokens"]);
        let read = number(usage, &["cache_read_input_tokens"]);
        let written = number(usage, &["cache_creation_input_tokens"]);
        if fresh + read + written > 0 {
            // This wire counts only what missed the cache as input.
            self.usage.input = fresh + read + written;
            (self.usage.cache_read, self.usage.cache_write) = (read, written);
        }
        self.usage.output = number(usage, &["output_tokens"]).max(self.usage.output);
    }
}
