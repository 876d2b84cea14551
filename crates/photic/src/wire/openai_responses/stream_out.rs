//! Writes streamed replies of Responses.

use crate::reply::{Stop, Usage};
use crate::stream::{Begin, CallBegin, Event, Failed, event, quoted};

use super::reply::usage_json;

/// Writes events.
#[derive(Debug, Default)]
pub(super) struct StreamWriter {
    begin: Begin,
    usage: Usage,
    stop: Stop,
    /// Number of events written.
    sequence: usize,
    /// The items that were started, in order. The last one may be open.
    items: Vec<Item>,
    open: bool,
    /// The item of each call.
    calls: Vec<usize>,
}

#[derive(Debug)]
struct Item {
    kind: Kind,
    /// The text, or the arguments.
    said: String,
}

impl Item {
    /// Returns `true` for a call that takes free text.
    const fn takes_text(&self) -> bool {
        matches!(self.kind, Kind::Call(CallBegin { free_text: true, .. }))
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Words,
    Refusal,
    Call(CallBegin),
}

impl crate::wire::StreamWriter for StreamWriter {
    fn write(&mut self, what: Event, out: &mut Vec<u8>) {
        match what {
            Event::Begin(begin) => {
                self.begin = begin;
                for name in ["response.created", "response.in_progress"] {
                    let response = self.response("in_progress", false);
                    self.event(out, name, &format!("\"response\":{response}"));
                }
            }
            Event::Text(text) => self.words(out, Kind::Words, &text),
            Event::Refusal(text) => self.words(out, Kind::Refusal, &text),
            Event::Call(call) => {
                self.start(out, Kind::Call(call));
                self.calls.push(self.items.len() - 1);
            }
            Event::Arguments { index, json } => {
                let Some(&at) = self.calls.get(index) else { return };
                self.items[at].said.push_str(&json);
                let (id, json) = (quoted(&self.item_id(at)), quoted(&json));
                let name = if self.items[at].takes_text() {
                    "response.custom_tool_call_input.delta"
                } else {
                    "response.function_call_arguments.delta"
                };
                self.event(
                    out,
                    name,
                    &format!("\"item_id\":{id},\"output_index\":{at},\"delta\":{json}"),
                );
            }
            Event::Stop(stop) => self.stop = stop,
            Event::Usage(usage) => self.usage.update(&usage),
            Event::End => {
                self.close(out);
                let (name, status) = match self.stop {
                    Stop::Length | Stop::Refused => ("response.incomplete", "incomplete"),
                    Stop::End | Stop::Calls | Stop::Sequence => ("response.completed", "completed"),
                };
                let response = self.response(status, true);
                self.event(out, name, &format!("\"response\":{response}"));
            }
            Event::Failed(Failed { kind, message }) => {
                let (kind, message) = (quoted(&kind), quoted(&message));
                self.event(
                    out,
                    "error",
                    &format!("\"code\":{kind},\"message\":{message},\"param\":null"),
                );
            }
        }
    }

    fn keeps(&self, event: &Event) -> usize {
        match event {
            // The end of the reply repeats all of it.
            Event::Text(text) | Event::Refusal(text) => text.len(),
            _ => event.argument_bytes(),
        }
    }
}

impl StreamWriter {
    /// Writes more text, in a message of its own kind.
    fn words(&mut self, out: &mut Vec<u8>, kind: Kind, text: &str) {
        let name = match kind {
            Kind::Refusal => "response.refusal.delta",
            Kind::Words | Kind::Call(_) => "response.output_text.delta",
        };
        if !self.open || self.items.last().is_none_or(|item| item.kind != kind) {
            self.start(out, kind);
        }
        let at = self.items.len() - 1;
        self.items[at].said.push_str(text);
        let (id, text) = (quoted(&self.item_id(at)), quoted(text));
        let logprobs = if name == "response.refusal.delta" { "" } else { ",\"logprobs\":[]" };
        self.event(out, name, &format!(
            "\"item_id\":{id},\"output_index\":{at},\"content_index\":0,\"delta\":{text}{logprobs}"
        ));
    }

    fn start(&mut self, out: &mut Vec<u8>, kind: Kind) {
        self.close(out);
        self.items.push(Item { kind, said: String::new() });
        self.open = true;
        let at = self.items.len() - 1;
        let item = self.item(at, "in_progress");
        self.event(
            out,
            "response.output_item.added",
            &format!("\"output_index\":{at},\"item\":{item}"),
        );
        if let Some(part) = self.part(at, "") {
            let id = quoted(&self.item_id(at));
            self.event(
                out,
                "response.content_part.added",
                &format!(
                    "\"item_id\":{id},\"output_index\":{at},\"content_index\":0,\"part\":{part}"
                ),
            );
        }
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        if !std::mem::take(&mut self.open) {
            return;
        }
        let at = self.items.len() - 1;
        let (id, said) = (quoted(&self.item_id(at)), quoted(&self.items[at].said));
        let place = format!("\"item_id\":{id},\"output_index\":{at}");
        match &self.items[at].kind {
            Kind::Words => self.event(
                out,
                "response.output_text.done",
                &format!("{place},\"content_index\":0,\"text\":{said},\"logprobs\":[]"),
            ),
            Kind::Refusal => self.event(
                out,
                "response.refusal.done",
                &format!("{place},\"content_index\":0,\"refusal\":{said}"),
            ),
            Kind::Call(CallBegin { free_text: true, .. }) => self.event(
                out,
                "response.custom_tool_call_input.done",
                &format!("{place},\"input\":{said}"),
            ),
            Kind::Call(CallBegin { name, .. }) => {
                let name = quoted(name);
                self.event(
                    out,
                    "response.function_call_arguments.done",
                    &format!("{place},\"name\":{name},\"arguments\":{said}"),
                );
            }
        }
        if let Some(part) = self.part(at, &self.items[at].said.clone()) {
            self.event(
                out,
                "response.content_part.done",
                &format!("{place},\"content_index\":0,\"part\":{part}"),
            );
        }
        let item = self.item(at, "completed");
        self.event(
            out,
            "response.output_item.done",
            &format!("\"output_index\":{at},\"item\":{item}"),
        );
    }

    fn event(&mut self, out: &mut Vec<u8>, name: &str, members: &str) {
        let sequence = self.sequence;
        self.sequence += 1;
        event(
            out,
            Some(name),
            &format!("{{\"type\":\"{name}\",{members},\"sequence_number\":{sequence}}}"),
        );
    }

    fn item_id(&self, at: usize) -> String {
        match &self.items[at].kind {
            Kind::Words | Kind::Refusal => format!("msg_{}_{at}", self.begin.id),
            Kind::Call(CallBegin { id, free_text: true, .. }) => format!("ctc_{id}"),
            Kind::Call(CallBegin { id, .. }) => format!("fc_{id}"),
        }
    }

    /// Returns the part that holds text, with the content so far.
    fn part(&self, at: usize, said: &str) -> Option<String> {
        let said = quoted(said);
        match self.items[at].kind {
            Kind::Words => Some(format!(
                "{{\"type\":\"output_text\",\"text\":{said},\"annotations\":[],\"logprobs\":[]}}"
            )),
            Kind::Refusal => Some(format!("{{\"type\":\"refusal\",\"refusal\":{said}}}")),
            Kind::Call(_) => None,
        }
    }

    fn item(&self, at: usize, status: &str) -> String {
        let id = quoted(&self.item_id(at));
        let said = if status == "completed" { &*self.items[at].said } else { "" };
        match &self.items[at].kind {
            Kind::Words | Kind::Refusal => {
                let part = self.part(at, said).filter(|_| status == "completed");
                format!(
                    "{{\"id\":{id},\"type\":\"message\",\"status\":\"{status}\",\
                     \"role\":\"assistant\",\"content\":[{}]}}",
                    part.unwrap_or_default()
                )
            }
            Kind::Call(CallBegin { id: call, name, namespace, free_text, .. }) => {
                let (call, name, said) = (quoted(call), quoted(name), quoted(said));
                let (kind, member) = if *free_text {
                    ("custom_tool_call", "input")
                } else {
                    ("function_call", "arguments")
                };
                let group = namespace.as_ref().map(|group| quoted(group));
                let group = group.map(|group| format!(",\"namespace\":{group}"));
                let group = group.unwrap_or_default();
                format!(
                    "{{\"id\":{id},\"type\":\"{kind}\",\"status\":\"{status}\",\
                     \"call_id\":{call},\"name\":{name}{group},\"{member}\":{said}}}"
                )
            }
        }
    }

    /// Returns the response with the content so far. The settings of the request are not known
    /// here, but clients require the fields.
    fn response(&self, status: &str, done: bool) -> String {
        let Begin { id, model, created } = &self.begin;
        let (id, model) = (quoted(id), quoted(model));
        let items: Vec<String> =
            (0..self.items.len()).filter(|_| done).map(|at| self.item(at, "completed")).collect();
        let cut = match self.stop {
            Stop::Length if done => "{\"reason\":\"max_output_tokens\"}",
            Stop::Refused if done => "{\"reason\":\"content_filter\"}",
            _ => "null",
        };
        let usage = if done { usage_json(&self.usage) } else { "null".to_owned() };
        format!(
            "{{\"id\":{id},\"object\":\"response\",\"created_at\":{created},\
             \"status\":\"{status}\",\"incomplete_details\":{cut},\"error\":null,\
             \"model\":{model},\"output\":[{}],\"parallel_tool_calls\":true,\
             \"tool_choice\":\"auto\",\"tools\":[],\"usage\":{usage}}}",
            items.join(",")
        )
    }
}
