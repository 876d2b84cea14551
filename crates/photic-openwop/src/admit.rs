//! First pass over the messages of a call: refuses parts of types that the host does not advertise.
//! The type decides, whatever else is wrong with the part, so nothing else is read here.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::failure::Failure;
use crate::modality::Modality;

/// An unparsed JSON value.
pub(crate) type RawJson<'a> = Option<&'a RawValue>;

/// A message as received.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Message<'a> {
    #[serde(borrow, default)]
    pub(crate) role: RawJson<'a>,
    #[serde(borrow, default)]
    content: RawJson<'a>,
    #[serde(borrow, default)]
    pub(crate) content_trust: RawJson<'a>,
    #[serde(borrow, default)]
    pub(crate) source: RawJson<'a>,
    #[serde(borrow, default)]
    pub(crate) tool: RawJson<'a>,
}

/// A part as received. The specification says `data`; its test suite and reference host say
/// `dataBase64`. Both are accepted.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Part<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: RawJson<'a>,
    #[serde(borrow, default)]
    pub(crate) text: RawJson<'a>,
    #[serde(borrow, default)]
    pub(crate) mime_type: RawJson<'a>,
    #[serde(borrow, default)]
    pub(crate) url: RawJson<'a>,
    #[serde(borrow, default)]
    pub(crate) media_ref: RawJson<'a>,
    #[serde(borrow, default)]
    pub(crate) data: RawJson<'a>,
    #[serde(borrow, default)]
    pub(crate) data_base64: RawJson<'a>,
    #[serde(borrow, default)]
    pub(crate) content_trust: RawJson<'a>,
    #[serde(borrow, default)]
    pub(crate) source: RawJson<'a>,
    #[serde(borrow, default)]
    pub(crate) tool: RawJson<'a>,
}

/// A message whose parts the host accepts.
pub(crate) struct AdmittedMessage<'a> {
    pub(crate) message: Message<'a>,
    pub(crate) content: MessageContent<'a>,
}

pub(crate) enum MessageContent<'a> {
    Words(Cow<'a, str>),
    Parts(Vec<(Modality, Part<'a>)>),
}

/// Refuses every part that the host does not advertise.
pub(crate) fn admit<'a>(
    messages: Vec<Message<'a>>,
    advertised: &[Modality],
) -> Result<Vec<AdmittedMessage<'a>>, Failure> {
    let taken = |kind| kind == Modality::Text || advertised.contains(&kind);
    let mut admitted = Vec::with_capacity(messages.len());
    for message in messages {
        let content = message.content.map(RawValue::get).unwrap_or_default();
        let content = match content.as_bytes().first() {
            Some(b'"') => {
                MessageContent::Words(string(message.content, "content")?.unwrap_or_default())
            }
            Some(b'[') => {
                let parts: Vec<Part<'a>> = serde_json::from_str(content)
                    .map_err(|_| Failure::invalid("a part of `content` is malformed"))?;
                let mut known = Vec::with_capacity(parts.len());
                for part in parts {
                    let kind = string(part.kind, "type")?
                        .ok_or_else(|| Failure::invalid("a part has no `type`"))?;
                    match Modality::of_part(&kind) {
                        Some(modality) if taken(modality) => known.push((modality, part)),
                        Some(modality) => return Err(Failure::modality(modality.name())),
                        None => return Err(Failure::modality(&kind)),
                    }
                }
                MessageContent::Parts(known)
            }
            _ => return Err(Failure::invalid("`content` is a string or a list of parts")),
        };
        admitted.push(AdmittedMessage { message, content });
    }
    Ok(admitted)
}

/// Returns the modalities of the messages, text first.
pub(crate) fn modalities(messages: &[AdmittedMessage<'_>]) -> Vec<&'static str> {
    let mut kinds = vec![Modality::Text];
    for message in messages {
        if let MessageContent::Parts(parts) = &message.content {
            kinds.extend(parts.iter().map(|(kind, _)| *kind));
        }
    }
    kinds.sort_unstable();
    kinds.dedup();
    kinds.into_iter().map(Modality::name).collect()
}

/// Parses a JSON string.
pub(crate) fn string<'a>(
    written: RawJson<'a>,
    name: &str,
) -> Result<Option<Cow<'a, str>>, Failure> {
    /// A plain `Cow` would be copied.
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    let text = written.map(|written| serde_json::from_str::<Text<'a>>(written.get()));
    let text =
        text.transpose().map_err(|_| Failure::invalid(format!("`{name}` is not a string")))?;
    Ok(text.map(|text| text.0))
}
