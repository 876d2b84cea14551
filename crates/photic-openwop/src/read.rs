//! Second pass over the messages of a call: checks that every part is complete, then its size, then
//! its content.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::general_purpose::GeneralPurpose;
use base64::engine::{DecodePaddingMode, GeneralPurposeConfig};
use bytes::Bytes;

use crate::admit::{AdmittedMessage, Message, MessageContent, Part, RawJson, string};
use crate::content::{
    MediaSource, MessagePart, ParsedMessage, PartContent, Role, Trust, media, try_map_media,
};
use crate::failure::Failure;
use crate::host::{Limits, TrustBasis};
use crate::modality::Modality;

/// Largest number of media in a call. Each may need a fetch.
const MAX_MEDIA: usize = 256;

/// Padding is optional, because clients often omit it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Parses the conversation and decodes its inline bytes.
pub(crate) fn read(
    messages: &[AdmittedMessage<'_>],
    limits: Limits,
    basis: TrustBasis,
) -> Result<Vec<ParsedMessage<MediaSource<Bytes>>>, Failure> {
    let turns: Result<Vec<_>, Failure> = messages.iter().map(|one| shaped(one, basis)).collect();
    let turns = turns?;
    if media(&turns).count() > MAX_MEDIA {
        return Err(Failure::invalid(format!("a call holds at most {MAX_MEDIA} media")));
    }
    let mut together = 0;
    for (_, _, from) in media(&turns) {
        if let MediaSource::Here(base64) = from {
            let bytes = decoded_length(base64);
            if bytes > limits.part {
                return Err(Failure::TooLong { limit: limits.part });
            }
            together += bytes;
        }
    }
    if together > limits.call {
        return Err(Failure::TooLong { limit: limits.call });
    }
    let turns = try_map_media(turns, |from| match from {
        MediaSource::Here(base64) => decoded(&base64).map(MediaSource::Here),
        MediaSource::Reference(name) => Ok(MediaSource::Reference(name)),
        MediaSource::Address(address) => Ok(MediaSource::Address(address)),
    })?;
    for (modality, _, from) in media(&turns) {
        if let MediaSource::Here(bytes) = from {
            check(modality, bytes)?;
        }
    }
    Ok(turns)
}

/// Checks that the first bytes match the modality.
pub(crate) fn check(modality: Modality, bytes: &[u8]) -> Result<(), Failure> {
    let is_picture = || photic::media::sniff(bytes).is_some_and(|kind| kind.starts_with("image/"));
    if modality == Modality::Image && !is_picture() {
        return Err(Failure::InvalidImage);
    }
    Ok(())
}

/// Decodes base64, with or without line breaks.
pub(crate) fn decoded(base64: &str) -> Result<Bytes, Failure> {
    let broken = base64.bytes().any(|byte| byte.is_ascii_whitespace());
    let base64 = if broken {
        Cow::Owned(base64.split_ascii_whitespace().collect::<String>())
    } else {
        Cow::Borrowed(base64)
    };
    let bytes = BASE64.decode(base64.as_bytes());
    bytes.map(Bytes::from).map_err(|_| Failure::invalid("the data of a part is not base64"))
}

/// Returns the decoded size of base64 text without decoding it.
pub(crate) fn decoded_length(base64: &str) -> usize {
    let digits = base64.bytes().filter(|byte| *byte != b'=' && !byte.is_ascii_whitespace()).count();
    digits / 4 * 3 + digits % 4 * 3 / 4
}

/// Normalizes a media type: lower case, without parameters, and only characters that a media type
/// may have.
pub(crate) fn media_type(written: &str) -> Option<String> {
    let name = written.split(';').next()?.trim().to_ascii_lowercase();
    let (kind, rest) = name.split_once('/')?;
    let is_word = |word: &str| {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'+' | b'-' | b'_');
        !word.is_empty() && word.len() <= 80 && word.bytes().all(plain)
    };
    (is_word(kind) && is_word(rest)).then_some(name)
}

fn shaped<'a>(
    admitted: &AdmittedMessage<'a>,
    basis: TrustBasis,
) -> Result<ParsedMessage<MediaSource<Cow<'a, str>>>, Failure> {
    let message = &admitted.message;
    let role = match string(message.role, "role")?.as_deref() {
        Some("system") => Role::System,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        _ => return Err(Failure::invalid("`role` is `system`, `user` or `assistant`")),
    };
    let pieces = match &admitted.content {
        MessageContent::Words(words) => {
            let what = PartContent::Words(words.clone().into_owned());
            vec![MessagePart { trust: trust(message, None, role, basis, &what)?, what }]
        }
        MessageContent::Parts(parts) => {
            let mut pieces = Vec::with_capacity(parts.len());
            for (modality, part) in parts {
                let what = match modality {
                    Modality::Text => words(part)?,
                    _ => medium(*modality, part)?,
                };
                pieces.push(MessagePart {
                    trust: trust(message, Some(part), role, basis, &what)?,
                    what,
                });
            }
            pieces
        }
    };
    Ok(ParsedMessage { role, pieces })
}

fn words<B>(part: &Part<'_>) -> Result<PartContent<B>, Failure> {
    let text = string(part.text, "text")?;
    let text = text.ok_or_else(|| Failure::invalid("a text part has no `text`"))?;
    Ok(PartContent::Words(text.into_owned()))
}

fn medium<'a>(
    modality: Modality,
    part: &Part<'a>,
) -> Result<PartContent<MediaSource<Cow<'a, str>>>, Failure> {
    let named = string(part.mime_type, "mimeType")?;
    let named =
        named.ok_or_else(|| Failure::invalid("a part other than text needs a `mimeType`"))?;
    let media_type = media_type(&named).filter(|name| Modality::of_media(name) == Some(modality));
    let media_type = media_type.ok_or_else(|| {
        Failure::invalid(format!("the `mimeType` does not match the type `{}`", modality.name()))
    })?;
    let url = string(part.url, "url")?.map(|url| MediaSource::Address(url.into_owned()));
    let media_ref = string(part.media_ref, "mediaRef")?;
    let media_ref = media_ref.map(|name| MediaSource::Reference(name.into_owned()));
    let data = string(part.data, "data")?.map(MediaSource::Here);
    let data_base64 = string(part.data_base64, "dataBase64")?.map(MediaSource::Here);
    let mut sources = [url, media_ref, data, data_base64].into_iter().flatten();
    let (Some(bytes), None) = (sources.next(), sources.next()) else {
        return Err(Failure::invalid("a part has exactly one of `url`, `mediaRef` and `data`"));
    };
    // Inline bytes and references have their own fields and limits.
    let is_web = |url: &str| {
        let scheme = url.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        matches!(scheme.as_deref(), Some("http" | "https"))
    };
    if matches!(&bytes, MediaSource::Address(url) if !is_web(url)) {
        return Err(Failure::invalid("a `url` begins with `https://` or `http://`"));
    }
    Ok(PartContent::Medium { modality, media_type, bytes })
}

/// Determines the trust of a part: the lowest that part or message state. Media are never trusted,
/// because their content is unknown before the model sees it.
fn trust<B>(
    message: &Message<'_>,
    part: Option<&Part<'_>>,
    role: Role,
    basis: TrustBasis,
    what: &PartContent<B>,
) -> Result<Trust, Failure> {
    let said = |of_part: Option<RawJson<'_>>, of_message: RawJson<'_>, name: &str| {
        let own = string(of_part.flatten(), name)?.map(Cow::into_owned);
        let shared = string(of_message, name)?.map(Cow::into_owned);
        Ok::<_, Failure>([own, shared])
    };
    let trusts = said(part.map(|part| part.content_trust), message.content_trust, "contentTrust")?;
    let source = said(part.map(|part| part.source), message.source, "source")?;
    let tool = said(part.map(|part| part.tool), message.tool, "tool")?;
    let source = source.into_iter().flatten().next();
    let tool = tool.into_iter().flatten().next();
    let mut stated = trusts.into_iter().flatten().peekable();
    let plain = match what {
        PartContent::Medium { .. } => false,
        PartContent::Words(_) if stated.peek().is_some() => stated.all(|trust| trust == "trusted"),
        // A stated origin means that the text is not the caller's own.
        PartContent::Words(_) if source.is_some() || tool.is_some() => false,
        PartContent::Words(_) => basis == TrustBasis::Caller || role != Role::User,
    };
    Ok(if plain { Trust::Plain } else { Trust::Marked { source, tool } })
}
