//! The first look at the messages of a call: whether this host takes parts of such types. A part is
//! refused for what it is, whatever else is wrong with it, so nothing else of it is read here.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::failure::Failure;
use crate::modality::Modality;

/// A value as it is written, not looked into.
pub(crate) type Written<'a> = Option<&'a RawValue>;

/// A message as it came.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Message<'a> {
    #[serde(borrow, default)]
    pub(crate) role: Written<'a>,
    #[serde(borrow, default)]
    content: Written<'a>,
    #[serde(borrow, default)]
    pub(crate) content_trust: Written<'a>,
    #[serde(borrow, default)]
    pub(crate) source: Written<'a>,
    #[serde(borrow, default)]
    pub(crate) tool: Written<'a>,
}

/// A part as it came, in either spelling: the specification says `data`, its suite and its
/// reference host say `dataBase64`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Part<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Written<'a>,
    #[serde(borrow, default)]
    pub(crate) text: Written<'a>,
    #[serde(borrow, default)]
    pub(crate) mime_type: Written<'a>,
    #[serde(borrow, default)]
    pub(crate) url: Written<'a>,
    #[serde(borrow, default)]
    pub(crate) media_ref: Written<'a>,
    #[serde(borrow, default)]
    pub(crate) data: Written<'a>,
    #[serde(borrow, default)]
    pub(crate) data_base64: Written<'a>,
    #[serde(borrow, default)]
    pub(crate) content_trust: Written<'a>,
    #[serde(borrow, default)]
    pub(crate) source: Written<'a>,
    #[serde(borrow, default)]
    pub(crate) tool: Written<'a>,
}

/// A message whose parts this host takes.
pub(crate) struct Admitted<'a> {
    pub(crate) message: Message<'a>,
    pub(crate) content: Content<'a>,
}

pub(crate) enum Content<'a> {
    Words(Cow<'a, str>),
    Parts(Vec<(Modality, Part<'a>)>),
}

/// Refuses every part that the host does not advertise.
pub(crate) fn admit<'a>(
    messages: Vec<Message<'a>>,
    advertised: &[Modality],
) -> Result<Vec<Admitted<'a>>, Failure> {
    let taken = |kind| kind == Modality::Text || advertised.contains(&kind);
    let mut admitted = Vec::with_capacity(messages.len());
    for message in messages {
        let content = message.content.map(RawValue::get).unwrap_or_default();
        let content = match content.as_bytes().first() {
            Some(b'"') => Content::Words(string(message.content, "content")?.unwrap_or_default()),
            Some(b'[') => {
                let parts: Vec<Part<'a>> = serde_json::from_str(content)
                    .map_err(|_| Failure::invalid("a part of `content` is not as parts are"))?;
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
                Content::Parts(known)
            }
            _ => return Err(Failure::invalid("`content` is a string or a list of parts")),
        };
        admitted.push(Admitted { message, content });
    }
    Ok(admitted)
}

/// What the messages hold, words first.
pub(crate) fn modalities(messages: &[Admitted<'_>]) -> Vec<&'static str> {
    let mut kinds = vec![Modality::Text];
    for message in messages {
        if let Content::Parts(parts) = &message.content {
            kinds.extend(parts.iter().map(|(kind, _)| *kind));
        }
    }
    kinds.sort_unstable();
    kinds.dedup();
    kinds.into_iter().map(Modality::name).collect()
}

/// The string that is written.
pub(crate) fn string<'a>(
    written: Written<'a>,
    name: &str,
) -> Result<Option<Cow<'a, str>>, Failure> {
    /// `Cow` itself would be copied.
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    let text = written.map(|written| serde_json::from_str::<Text<'a>>(written.get()));
    let text = text.transpose().map_err(|_| Failure::invalid(format!("`{name}` is no string")))?;
    Ok(text.map(|text| text.0))
}
