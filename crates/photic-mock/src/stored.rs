//! Conversations that a service keeps, so that later requests send only new content.
//!
//! Two wires have them: Responses by `previous_response_id` and `item_reference`, Messages by
//! `thread`. They are bounded by bytes: the oldest are dropped, and the service then reports that
//! they do not exist, as real ones do after a while.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use crate::rejection::Rejection;

/// Largest number of bytes of requests that are kept.
const MAX_STORED_BYTES: usize = 128 << 20;

/// The effect of expanding a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExpandedBody {
    /// `true` if the body was rewritten.
    pub(crate) rewritten: bool,
    /// `true` if the conversation, with the reply, is to be kept.
    pub(crate) keep: bool,
}

/// Conversations by the ID of their last reply, and items by their own.
#[derive(Debug, Default)]
pub(crate) struct StoredConversations {
    conversations: BTreeMap<String, Value>,
    items: BTreeMap<String, Value>,
    order: VecDeque<(String, Vec<String>, usize)>,
    bytes: usize,
}

impl StoredConversations {
    /// Keeps an expanded conversation and the items of its reply.
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
        while self.bytes > MAX_STORED_BYTES {
            let Some((id, items, bytes)) = self.order.pop_front() else { break };
            self.conversations.remove(&id);
            for item in &items {
                self.items.remove(item);
            }
            self.bytes -= bytes;
        }
    }

    /// Expands the conversation before a request, and single items.
    pub(crate) fn response(&self, body: &mut Value) -> Result<ExpandedBody, Rejection> {
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
            return Ok(ExpandedBody { rewritten: false, keep });
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
        Ok(ExpandedBody { rewritten: true, keep })
    }

    /// Expands a thread: missing values are taken from the request that started it.
    pub(crate) fn thread(&self, body: &mut Value) -> Result<ExpandedBody, Rejection> {
        let Some(object) = body.as_object_mut() else { return Ok(ExpandedBody::default()) };
        let Some(thread) = object.shift_remove("thread") else {
            return Ok(ExpandedBody::default());
        };
        if let Some(id) = thread["previous_message_id"].as_str() {
            let found = self.conversations.get(id).and_then(Value::as_object);
            let mut begun = found.cloned().ok_or_else(Rejection::no_thread)?;
            let mut messages = begun.shift_remove("messages").map(listed).unwrap_or_default();
            messages.extend(object.shift_remove("messages").map(listed).unwrap_or_default());
            // Streaming was requested for that turn, not for this one.
            begun.shift_remove("stream");
            begun.extend(std::mem::take(object));
            begun.insert("messages".to_owned(), Value::Array(messages));
            *object = begun;
        }
        Ok(ExpandedBody { rewritten: true, keep: true })
    }
}

/// The input as a list of items.
fn listed(input: Value) -> Vec<Value> {
    match input {
        Value::Array(items) => items,
        Value::Null => Vec::new(),
        text => vec![json!({"type": "message", "role": "user", "content": text})],
    }
}
