//! Responses, streamed → neutral events.

use crate::json::{Str, Value};
use crate::reply::{Stop, Usage, number};
use crate::stream::{Begin, Event, LiftStream, failure, text};

/// Reads events.
#[derive(Debug, Default)]
pub(crate) struct StreamLift {
    /// The output index of each call that began.
    calls: Vec<u64>,
}

impl LiftStream for StreamLift {
    fn lift<'a>(&mut self, data: Value<'_, 'a>, emit: &mut dyn FnMut(Event<'a>)) {
        let kind = text(data, &["type"]);
        match kind.as_ref().map(Str::decode).as_deref() {
            Some("response.created" | "response.in_progress") => {
                let Some(response) = data.get("response") else { return };
                emit(Event::Begin(Begin {
                    id: text(response, &["id"]),
                    model: text(response, &["model"]),
                    created: response.get("created_at").and_then(|created| created.u64()),
                    usage: None,
                }));
            }
            Some("response.output_text.delta" | "response.refusal.delta") => {
                if let Some(words) = text(data, &["delta"]) {
                    emit(Event::Text(words));
                }
            }
            Some("response.output_item.added") => {
                let Some(item) = data.get("item") else { return };
                if item.get("type").is_some_and(|kind| kind.is("function_call")) {
                    self.calls.push(number(data, &["output_index"]));
                    let member = |name| text(item, &[name]).unwrap_or_else(|| Str::plain(""));
                    emit(Event::Call { id: member("call_id"), name: member("name") });
                }
            }
            Some("response.function_call_arguments.delta") => {
                let at = number(data, &["output_index"]);
                if let Some(piece) = text(data, &["delta"])
                    && let Some(call) = self.calls.iter().position(|&index| index == at)
                {
                    emit(Event::Arguments { call, piece });
                }
            }
            Some("response.completed" | "response.incomplete") => {
                if let Some(response) = data.get("response") {
                    self.ended(response, emit);
                }
                emit(Event::End);
            }
            Some("response.failed") => {
                let error = data.get("response").and_then(|response| response.get("error"));
                emit(failure(error.unwrap_or(data)));
            }
            Some("error") => emit(failure(data.get("error").unwrap_or(data))),
            // Ends of parts and items repeat what was said.
            _ => {}
        }
    }
}

impl StreamLift {
    fn ended<'a>(&self, response: Value<'_, 'a>, emit: &mut dyn FnMut(Event<'a>)) {
        if let Some(usage) = response.get("usage").filter(|usage| !usage.is_null()) {
            emit(Event::Usage(Usage {
                input: number(usage, &["input_tokens"]),
                output: number(usage, &["output_tokens"]),
                cache_read: number(usage, &["input_tokens_details", "cached_tokens"]),
                cache_write: number(usage, &["input_tokens_details", "cache_write_tokens"]),
                reasoning: number(usage, &["output_tokens_details", "reasoning_tokens"]),
            }));
        }
        let cut = text(response, &["incomplete_details", "reason"]);
        emit(Event::Stop(match cut.as_ref().map(Str::decode).as_deref() {
            Some("max_output_tokens") => Stop::Length,
            Some("content_filter") => Stop::Refused,
            _ if !self.calls.is_empty() => Stop::Calls,
            _ => Stop::End,
        }));
    }
}
