//! The second look at the messages of a call: whether every part is whole, then how large it is,
//! and only then what it holds.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::general_purpose::GeneralPurpose;
use base64::engine::{DecodePaddingMode, GeneralPurposeConfig};
use bytes::Bytes;

use crate::admit::{Admitted, Content, Message, Part, Written, string};
use crate::content::{From, Piece, Role, Trust, Turn, What, each, media};
use crate::failure::Failure;
use crate::host::{Basis, Limits};
use crate::modality::Modality;

/// More media than anybody shows a model at once; each may cost a fetch.
const MOST_MEDIA: usize = 256;

/// Padding is often forgotten.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The conversation, with the bytes that came with it decoded.
pub(crate) fn read(
    messages: &[Admitted<'_>],
    limits: Limits,
    basis: Basis,
) -> Result<Vec<Turn<From<Bytes>>>, Failure> {
    let turns: Result<Vec<_>, Failure> = messages.iter().map(|one| shaped(one, basis)).collect();
    let turns = turns?;
    if media(&turns).count() > MOST_MEDIA {
        return Err(Failure::invalid(format!("a call holds at most {MOST_MEDIA} media")));
    }
    let mut together = 0;
    for (_, _, from) in media(&turns) {
        if let From::Here(base64) = from {
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
    let turns = each(turns, |from| match from {
        From::Here(base64) => decoded(&base64).map(From::Here),
        From::Reference(name) => Ok(From::Reference(name)),
        From::Address(address) => Ok(From::Address(address)),
    })?;
    for (modality, _, from) in media(&turns) {
        if let From::Here(bytes) = from {
            check(modality, bytes)?;
        }
    }
    Ok(turns)
}

/// Whether bytes are what they are called, as far as their beginning tells.
pub(crate) fn check(modality: Modality, bytes: &[u8]) -> Result<(), Failure> {
    let is_picture = || photic::media::sniff(bytes).is_some_and(|kind| kind.starts_with("image/"));
    if modality == Modality::Image && !is_picture() {
        return Err(Failure::InvalidImage);
    }
    Ok(())
}

/// Bytes that are written in base64, with line breaks or without.
pub(crate) fn decoded(base64: &str) -> Result<Bytes, Failure> {
    let broken = base64.bytes().any(|byte| byte.is_ascii_whitespace());
    let base64 = if broken {
        Cow::Owned(base64.split_ascii_whitespace().collect::<String>())
    } else {
        Cow::Borrowed(base64)
    };
    let bytes = BASE64.decode(base64.as_bytes());
    bytes.map(Bytes::from).map_err(|_| Failure::invalid("the data of a part is no base64"))
}

/// How many bytes base64 stands for, without decoding it.
pub(crate) fn decoded_length(base64: &str) -> usize {
    let digits = base64.bytes().filter(|byte| *byte != b'=' && !byte.is_ascii_whitespace()).count();
    digits / 4 * 3 + digits % 4 * 3 / 4
}

/// A media type that cannot say anything but a media type, in lower case and without parameters.
pub(crate) fn media_type(written: &str) -> Option<String> {
    let name = written.split(';').next()?.trim().to_ascii_lowercase();
    let (kind, rest) = name.split_once('/')?;
    let is_word = |word: &str| {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'+' | b'-' | b'_');
        !word.is_empty() && word.len() <= 80 && word.bytes().all(plain)
    };
    (is_word(kind) && is_word(rest)).then_some(name)
}

fn shaped<'a>(admitted: &Admitted<'a>, basis: Basis) -> Result<Turn<From<Cow<'a, str>>>, Failure> {
    let message = &admitted.message;
    let role = match string(message.role, "role")?.as_deref() {
        Some("system") => Role::System,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        _ => return Err(Failure::invalid("`role` is `system`, `user` or `assistant`")),
    };
    let pieces = match &admitted.content {
        Content::Words(words) => {
            let what = What::Words(words.clone().into_owned());
            vec![Piece { trust: trust(message, None, role, basis, &what)?, what }]
        }
        Content::Parts(parts) => {
            let mut pieces = Vec::with_capacity(parts.len());
            for (modality, part) in parts {
                let what = match modality {
                    Modality::Text => words(part)?,
                    _ => medium(*modality, part)?,
                };
                pieces.push(Piece { trust: trust(message, Some(part), role, basis, &what)?, what });
            }
            pieces
        }
    };
    Ok(Turn { role, pieces })
}

fn words<B>(part: &Part<'_>) -> Result<What<B>, Failure> {
    let text = string(part.text, "text")?;
    let text = text.ok_or_else(|| Failure::invalid("a text part has no `text`"))?;
    Ok(What::Words(text.into_owned()))
}

fn medium<'a>(modality: Modality, part: &Part<'a>) -> Result<What<From<Cow<'a, str>>>, Failure> {
    let named = string(part.mime_type, "mimeType")?;
    let named = named.ok_or_else(|| Failure::invalid("a part that is no text has a `mimeType`"))?;
    let media_type = media_type(&named).filter(|name| Modality::of_media(name) == Some(modality));
    let media_type = media_type.ok_or_else(|| {
        Failure::invalid(format!("the `mimeType` is none of the type `{}`", modality.name()))
    })?;
    let url = string(part.url, "url")?.map(|url| From::Address(url.into_owned()));
    let media_ref = string(part.media_ref, "mediaRef")?;
    let media_ref = media_ref.map(|name| From::Reference(name.into_owned()));
    let data = string(part.data, "data")?.map(From::Here);
    let data_base64 = string(part.data_base64, "dataBase64")?.map(From::Here);
    let mut sources = [url, media_ref, data, data_base64].into_iter().flatten();
    let (Some(bytes), None) = (sources.next(), sources.next()) else {
        return Err(Failure::invalid("a part has exactly one of `url`, `mediaRef` and `data`"));
    };
    // Bytes and references have fields of their own, and limits that belong to them.
    let is_web = |url: &str| {
        let scheme = url.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        matches!(scheme.as_deref(), Some("http" | "https"))
    };
    if matches!(&bytes, From::Address(url) if !is_web(url)) {
        return Err(Failure::invalid("a `url` begins with `https://` or `http://`"));
    }
    Ok(What::Medium { modality, media_type, bytes })
}

/// The trust of a part: the least that anybody says of it. A medium has none, whoever sends it: what
/// it says cannot be read before the model does.
fn trust<B>(
    message: &Message<'_>,
    part: Option<&Part<'_>>,
    role: Role,
    basis: Basis,
    what: &What<B>,
) -> Result<Trust, Failure> {
    let said = |of_part: Option<Written<'_>>, of_message: Written<'_>, name: &str| {
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
        What::Medium { .. } => false,
        What::Words(_) if stated.peek().is_some() => stated.all(|trust| trust == "trusted"),
        // Whoever says where words came from says that they are not its own.
        What::Words(_) if source.is_some() || tool.is_some() => false,
        What::Words(_) => basis == Basis::Caller || role != Role::User,
    };
    Ok(if plain { Trust::Plain } else { Trust::Marked { source, tool } })
}
