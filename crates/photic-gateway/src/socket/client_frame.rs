//! Reads the frames of a client: the members around a body of Responses.

use bytes::Bytes;
use photic::json::{Doc, Kind, Value};

/// A frame of a client.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ClientFrame {
    /// It begins a response.
    Create(Create),
    /// It adds to a running response.
    Steer(Steer),
    /// Any other.
    Other,
}

/// The members of `response.create` that a proxy needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Create {
    /// The lane, if it is not the default one.
    pub(super) lane: Option<String>,
    /// The response that it continues.
    pub(super) previous: Option<String>,
    /// Set if it continues a conversation that the upstream keeps under a name.
    pub(super) has_conversation: bool,
}

/// The members of `response.steer` that a proxy needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Steer {
    /// The response that it adds to.
    pub(super) response: Option<String>,
    /// Set if it seems to contain an image.
    pub(super) has_image: bool,
}

impl ClientFrame {
    /// Reads a frame.
    pub(super) fn read(text: &[u8]) -> Self {
        let Some(doc) = Doc::read(text) else { return Self::Other };
        let Some(root) = doc.root() else { return Self::Other };
        let word = |name: &str| Some(root.get(name)?.str()?.decode().into_owned());
        match root.get("type") {
            Some(kind) if kind.is("response.create") => Self::Create(Create {
                lane: word("stream_id"),
                previous: word("previous_response_id"),
                has_conversation: root
                    .get("conversation")
                    .is_some_and(|named| named.kind() != Kind::Null),
            }),
            Some(kind) if kind.is("response.steer") => Self::Steer(Steer {
                response: word("previous_response_id"),
                has_image: root.get("input").is_some_and(shows_image),
            }),
            _ => Self::Other,
        }
    }
}

/// Returns `true` if one of the messages in the input of a frame has an image.
fn shows_image(input: Value<'_, '_>) -> bool {
    let is_image = |part: Value<'_, '_>| part.get("type").is_some_and(|it| it.is("input_image"));
    let parts =
        |item: Value<'_, '_>, name| item.get(name).is_some_and(|list| list.items().any(is_image));
    input.kind() == Kind::Array
        && input.items().any(|item| parts(item, "content") || parts(item, "output"))
}

/// Returns the items in the input of a frame, as JSON without the brackets of the list.
pub(super) fn items(frame: &[u8]) -> Option<Bytes> {
    let doc = Doc::read(frame)?;
    let input = doc.root()?.get("input")?;
    match input.kind() {
        Kind::Array => {
            let raw = input.raw();
            Some(Bytes::copy_from_slice(raw.get(1..raw.len() - 1)?.trim_ascii()))
        }
        Kind::String => {
            let (before, after) = (br#"{"type":"message","role":"user","content":"#, b"}");
            Some([before.as_slice(), input.raw(), after].concat().into())
        }
        _ => None,
    }
}

/// Returns a frame with other input, which continues no response.
pub(super) fn with_input(frame: &[u8], items: &[Bytes]) -> Option<Vec<u8>> {
    let doc = Doc::read(frame)?;
    let length: usize = items.iter().map(|part| part.len() + 1).sum();
    let mut whole = Vec::with_capacity(frame.len() + length);
    for (name, value) in doc.root()?.entries() {
        if name.is("previous_response_id") {
            continue;
        }
        whole.push(if whole.is_empty() { b'{' } else { b',' });
        whole.extend_from_slice(&serde_json::to_vec(&name.decode()).ok()?);
        whole.push(b':');
        if !name.is("input") {
            whole.extend_from_slice(value.raw());
            continue;
        }
        whole.push(b'[');
        for (at, part) in items.iter().filter(|part| !part.is_empty()).enumerate() {
            if at > 0 {
                whole.push(b',');
            }
            whole.extend_from_slice(part);
        }
        whole.push(b']');
    }
    whole.push(b'}');
    Some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn creates_name_their_lane_and_their_parent() {
        let create = ClientFrame::read(
            br#"{"type":"response.create","stream_id":"a","previous_response_id":"resp_1","input":[]}"#,
        );
        let (lane, previous) = (Some("a".to_owned()), Some("resp_1".to_owned()));
        let expected = Create { lane, previous, has_conversation: false };
        assert_eq!(create, ClientFrame::Create(expected));
        let plain = ClientFrame::read(
            br#"{"type":"response.create","previous_response_id":null,"conversation":null}"#,
        );
        assert_eq!(plain, ClientFrame::Create(Create::default()));
        for conversation in [r#""conv_1""#, r#"{"id":"conv_1"}"#] {
            let text = format!(r#"{{"type":"response.create","conversation":{conversation}}}"#);
            let expected = Create { has_conversation: true, ..Create::default() };
            assert_eq!(ClientFrame::read(text.as_bytes()), ClientFrame::Create(expected));
        }
        for other in
            ["", "7", "{}", "[]", r#"{"type":"response.new"}"#, r#"{"type":["response.create"]}"#]
        {
            assert_eq!(ClientFrame::read(other.as_bytes()), ClientFrame::Other, "{other}");
        }
    }

    #[test]
    fn a_steer_with_an_image_is_told_from_one_without() {
        let steer = |input: &str| {
            let frame = format!(
                r#"{{"type":"response.steer","previous_response_id":"r","input":{input}}}"#
            );
            ClientFrame::read(frame.as_bytes())
        };
        let expected =
            |has_image| ClientFrame::Steer(Steer { response: Some("r".to_owned()), has_image });
        let image = r#"[{"type":"message","role":"user","content":[{"type":"input_image","image_url":"x"}]}]"#;
        assert_eq!(steer(image), expected(true));
        assert_eq!(steer(r#""input_image""#), expected(false));
    }

    #[test]
    fn a_frame_gets_the_whole_conversation_and_keeps_the_rest() {
        let frame = br#"{ "type":"response.create", "previous_response_id":"r", "a\"b" : [1], "input":[ {"x":1} ] }"#;
        let own = items(frame).unwrap();
        assert_eq!(own, r#"{"x":1}"#);
        let before = Bytes::from_static(br#"{"o":1},{"o":2}"#);
        let whole = with_input(frame, &[before, Bytes::new(), own]).unwrap();
        let expected = r#"{"type":"response.create","a\"b":[1],"input":[{"o":1},{"o":2},{"x":1}]}"#;
        assert_eq!(std::str::from_utf8(&whole).unwrap(), expected);
        let text = items(br#"{"input":"hi"}"#).unwrap();
        assert_eq!(text, r#"{"type":"message","role":"user","content":"hi"}"#);
    }
}
