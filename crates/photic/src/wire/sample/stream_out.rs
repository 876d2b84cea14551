//! Writes streamed replies of the sample wire.

use super::reply::usage_json;
use crate::reply::Usage;
use crate::stream::{Event, Failed, WholeCalls, quoted};

/// Writes lines. A call is one line, so its arguments are collected first.
#[derive(Debug, Default)]
pub(super) struct StreamWriter {
    usage: Usage,
    calls: WholeCalls,
}

impl crate::wire::StreamWriter for StreamWriter {
    fn write(&mut self, event: Event, out: &mut Vec<u8>) {
        let line = match event {
            Event::Begin(_) | Event::Stop(_) => return,
            Event::Text(text) | Event::Refusal(text) => format!("{{\"text\":{}}}\n", quoted(&text)),
            Event::Call(call) => return self.calls.begin(call.index, call.id, call.name),
            Event::Arguments { index, json } => return self.calls.more(index, &json),
            Event::Usage(usage) => return self.usage.update(&usage),
            Event::End => {
                let mut calls = String::new();
                for call in self.calls.take() {
                    let (id, name) = (quoted(&call.id), quoted(&call.name));
                    let with = call.object();
                    let call = format!("{{\"id\":{id},\"name\":{name},\"with\":{with}}}");
                    calls.push_str(&format!("{{\"call\":{call}}}\n"));
                }
                format!("{calls}{{\"usage\":{}}}\n", usage_json(&self.usage))
            }
            Event::Failed(Failed { message, .. }) => {
                format!("{{\"error\":{}}}\n", quoted(&message))
            }
        };
        out.extend_from_slice(line.as_bytes());
    }

    fn keeps(&self, event: &Event) -> usize {
        event.argument_bytes()
    }
}
