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
    /// A response ended, with all of its items if the frame lists them.
    Ended { id: Cow<'f, str>, output: Option<Bytes> },
    /// A create was rejected, or a response failed.
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
                response(&raw).map(|response| Event::Ended {
                    id: response.id,
                    output: response.output.map(|items| joined(items.iter().map(|one| one.get()))),
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

/// Returns the items of a list as JSON, without its brackets.
///
/// A reasoning item whose content is neither in it nor encrypted cannot be sent again.
pub(super) fn joined<'i>(items: impl Iterator<Item = &'i str>) -> Bytes {
    let mut all = Vec::new();
    for item in items.filter(|item| can_be_sent_again(item)) {
        if !all.is_empty() {
            all.push(b',');
        }
        all.extend_from_slice(item.as_bytes());
    }
    all.into()
}

fn can_be_sent_again(item: &str) -> bool {
    #[derive(Deserialize)]
    struct Item<'i> {
        #[serde(borrow, rename = "type", default)]
        kind: Cow<'i, str>,
        #[serde(borrow, default)]
        encrypted_content: Option<Cow<'i, str>>,
    }
    serde_json::from_str::<Item<'_>>(item)
        .is_ok_and(|item| item.kind != "reasoning" || item.encrypted_content.is_some())
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
            r#"{"type":"response.completed","response":{"id":"r1","output":[{"type":"a"},{"type":"reasoning"},{"type":"b"}]}}"#,
        );
        let output = Some(Bytes::from(r#"{"type":"a"},{"type":"b"}"#));
        assert_eq!(ended, Event::Ended { id: "r1".into(), output });
        assert_eq!(read(r#"{"type":"error","status":413}"#), Event::Rejected { status: 413 });
        assert_eq!(read(r#"{"type":"error","status_code":429}"#), Event::Rejected { status: 429 });
        assert_eq!(read(r#"{"type":"codex.rate_limits","x":1}"#), Event::Other);
        assert_eq!(read("no json"), Event::Other);
        let lane = ServerFrame::read(br#"{"type":"error","stream_id":"l\u0031"}"#).lane;
        assert_eq!(lane.as_deref(), Some("l1"));
    }
}
