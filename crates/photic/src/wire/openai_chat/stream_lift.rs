//! Chat completions, streamed → neutral events.

use crate::json::{Str, Value};
use crate::reply::{Stop, Usage, number};
use crate::stream::{Begin, Event, LiftStream, failure, text};

/// Reads chunks.
#[derive(Debug, Default)]
pub(crate) struct StreamLift {
    /// The index of each call that began, in the order they did.
    calls: Vec<u64>,
}

impl LiftStream for StreamLift {
    fn lift<'a>(&mut self, chunk: Value<'_, 'a>, emit: &mut dyn FnMut(Event<'a>)) {
        if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
            return emit(failure(error));
        }
        emit(Event::Begin(Begin {
            id: text(chunk, &["id"]),
            model: text(chunk, &["model"]),
            created: chunk.get("created").and_then(|created| created.u64()),
            usage: None,
        }));
        let choice = chunk.get("choices").and_then(|choices| choices.items().next());
        if let Some(delta) = choice.and_then(|choice| choice.get("delta")) {
            for name in ["content", "refusal"] {
                if let Some(words) = text(delta, &[name]) {
                    emit(Event::Text(words));
                }
            }
            for call in delta.get("tool_calls").into_iter().flat_map(Value::items) {
                self.call(call, emit);
            }
        }
        if let Some(usage) = chunk.get("usage").filter(|usage| !usage.is_null()) {
            emit(Event::Usage(Usage {
                input: number(usage, &["prompt_tokens"]),
                output: number(usage, &["completion_tokens"]),
                cache_read: number(usage, &["prompt_tokens_details", "cached_tokens"]),
                cache_write: number(usage, &["prompt_tokens_details", "cache_write_tokens"]),
                reasoning: number(usage, &["completion_tokens_details", "reasoning_tokens"]),
            }));
        }
        let reason = choice.and_then(|choice| text(choice, &["finish_reason"]));
        if let Some(reason) = reason {
            emit(Event::Stop(match &*reason.decode() {
                "tool_calls" | "function_call" => Stop::Calls,
                "length" => Stop::Length,
                "content_filter" => Stop::Refused,
                _ => Stop::End,
            }));
        }
    }
}

impl StreamLift {
    fn call<'a>(&mut self, call: Value<'_, 'a>, emit: &mut dyn FnMut(Event<'a>)) {
        let name = text(call, &["function", "name"]);
        let index = call.get("index").and_then(|index| index.u64());
        // Some servers send whole calls, without numbers.
        let index = index.unwrap_or_else(|| {
            let last = self.calls.last().copied();
            last.map_or(0, |last| if name.is_some() { last + 1 } else { last })
        });
        let number = self.calls.iter().position(|&known| known == index).unwrap_or_else(|| {
            self.calls.push(index);
            let number = self.calls.len() - 1;
            let id = text(call, &["id"]).unwrap_or_else(|| Str::plain(format!("call_{number}")));
            emit(Event::Call { id, name: name.unwrap_or_else(|| Str::plain("")) });
            number
        });
        if let Some(piece) = text(call, &["function", "arguments"]) {
            emit(Event::Arguments { call: number, piece });
        }
    }
}
