//! Writes streamed replies of Chat Completions.

use crate::reply::{Stop, Usage};
use crate::stream::{Begin, CallBegin, Event, Failed, event, quoted};

use super::reply::finish_reason;

/// Writes chunks.
#[derive(Debug)]
pub(super) struct StreamWriter {
    begin: Begin,
    /// `true` if the client asked for the token usage.
    with_usage: bool,
    usage: Usage,
    stop: Stop,
    calls: bool,
    /// The calls that take free text.
    free: Vec<usize>,
}

impl crate::wire::StreamWriter for StreamWriter {
    fn write(&mut self, what: Event, out: &mut Vec<u8>) {
        match what {
            Event::Begin(begin) => {
                self.begin = begin;
                self.delta(out, "{\"role\":\"assistant\",\"content\":\"\"}");
            }
            Event::Text(text) => self.delta(out, &format!("{{\"content\":{}}}", quoted(&text))),
            Event::Refusal(text) => self.delta(out, &format!("{{\"refusal\":{}}}", quoted(&text))),
            Event::Call(CallBegin { index, id, name, free_text: true, .. }) => {
                self.calls = true;
                self.free.push(index);
                let (id, name) = (quoted(&id), quoted(&name));
                self.delta(
                    out,
                    &format!(
                        "{{\"tool_calls\":[{{\"index\":{index},\"id\":{id},\"type\":\"custom\",\
                     \"custom\":{{\"name\":{name},\"input\":\"\"}}}}]}}"
                    ),
                );
            }
            Event::Call(CallBegin { index, id, name, .. }) => {
                self.calls = true;
                let (id, name) = (quoted(&id), quoted(&name));
                self.delta(
                    out,
                    &format!(
                        "{{\"tool_calls\":[{{\"index\":{index},\"id\":{id},\"type\":\"function\",\
                     \"function\":{{\"name\":{name},\"arguments\":\"\"}}}}]}}"
                    ),
                );
            }
            Event::Arguments { index, json } => {
                let json = quoted(&json);
                let is_free = self.free.contains(&index);
                let (kind, member) =
                    if is_free { ("custom", "input") } else { ("function", "arguments") };
                self.delta(out, &format!(
                    "{{\"tool_calls\":[{{\"index\":{index},\"{kind}\":{{\"{member}\":{json}}}}}]}}"
                ));
            }
            Event::Stop(stop) => self.stop = stop,
            Event::Usage(usage) => self.usage.update(&usage),
            Event::End => self.end(out),
            Event::Failed(Failed { kind, message }) => {
                let (kind, message) = (quoted(&kind), quoted(&message));
                event(
                    out,
                    None,
                    &format!(
                        "{{\"error\":{{\"message\":{message},\"type\":{kind},\"param\":null,\"code\":null}}}}"
                    ),
                );
            }
        }
    }
}

impl StreamWriter {
    pub(super) fn new(with_usage: bool) -> Self {
        let (begin, usage, stop) = (Begin::default(), Usage::default(), Stop::End);
        Self { begin, with_usage, usage, stop, calls: false, free: Vec::new() }
    }
    fn end(&self, out: &mut Vec<u8>) {
        let reason = quoted(finish_reason(self.stop, self.calls));
        self.chunk(
            out,
            &format!(
                "[{{\"index\":0,\"delta\":{{}},\"logprobs\":null,\"finish_reason\":{reason}}}]"
            ),
            None,
        );
        if self.with_usage {
            self.chunk(out, "[]", Some(&self.usage));
        }
        event(out, None, "[DONE]");
    }

    fn delta(&self, out: &mut Vec<u8>, delta: &str) {
        self.chunk(
            out,
            &format!(
                "[{{\"index\":0,\"delta\":{delta},\"logprobs\":null,\"finish_reason\":null}}]"
            ),
            None,
        );
    }

    fn chunk(&self, out: &mut Vec<u8>, choices: &str, usage: Option<&Usage>) {
        let Begin { id, model, created } = &self.begin;
        let (id, model) = (quoted(id), quoted(model));
        let usage = usage
            .map(|usage| format!(",\"usage\":{}", super::reply::usage_json(usage)))
            .unwrap_or_default();
        event(
            out,
            None,
            &format!(
                "{{\"id\":{id},\"object\":\"chat.completion.chunk\",\"created\":{created},\
             \"model\":{model},\"choices\":{choices}{usage}}}"
            ),
        );
    }
}
