//! Envelopes around the Messages API: `InvokeModel` of Bedrock and `rawPredict` of Vertex.
//!
//! The path names the model, and the body is that of the Messages API without it. Bedrock's stream is
//! an AWS event stream whose events hold those of the Messages API in base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic::Wire;
use photic_testkit::oracle::Violation;
use serde_json::{Value, json};

use crate::rejection::Rejection;
use crate::service::{self, event_frame};

/// The envelope of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Envelope {
    /// None: the body is that of the wire.
    #[default]
    Plain,
    /// `/model/{model}/invoke`, or `invoke-with-response-stream`.
    Invoke { model: String, stream: bool },
    /// `…/publishers/anthropic/models/{model}:rawPredict`, or `:streamRawPredict`.
    RawPredict { model: String, stream: bool },
}

impl Envelope {
    /// The envelope that a path names. The wire inside is the Messages API.
    pub(crate) fn of(path: &str) -> Option<Self> {
        if let Some((_, model)) = path.split_once("/publishers/anthropic/models/") {
            let (model, verb) = model.rsplit_once(':')?;
            let stream = match verb {
                "rawPredict" => false,
                "streamRawPredict" => true,
                _ => return None,
            };
            return Some(Self::RawPredict { model: model.to_owned(), stream });
        }
        let (model, verb) = path.strip_prefix("/model/")?.rsplit_once('/')?;
        let stream = match verb {
            "invoke" => false,
            "invoke-with-response-stream" => true,
            _ => return None,
        };
        // The rest of the name's characters are not escaped by clients.
        let model = model.replace("%3A", ":").replace("%2F", "/");
        Some(Self::Invoke { model, stream })
    }

    /// Returns `true` if a key is required. Clients of Vertex may leave it to a proxy.
    pub(crate) const fn wants_key(&self) -> bool {
        !matches!(self, Self::RawPredict { .. })
    }

    /// Returns `true` if the headers of the Messages API are required. In an envelope, the version is
    /// in the body.
    pub(crate) const fn wants_headers(&self) -> bool {
        matches!(self, Self::Plain)
    }

    /// Turns a body into that of the Messages API. Returns `false` if it is one already.
    ///
    /// # Errors
    ///
    /// Fails if the version is missing, or if the body names what only the path may name.
    pub(crate) fn open(&self, body: &mut Value) -> Result<bool, Rejection> {
        let (model, stream, forbidden) = match self {
            Self::Plain => return Ok(false),
            Self::Invoke { model, stream } => (model, *stream, &["model", "stream"][..]),
            Self::RawPredict { model, stream } => (model, *stream, &["model"][..]),
        };
        let Value::Object(members) = body else { return Ok(false) };
        if members.remove("anthropic_version").is_none() {
            return Err(refuse("anthropic_version: Field required"));
        }
        if let Some(name) = forbidden.iter().find(|name| members.contains_key(**name)) {
            return Err(refuse(&format!("{name}: Extra inputs are not permitted")));
        }
        if members.get("stream").is_some_and(|own| *own != json!(stream)) {
            return Err(refuse("stream: Input does not match the method"));
        }
        members.remove("anthropic_beta");
        members.insert("model".to_owned(), json!(model));
        members.insert("stream".to_owned(), json!(stream));
        Ok(true)
    }

    /// The events as the envelope frames them.
    pub(crate) fn seal(&self, events: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        if !matches!(self, Self::Invoke { .. }) {
            return events;
        }
        let data = |event: &Vec<u8>| {
            let text = String::from_utf8_lossy(event).into_owned();
            text.split_once("data: ").map(|(_, data)| data.trim_end().to_owned())
        };
        // Bedrock sends no pings.
        let data = events.iter().filter_map(data).filter(|data| !data.contains("\"ping\""));
        data.map(|data| event_frame("chunk", &json!({"bytes": STANDARD.encode(data)}))).collect()
    }

    /// The media type of a stream, if it is not that of the wire.
    pub(crate) const fn stream_type(&self) -> Option<&'static str> {
        match self {
            Self::Invoke { .. } => Some("application/vnd.amazon.eventstream"),
            Self::Plain | Self::RawPredict { .. } => None,
        }
    }
}

fn refuse(text: &str) -> Rejection {
    let violation =
        Violation { code: "field_missing", pointer: String::new(), text: text.to_owned() };
    service::reject(Wire::Anthropic, &violation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_the_model() {
        let invoke =
            |model: &str, stream| Some(Envelope::Invoke { model: model.to_owned(), stream });
        assert_eq!(Envelope::of("/model/us.a-v1%3A0/invoke"), invoke("us.a-v1:0", false));
        assert_eq!(Envelope::of("/model/a/invoke-with-response-stream"), invoke("a", true));
        let vertex = "/projects/p/locations/r/publishers/anthropic/models/m:streamRawPredict";
        let raw = Envelope::RawPredict { model: "m".to_owned(), stream: true };
        assert_eq!(Envelope::of(vertex), Some(raw));
        for path in ["/model/a/converse", "/v1/messages", "/publishers/anthropic/models/m:count"] {
            assert_eq!(Envelope::of(path), None, "{path}");
        }
    }

    #[test]
    fn events_of_bedrock_are_frames_without_pings() {
        let events = || {
            let event = |data: &str| format!("event: x\ndata: {data}\n\n").into_bytes();
            vec![event(r#"{"type":"ping"}"#), event(r#"{"type":"message_stop"}"#)]
        };
        let sealed = Envelope::Invoke { model: "m".to_owned(), stream: true }.seal(events());
        let payload = STANDARD.encode(r#"{"type":"message_stop"}"#);
        assert_eq!(sealed.len(), 1);
        let text = String::from_utf8_lossy(&sealed[0]).into_owned();
        assert!(text.contains(&payload) && text.contains("chunk"), "{text}");
        assert_eq!(Envelope::Plain.seal(events()), events());
    }

    #[test]
    fn a_body_must_fit_its_envelope() {
        let envelope = Envelope::Invoke { model: "m".to_owned(), stream: true };
        let mut body = json!({"anthropic_version": "bedrock-2023-05-31", "max_tokens": 1});
        assert!(envelope.open(&mut body).is_ok_and(|changed| changed));
        assert_eq!(body, json!({"max_tokens": 1, "model": "m", "stream": true}));
        for wrong in [
            json!({"max_tokens": 1}),
            json!({"anthropic_version": "v", "model": "m"}),
            json!({"anthropic_version": "v", "stream": true}),
        ] {
            assert!(envelope.open(&mut wrong.clone()).is_err(), "{wrong}");
        }
        assert!(Envelope::Plain.open(&mut json!({})).is_ok_and(|changed| !changed));
    }
}
