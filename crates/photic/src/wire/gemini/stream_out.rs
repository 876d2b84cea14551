//! Writes streamed replies of `streamGenerateContent`.

use super::reply::{code_of, finish_reason, usage_json};
use crate::reply::{Stop, Usage};
use crate::stream::{Begin, Event, Failed, WholeCalls, event, quoted};

/// Writes chunks. A call is one part, so its arguments are collected until it is complete.
#[derive(Debug, Default)]
pub(super) struct StreamWriter {
    begin: Begin,
    usage: Usage,
    stop: Stop,
    calls: WholeCalls,
    /// Set if the chunks are the elements of one array: the number of chunks written so far.
    array: Option<usize>,
}

impl crate::wire::StreamWriter for StreamWriter {
    fn write(&mut self, what: Event, out: &mut Vec<u8>) {
        match what {
            Event::Begin(begin) => self.begin = begin,
            Event::Text(text) | Event::Refusal(text) => {
                self.flush(out);
                let part = format!("{{\"text\":{}}}", quoted(&text));
                self.chunk(out, &part, None);
            }
            Event::Call(call) => self.calls.begin(call.index, call.id, call.name),
            Event::Arguments { index, json } => self.calls.more(index, &json),
            Event::Stop(stop) => self.stop = stop,
            Event::Usage(usage) => self.usage.update(&usage),
            Event::End => {
                self.flush(out);
                self.chunk(out, "", Some(finish_reason(self.stop)));
                self.close(out);
            }
            Event::Failed(Failed { kind, message }) => {
                let ((code, status), message) = (code_of(Some(&kind)), quoted(&message));
                let error = format!(
                    "{{\"error\":{{\"code\":{code},\"message\":{message},\"status\":\"{status}\"}}}}"
                );
                self.put(out, &error);
                self.close(out);
            }
        }
    }

    fn keeps(&self, event: &Event) -> usize {
        event.argument_bytes()
    }
}

impl StreamWriter {
    /// Creates a writer for a client that did not ask for server-sent events.
    pub(super) fn of_array() -> Self {
        Self { array: Some(0), ..Self::default() }
    }
    fn flush(&mut self, out: &mut Vec<u8>) {
        for call in self.calls.take() {
            let (id, name) = (quoted(&call.id), quoted(&call.name));
            let args = call.object();
            let part =
                format!("{{\"functionCall\":{{\"id\":{id},\"name\":{name},\"args\":{args}}}}}");
            self.chunk(out, &part, None);
        }
    }

    fn chunk(&mut self, out: &mut Vec<u8>, part: &str, reason: Option<&str>) {
        let Begin { id, model, .. } = &self.begin;
        let (id, model, usage) = (quoted(id), quoted(model), usage_json(&self.usage));
        let reason = reason.map(|reason| format!(",\"finishReason\":\"{reason}\""));
        let reason = reason.unwrap_or_default();
        let chunk = format!(
            "{{\"candidates\":[{{\"content\":{{\"parts\":[{part}],\"role\":\"model\"}}{reason},\
             \"index\":0}}],\"usageMetadata\":{usage},\"modelVersion\":{model},\"responseId\":{id}}}"
        );
        self.put(out, &chunk);
    }

    fn put(&mut self, out: &mut Vec<u8>, chunk: &str) {
        match &mut self.array {
            None => event(out, None, chunk),
            Some(before) => {
                out.extend_from_slice(if *before == 0 { b"[" } else { b",\r\n" });
                out.extend_from_slice(chunk.as_bytes());
                *before += 1;
            }
        }
    }

    fn close(&self, out: &mut Vec<u8>) {
        if self.array.is_some() {
            out.extend_from_slice(b"\r\n]");
        }
    }
}
