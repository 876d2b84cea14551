//! Neutral events → Responses, streamed.
//!
//! This wire says everything twice, once in pieces and once whole, so what was said is remembered.

use crate::json::{Out, Segments, Str};
use crate::reply::{Stop, Usage};
use crate::stream::{Event, LowerStream, write};

/// Writes events.
#[derive(Debug, Default)]
pub(crate) struct StreamLower {
    id: String,
    model: String,
    created: u64,
    /// How many events were written.
    sequence: u64,
    items: Vec<Item>,
    stop: Stop,
    usage: Option<Usage>,
}

/// A thing that was put out.
#[derive(Debug)]
struct Item {
    kind: Kind,
    id: String,
    /// The words, or the arguments.
    text: String,
    open: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Message,
    Call { id: String, name: String },
}

impl LowerStream for StreamLower {
    fn lower(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        match event {
            Event::Begin(begin) => {
                let owned = |text: &Option<Str<'_>>| {
                    text.as_ref().map(|text| text.decode().into_owned()).unwrap_or_default()
                };
                (self.id, self.model) = (owned(&begin.id), owned(&begin.model));
                (self.created, self.usage) = (begin.created.unwrap_or(0), begin.usage);
                for name in ["response.created", "response.in_progress"] {
                    let response = self.response("in_progress");
                    self.event(out, name, |json| {
                        json.key("response").fragment(response);
                    });
                }
            }
            Event::Text(words) => self.text(&words.decode(), out),
            Event::Call { id, name } => {
                self.close(out);
                let (call, name) = (id.decode().into_owned(), name.decode().into_owned());
                let id = format!("fc_{call}");
                self.open(
                    out,
                    Item {
                        kind: Kind::Call { id: call, name },
                        id,
                        text: String::new(),
                        open: true,
                    },
                );
            }
            Event::Arguments { call, piece } => self.arguments(*call, &piece.decode(), out),
            Event::Usage(usage) => self.usage = Some(*usage),
            Event::Stop(stop) => self.stop = *stop,
            Event::Failure { kind, message } => {
                let code = kind.as_ref().map_or("api_error".into(), Str::decode);
                let message = message.decode();
                self.event(out, "error", |json| {
                    json.key("code").quoted(&code).json(",\"message\":").quoted(&message);
                    json.json(",\"param\":null");
                });
            }
            Event::End => {
                self.close(out);
                let (name, status) = match self.stop {
                    Stop::Length | Stop::Refused => ("response.incomplete", "incomplete"),
                    Stop::End | Stop::Calls | Stop::Sequence => ("response.completed", "completed"),
                };
                let response = self.response(status);
                self.event(out, name, |json| {
                    json.key("response").fragment(response);
                });
            }
        }
    }
}

impl StreamLower {
    fn text(&mut self, words: &str, out: &mut Vec<u8>) {
        let goes_on = |item: &Item| item.open && item.kind == Kind::Message;
        if !self.items.last().is_some_and(goes_on) {
            self.close(out);
            let id = format!("msg_{}_{}", self.id, self.items.len());
            let item = Item { kind: Kind::Message, id, text: String::new(), open: true };
            let (index, id) = (self.items.len(), item.id.clone());
            self.open(out, item);
            self.event(out, "response.content_part.added", |json| {
                place(json, index, &id);
                json.json(",\"content_index\":0,\"part\":").fragment(part(""));
            });
        }
        let index = self.items.len() - 1;
        let Some(item) = self.items.last_mut() else { return };
        item.text.push_str(words);
        let id = item.id.clone();
        self.event(out, "response.output_text.delta", |json| {
            place(json, index, &id);
            json.json(",\"content_index\":0,\"logprobs\":[],\"delta\":").quoted(words);
        });
    }

    fn arguments(&mut self, call: usize, piece: &str, out: &mut Vec<u8>) {
        let calls = self.items.iter_mut().enumerate();
        let mut calls = calls.filter(|(_, item)| item.kind != Kind::Message);
        let Some((index, item)) = calls.nth(call) else { return };
        item.text.push_str(piece);
        let id = item.id.clone();
        self.event(out, "response.function_call_arguments.delta", |json| {
            place(json, index, &id);
            json.json(",\"delta\":").quoted(piece);
        });
    }

    fn open(&mut self, out: &mut Vec<u8>, item: Item) {
        let index = self.items.len();
        let written = item.written("in_progress");
        self.items.push(item);
        self.event(out, "response.output_item.added", |json| {
            json.json(&format!("\"output_index\":{index},\"item\":")).fragment(written);
        });
    }

    /// Says the last item again, whole.
    fn close(&mut self, out: &mut Vec<u8>) {
        let Some(index) = self.items.len().checked_sub(1) else { return };
        let item = &mut self.items[index];
        if !std::mem::take(&mut item.open) {
            return;
        }
        let (id, text, whole) = (item.id.clone(), item.text.clone(), item.written("completed"));
        match &item.kind {
            Kind::Message => {
                self.event(out, "response.output_text.done", |json| {
                    place(json, index, &id);
                    json.json(",\"content_index\":0,\"logprobs\":[],\"text\":").quoted(&text);
                });
                self.event(out, "response.content_part.done", |json| {
                    place(json, index, &id);
                    json.json(",\"content_index\":0,\"part\":").fragment(part(&text));
                });
            }
            Kind::Call { name, .. } => {
                let name = name.clone();
                self.event(out, "response.function_call_arguments.done", |json| {
                    place(json, index, &id);
                    json.json(",\"name\":").quoted(&name).json(",\"arguments\":").quoted(&text);
                });
            }
        }
        self.event(out, "response.output_item.done", |json| {
            json.json(&format!("\"output_index\":{index},\"item\":")).fragment(whole);
        });
    }

    fn event(&mut self, out: &mut Vec<u8>, name: &str, members: impl FnOnce(&mut Out<'_>)) {
        let sequence = self.sequence;
        self.sequence += 1;
        write(out, Some(name), |json| {
            json.json("{").key("type").quoted(name);
            json.json(&format!(",\"sequence_number\":{sequence},"));
            members(json);
            json.json("}");
        });
    }

    /// The response as far as it went.
    fn response(&self, status: &str) -> Segments<'static> {
        let mut json = Out::new();
        json.json("{").key("id").quoted(&self.id);
        json.json(&format!(",\"object\":\"response\",\"created_at\":{},", self.created));
        json.key("status").quoted(status).json(",\"incomplete_details\":");
        match self.stop {
            Stop::Length => json.json("{\"reason\":\"max_output_tokens\"}"),
            Stop::Refused => json.json("{\"reason\":\"content_filter\"}"),
            Stop::End | Stop::Calls | Stop::Sequence => json.json("null"),
        };
        json.json(",\"error\":null,\"model\":").quoted(&self.model).json(",\"output\":[");
        for item in &self.items {
            json.comma().fragment(item.written("completed"));
        }
        // What the request said is not ours to know here; clients insist on the fields.
        json.json(
            "],\"parallel_tool_calls\":true,\"tool_choice\":\"auto\",\"tools\":[],\"usage\":",
        );
        match self.usage.filter(|_| status != "in_progress") {
            None => json.json("null"),
            Some(usage) => json.json(&format!(
                "{{\"input_tokens\":{},\"input_tokens_details\":{{\"cached_tokens\":{},\
                 \"cache_write_tokens\":{}}},\"output_tokens\":{},\
                 \"output_tokens_details\":{{\"reasoning_tokens\":{}}},\"total_tokens\":{}}}",
                usage.input,
                usage.cache_read,
                usage.cache_write,
                usage.output,
                usage.reasoning,
                usage.input + usage.output
            )),
        };
        json.json("}");
        json.finish()
    }
}

impl Item {
    fn written(&self, status: &str) -> Segments<'static> {
        let mut json = Out::new();
        match &self.kind {
            Kind::Message => {
                json.json("{\"type\":\"message\",\"id\":").quoted(&self.id);
                json.json(",\"status\":")
                    .quoted(status)
                    .json(",\"role\":\"assistant\",\"content\":[");
                if !self.text.is_empty() {
                    json.fragment(part(&self.text));
                }
                json.json("]}");
            }
            Kind::Call { id, name } => {
                json.json("{\"type\":\"function_call\",\"id\":").quoted(&self.id);
                json.json(",\"status\":").quoted(status).json(",\"call_id\":").quoted(id);
                json.json(",\"name\":").quoted(name).json(",\"arguments\":").quoted(&self.text);
                json.json("}");
            }
        }
        json.finish()
    }
}

fn place(json: &mut Out<'_>, index: usize, item: &str) {
    json.json(&format!("\"output_index\":{index},\"item_id\":")).quoted(item);
}

fn part(text: &str) -> Segments<'static> {
    let mut json = Out::new();
    json.json("{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":");
    json.quoted(text).json("}");
    json.finish()
}
