//! Writes streamed replies of `/api/chat`.

use super::reply::{ending, time};
use crate::reply::{Stop, Usage};
use crate::stream::{Begin, Event, Failed, WholeCalls, quoted};

/// Writes lines. A call is complete in one line, so its arguments are collected first.
#[derive(Debug, Default)]
pub(super) struct StreamWriter {
    begin: Begin,
    usage: Usage,
    stop: Stop,
    calls: WholeCalls,
}

impl crate::wire::StreamWriter for StreamWriter {
    fn write(&mut self, what: Event, out: &mut Vec<u8>) {
        match what {
            Event::Begin(begin) => self.begin = begin,
            Event::Text(text) | Event::Refusal(text) => {
                self.flush(out);
                let message = format!("{{\"role\":\"assistant\",\"content\":{}}}", quoted(&text));
                self.line(out, &message, "\"done\":false");
            }
            Event::Call(call) => self.calls.begin(call.index, call.id, call.name),
            Event::Arguments { index, json } => self.calls.more(index, &json),
            Event::Stop(stop) => self.stop = stop,
            Event::Usage(usage) => self.usage.update(&usage),
            Event::End => {
                self.flush(out);
                let message = "{\"role\":\"assistant\",\"content\":\"\"}";
                self.line(out, message, &ending(self.stop, &self.usage));
            }
            Event::Failed(Failed { message, .. }) => {
                out.extend_from_slice(format!("{{\"error\":{}}}\n", quoted(&message)).as_bytes());
            }
        }
    }

    fn keeps(&self, event: &Event) -> usize {
        event.argument_bytes()
    }
}

impl StreamWriter {
    fn flush(&mut self, out: &mut Vec<u8>) {
        for call in self.calls.take() {
            let (id, name) = (quoted(&call.id), quoted(&call.name));
            let arguments = call.object();
            let message = format!(
                "{{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{{\"id\":{id},\
                 \"function\":{{\"name\":{name},\"arguments\":{arguments}}}}}]}}"
            );
            self.line(out, &message, "\"done\":false");
        }
    }

    fn line(&self, out: &mut Vec<u8>, message: &str, rest: &str) {
        let (model, created) = (quoted(&self.begin.model), time(self.begin.created));
        let line = format!(
            "{{\"model\":{model},\"created_at\":\"{created}\",\"message\":{message},{rest}}}\n"
        );
        out.extend_from_slice(line.as_bytes());
    }
}
