//! Reads the frames of an upstream: which response they belong to, and what they add to it.

use std::borrow::Cow;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

/// A frame of an upstream.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ServerFrame<'f> {
    /// The lane, if it is not the default one.
    pub(super) lane: Option<Cow<'f, str>>,
    pub(super) event: Event<'f>,
}

/// The meaning of a frame.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Event<'f> {
    /// A response began.
    Began(Cow<'f, str>),
    /// A response has another item.
    Item(&'f str),
    /// A response ended, completely or not. The frame may list all of its items.
    Ended { id: Cow<'f, str>, output: Vec<&'f str> },
    /// A create was rejected, or a response broke off.
    Rejected { status: u16 },
    /// Any other.
    Other,
}

#[derive(Deserialize)]
struct Raw<'f> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'f, str>,
    #[serde(borrow, default)]
    stream_id: Option<Cow<'f, str>>,
    #[serde(borrow, default)]
    response: Option<&'f RawValue>,
    #[serde(borrow, default)]
    item: Option<&'f RawValue>,
    #[serde(default)]
    status: Option<u16>,
    #[serde(default)]
    status_code: Option<u16>,
}

#[derive(Deserialize)]
struct RawResponse<'f> {
    #[serde(borrow)]
    id: Cow<'f, str>,
    #[serde(borrow, default)]
    output: Option<Vec<&'f RawValue>>,
}

impl<'f> ServerFrame<'f> {
    /// Reads a frame. One that cannot be read is [`Event::Other`] on the default lane.
    pub(super) fn read(text: &'f [u8]) -> Self {
        let Ok(raw) = serde_json::from_slice::<Raw<'f>>(text) else {
            return Self { lane: None, event: Event::Other };
        };
        let response = |raw: &Raw<'f>| -> Option<RawResponse<'f>> {
            serde_json::from_str(raw.response?.get()).ok()
        };
        let event = match &*raw.kind {
            "response.created" => response(&raw).map(|response| Event::Began(response.id)),
            "response.output_item.done" => raw.item.map(|item| Event::Item(item.get())),
            "response.completed" | "response.incomplete" | "response.failed" => {
                response(&raw).map(|response| {
                    let items = response.output.unwrap_or_default();
                    let output = items.into_iter().map(RawValue::get).collect();
                    Event::Ended { id: response.id, output }
                })
            }
            "error" => {
                Some(Event::Rejected { status: raw.status.or(raw.status_code).unwrap_or(400) })
            }
            _ => None,
        };
        Self { lane: raw.stream_id, event: event.unwrap_or(Event::Other) }
    }
}

/// Returns the items of a reply as JSON, without the brackets of a list. Returns `None` if one of them
/// cannot be sent again: the upstream refuses the items beside it without it.
pub(super) fn joined<'i>(items: impl Iterator<Item = &'i str>) -> Option<Bytes> {
    let mut all = Vec::new();
    for item in items {
        if !can_be_sent_again(item) {
            return None;
        }
        if !all.is_empty() {
            all.push(b',');
        }
        all.extend_from_slice(item.as_bytes());
    }
    Some(all.into())
}

/// Returns `true` unless an item is reasoning whose text is neither in it nor encrypted.
fn can_be_sent_again(item: &str) -> bool {
    #[derive(Deserialize)]
    struct Item<'i> {
        #[serde(borrow, rename = "type", default)]
        kind: Cow<'i, str>,
        #[serde(borrow, default)]
        encrypted_content: Option<Cow<'i, str>>,
        #[serde(borrow, default)]
        content: Option<&'i RawValue>,
    }
    let has_text = |content: &RawValue| {
        serde_json::from_str::<Vec<&RawValue>>(content.get()).is_ok_and(|parts| !parts.is_empty())
    };
    serde_json::from_str::<Item<'_>>(item).is_ok_and(|item| {
        item.kind != "reasoning"
            || item.encrypted_content.is_some_and(|content| !content.is_empty())
            || item.content.is_some_and(has_text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_say_what_happens_to_which_response() {
        let read = |text: &'static str| ServerFrame::read(text.as_bytes()).event;
        let began = read(r#"{"type":"response.created","response":{"id":"r1","output":[]}}"#);
        assert_eq!(began, Event::Began("r1".into()));
        let item = read(r#"{"type":"response.output_item.done","item":{"type":"message"}}"#);
        assert_eq!(item, Event::Item(r#"{"type":"message"}"#));
        let ended = read(
            r#"{"type":"response.completed","response":{"id":"r1","output":[{"type":"a"},{"type":"b"}]}}"#,
        );
        let output = vec![r#"{"type":"a"}"#, r#"{"type":"b"}"#];
        assert_eq!(ended, Event::Ended { id: "r1".into(), output });
        let failed = read(r#"{"type":"response.failed","response":{"id":"r1"}}"#);
        assert_eq!(failed, Event::Ended { id: "r1".into(), output: Vec::new() });
        assert_eq!(read(r#"{"type":"error","status":413}"#), Event::Rejected { status: 413 });
        assert_eq!(read(r#"{"type":"error","status_code":429}"#), Event::Rejected { status: 429 });
        assert_eq!(read(r#"{"type":"codex.rate_limits","x":1}"#), Event::Other);
        assert_eq!(read("no json"), Event::Other);
        let lane = ServerFrame::read(br#"{"type":"error","stream_id":"l\u0031"}"#).lane;
        assert_eq!(lane.as_deref(), Some("l1"));
    }
    /// OpenAI answers 400 if a message comes without the reasoning that it was made of.
    #[test]
    fn a_reply_with_reasoning_that_is_not_in_it_cannot_be_sent_again() {
        let message = r#"{"type":"message","id":"msg_1","content":[]}"#;
        let with = |reasoning: &'static str| joined([reasoning, message].into_iter());
        for reasoning in [
            r#"{"type":"reasoning","id":"rs_1","summary":[]}"#,
            r#"{"type":"reasoning","encrypted_content":null,"content":null}"#,
            r#"{"type":"reasoning","encrypted_content":"","content":[]}"#,
        ] {
            assert_eq!(with(reasoning), None, "{reasoning}");
        }
        for reasoning in [
            r#"{"type":"reasoning","encrypted_content":"x"}"#,
            r#"{"type":"reasoning","content":[{"type":"reasoning_text","text":"x"}]}"#,
        ] {
            let both = Bytes::from(format!("{reasoning},{message}"));
            assert_eq!(with(reasoning), Some(both));
        }
        assert_eq!(joined(["no json"].into_iter()), None);
        assert_eq!(joined(std::iter::empty()), Some(Bytes::new()));
    }
}
