//! Uploaded media with references, and objects behind signed URLs.

use bytes::Bytes;
use serde_json::json;

use crate::exchange::Answer;
use crate::failure::Failure;
use crate::host::{Host, Media, MediaReference, PresignedContent};
use crate::modality::Modality;
use crate::read;

/// Path of signed URLs, before their token.
pub(crate) const SHOWN: &str = "/v1/host/media/shown/";
/// Media types that a browser would execute.
const ACTIVE: [&str; 6] = [
    "text/html",
    "image/svg+xml",
    "application/xhtml+xml",
    "text/xml",
    "application/xml",
    "text/javascript",
];

/// Stores uploaded media and answers with their reference. Media that a call could not contain are
/// refused.
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
    let reference =
        host.create_media(tenant, Media { media_type: media_type.clone(), bytes }).await?;
    Ok(media_answer(201, &reference, &media_type, length))
}

/// Answers with facts about a reference.
pub(crate) async fn facts<H: Host>(
    host: &H,
    tenant: &H::Tenant,
    name: &str,
) -> Result<Answer, Failure> {
    let (media, reference) = host.resolve(tenant, name).await?.ok_or(Failure::NoObject)?;
    Ok(media_answer(200, &reference, &media.media_type, media.bytes.len()))
}

/// Deletes a reference.
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

/// Serves the object behind a signed URL in a form that browsers do not execute.
pub(crate) async fn shown<H: Host>(host: &H, token: &str) -> Result<Answer, Failure> {
    let PresignedContent::Media(media) = host.shown(token).await? else {
        return Err(Failure::NotShown);
    };
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

fn media_answer(status: u16, reference: &MediaReference, media_type: &str, bytes: usize) -> Answer {
    let body = json!({
        "mediaRef": reference.media_ref,
        "mimeType": media_type,
        "bytes": bytes,
        "expiresAtMs": reference.expires_ms,
    });
    Answer::json(status, &body)
}

/// Returns the URL of an object with this token.
pub(crate) fn shown_at(token: &str) -> String {
    format!("{SHOWN}{token}")
}
