//! Media that are uploaded once and named ever after, and objects shown by a signed address.

use bytes::Bytes;
use serde_json::json;

use crate::exchange::Answer;
use crate::failure::Failure;
use crate::host::{Host, Media, MediaReference, Shown};
use crate::modality::Modality;
use crate::read;

/// Types that a browser would run, if it were led here.
const ACTIVE: [&str; 6] = [
    "text/html",
    "image/svg+xml",
    "application/xhtml+xml",
    "text/xml",
    "application/xml",
    "text/javascript",
];

/// Takes a medium and answers with its reference. What could not be sent in a call is not taken.
pub(crate) async fn upload<H: Host>(
    host: &H,
    tenant: &H::Tenant,
    content_type: Option<&str>,
    bytes: Bytes,
) -> Result<Answer, Failure> {
    let media_type = content_type.and_then(read::media_type);
    let media_type = media_type.ok_or_else(|| Failure::invalid("a `Content-Type` is needed"))?;
    let modality = Modality::of_media(&media_type);
    let modality = modality.filter(|modality| host.modalities().contains(modality));
    let modality = modality.ok_or_else(|| Failure::modality(&media_type))?;
    let limit = host.limits().part;
    if bytes.len() > limit {
        return Err(Failure::TooLong { limit });
    }
    if bytes.is_empty() {
        return Err(Failure::invalid("the body is empty"));
    }
    read::check(modality, &bytes)?;
    let length = bytes.len();
    let minted = host.create_media(tenant, Media { media_type: media_type.clone(), bytes }).await?;
    Ok(told(201, &minted, &media_type, length))
}

/// Answers with what is known of a reference.
pub(crate) async fn facts<H: Host>(
    host: &H,
    tenant: &H::Tenant,
    name: &str,
) -> Result<Answer, Failure> {
    let (media, minted) = host.resolve(tenant, name).await?.ok_or(Failure::NoObject)?;
    Ok(told(200, &minted, &media.media_type, media.bytes.len()))
}

/// Forgets a reference.
pub(crate) async fn forget<H: Host>(
    host: &H,
    tenant: &H::Tenant,
    name: &str,
) -> Result<Answer, Failure> {
    if !host.forget(tenant, name).await? {
        return Err(Failure::NoObject);
    }
    Ok(Answer { status: 204, headers: Vec::new(), body: Bytes::new() })
}

/// Shows an object to whoever has its address, as nothing that a browser would run.
pub(crate) async fn shown<H: Host>(host: &H, token: &str) -> Result<Answer, Failure> {
    let Shown::Media(media) = host.shown(token).await? else { return Err(Failure::NotShown) };
    let declared = read::media_type(&media.media_type);
    let safe = declared.filter(|declared| !ACTIVE.contains(&declared.as_str()));
    let (media_type, how) = match safe {
        Some(media_type) => (media_type, "inline"),
        None => ("application/octet-stream".to_owned(), "attachment"),
    };
    let answer = Answer { status: 200, headers: Vec::new(), body: media.bytes };
    Ok(answer
        .with("Content-Type", media_type)
        .with("Content-Disposition", how)
        .with("X-Content-Type-Options", "nosniff")
        .with("Content-Security-Policy", "sandbox; default-src 'none'")
        .with("Cache-Control", "private, no-store"))
}

fn told(status: u16, minted: &MediaReference, media_type: &str, bytes: usize) -> Answer {
    let body = json!({
        "mediaRef": minted.media_ref,
        "mimeType": media_type,
        "bytes": bytes,
        "expiresAtMs": minted.expires_ms,
    });
    Answer::json(status, &body)
}
