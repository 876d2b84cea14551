//! A wire without a service of its own: replies of Chat Completions, translated by `photic`.

use photic::{Stream, Wire};
use serde_json::Value;

use super::chat;
use super::definition::Service;
use crate::reply::Reply;

/// Translates the service of Chat Completions.
pub(super) struct Translated;

impl Service for Translated {
    fn whole(&self, reply: &Reply) -> Value {
        let whole = chat::Chat.whole(reply).to_string();
        let lifted = photic::lift_reply(Wire::OpenAiChat, whole.as_bytes());
        let written = photic::lower_reply(&lifted, reply.wire).to_vec();
        serde_json::from_slice(&written).unwrap_or_default()
    }

    fn events(&self, reply: &Reply) -> Vec<Vec<u8>> {
        let mut stream = Stream::with_usage(Wire::OpenAiChat, reply.wire);
        let events = chat::Chat.events(reply);
        let mut out: Vec<Vec<u8>> = events.iter().map(|event| stream.feed(event)).collect();
        out.push(stream.finish());
        out.retain(|event| !event.is_empty());
        out
    }
}
