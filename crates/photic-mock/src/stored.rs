//! Conversations that a service keeps, so that a later request sends only what is new.
//!
//! Two wires do: Responses by `previous_response_id` and `item_reference`, Messages by `thread`.
//! Bounded by bytes: the oldest are forgotten first, and then the service says that it does not
//! know them, as the real ones do after a while.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use crate::rejection::Rejection;

/// Most bytes of requests that are kept.
const MOST: usize = 128 << 20;

/// What became of a body that may refer to what is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Expanded {
    /// It is no longer what came.
    pub(crate) rewritten: bool,
    /// The conversation is to be kept, the reply included.
    pub(crate) keep: bool,
}

/// Conversations by the id of their last reply, and items by their own.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    conversations: BTreeMap<String, Value>,
    items: BTreeMap<String, Value>,
    order: VecDeque<(String, Vec<String>, usize)>,
    bytes: usize,
}

impl Stored {
    /// Keeps a conversation (written out) and the items of its reply.
    pub(crate) fn keep(&mut self, id: String, mut asked: Value, output: &[Value], bytes: usize) {
        let list = if asked["input"].is_null() { "messages" } else { "input" };
        let mut conversation = listed(asked[list].take());
        conversation.extend_from_slice(output);
        asked[list] = Value::Array(conversation);
        let named = |item: &Value| Some((item["id"].as_str()?.to_owned(), item.clone()));
        let items: Vec<(String, Value)> = output.iter().filter_map(named).collect();
        let ids = items.iter().map(|(id, _)| id.clone()).collect();
        self.items.extend(items);
        self.conversations.insert(id.clone(), asked);
        self.order.push_back((id, ids, bytes));
        self.bytes += bytes;
        while self.bytes > MOST {
            let Some((id, items, bytes)) = self.order.pop_front() else { break };
            self.conversations.remove(&id);
            for item in &items {
                self.items.remove(item);
            }
            self.bytes -= bytes;
        }
    }

    /// The conversation before a request, and single items by name.
    pub(crate) fn response(&self, body: &mut Value) -> Result<Expanded, Rejection> {
        let keep = body["store"] != false;
        let before = match body["previous_response_id"].as_str() {
            None => Vec::new(),
            Some(id) => {
                let found = self.conversations.get(id).map(|found| listed(found["input"].clone()));
                found.ok_or_else(|| Rejection::not_stored("response", id))?
            }
        };
        let refers = |item: &Value| item["type"] == "item_reference";
        let is_referring = body["input"].as_array().is_some_and(|items| items.iter().any(refers));
        if before.is_empty() && !is_referring {
            return Ok(Expanded { rewritten: false, keep });
        }
        let mut items = before;
        for item in listed(body["input"].take()) {
            if refers(&item) {
                let id = item["id"].as_str().unwrap_or_default();
                let found = self.items.get(id).cloned();
                items.push(found.ok_or_else(|| Rejection::not_stored("item", id))?);
            } else {
                items.push(item);
            }
        }
        body["input"] = Value::Array(items);
        if let Some(object) = body.as_object_mut() {
            object.shift_remove("previous_response_id");
        }
        Ok(Expanded { rewritten: true, keep })
    }

    /// A thread: what the request does not say is taken from the one that began it.
    pub(crate) fn thread(&self, body: &mut Value) -> Result<Expanded, Rejection> {
        let Some(object) = body.as_object_mut() else { return Ok(Expanded::default()) };
        let Some(thread) = object.shift_remove("thread") else { return Ok(Expanded::default()) };
        if let Some(id) = thread["previous_message_id"].as_str() {
            let found = self.conversations.get(id).and_then(Value::as_object);
            let mut begun = found.cloned().ok_or_else(Rejection::no_thread)?;
            let mut messages = begun.shift_remove("messages").map(listed).unwrap_or_default();
            messages.extend(object.shift_remove("messages").map(listed).unwrap_or_default());
            // A stream was asked for in that turn, not in this one.
            begun.shift_remove("stream");
            begun.extend(std::mem::take(object));
            begun.insert("messages".to_owned(), Value::Array(messages));
            *object = begun;
        }
        Ok(Expanded { rewritten: true, keep: true })
    }
}

/// An input as a list of items.
fn listed(input: Value) -> Vec<Value> {
    match input {
        Value::Array(items) => items,
        Value::Null => Vec::new(),
        text => vec![json!({"type": "message", "role": "user", "content": text})],
    }
}
