//! The blob-storage endpoint of the test suite: put, get, delete, list, presign.
//!
//! The suite uses one key and names tenants in the body. Here a tenant is the owner of the key, so
//! the names in the body partition its space: isolated like tenants, without access to others.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::exchange::Answer;
use crate::failure::Failure;
use crate::host::{Host, Media, ObjectKey};
use crate::read;

/// Longest lifetime of a signed URL: a week, as with buckets.
const MAX_PRESIGN_SECONDS: u64 = 7 * 24 * 60 * 60;
/// Longest name.
const MAX_NAME_LENGTH: usize = 1024;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    tenant_id: String,
    surface: String,
    op: String,
    #[serde(default)]
    args: Args,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Args {
    bucket: Option<String>,
    key: Option<String>,
    content_base64: Option<String>,
    content_type: Option<String>,
    expires_in_seconds: Option<Value>,
    method: Option<String>,
    prefix: Option<String>,
    cursor: Option<String>,
}

/// Answers one operation.
pub(crate) async fn surface<H: Host>(
    host: &H,
    tenant: &H::Tenant,
    body: &[u8],
) -> Result<Answer, Failure> {
    let Request { tenant_id, surface, op, args } =
        serde_json::from_slice(body).map_err(|error| Failure::unreadable("operation", &error))?;
    let most = host.limits().object.filter(|_| surface == "blob");
    let most = most.ok_or(Failure::Missing("surface of that name"))?;
    let place = |key: Option<&str>| place(&tenant_id, &args, key);
    let answer = match op.as_str() {
        "put" => {
            let media = media(most, &args)?;
            let (length, tag) = (media.bytes.len(), tag(&media));
            host.put_media(tenant, &place(args.key.as_deref())?, media).await?;
            json!({"ok": true, "sizeBytes": length, "etag": tag})
        }
        "get" => match host.get_media(tenant, &place(args.key.as_deref())?).await? {
            Some(media) => json!({
                "found": true,
                "contentBase64": STANDARD.encode(&media.bytes),
                "contentType": media.media_type,
                "sizeBytes": media.bytes.len(),
                "etag": tag(&media),
            }),
            None => json!({"found": false}),
        },
        "delete" => {
            let deleted = host.remove_media(tenant, &place(args.key.as_deref())?).await?;
            json!({"deleted": deleted})
        }
        "list" => {
            let beginning = place(Some(args.prefix.as_deref().unwrap_or_default()))?;
            let listed = host.list_media(tenant, &beginning, args.cursor.as_deref()).await?;
            let entry =
                |entry: &crate::ObjectEntry| json!({"key": entry.key, "sizeBytes": entry.bytes});
            let entries: Vec<Value> = listed.entries.iter().map(entry).collect();
            let mut page = json!({"entries": entries});
            if let Some(last) = listed.entries.last().filter(|_| listed.more) {
                page["nextCursor"] = last.key.clone().into();
            }
            page
        }
        "presign" => {
            if args.method.as_deref().is_some_and(|method| method != "GET") {
                return Err(Failure::invalid("addresses are signed for `GET` only"));
            }
            let (place, seconds) = (place(args.key.as_deref())?, seconds(&args)?);
            let address = host.presign(tenant, &place, seconds).await?;
            let address = address.ok_or(Failure::NoObject)?;
            json!({"url": crate::media::shown_at(&address.token), "expiresAtMs": address.expires_ms})
        }
        _ => return Err(Failure::invalid("`op` is put, get, delete, list or presign")),
    };
    Ok(Answer::json(200, &answer))
}

fn place(space: &str, args: &Args, key: Option<&str>) -> Result<ObjectKey, Failure> {
    let key = key.ok_or_else(|| Failure::invalid("`key` is missing"))?;
    let bucket = args.bucket.as_deref().unwrap_or("default");
    let names = [space, bucket, key];
    if space.is_empty() || bucket.is_empty() || names.iter().any(|n| n.len() > MAX_NAME_LENGTH) {
        return Err(Failure::invalid("a `tenantId`, `bucket` or `key` is empty or too long"));
    }
    Ok(ObjectKey { space: space.to_owned(), bucket: bucket.to_owned(), key: key.to_owned() })
}

fn media(limit: usize, args: &Args) -> Result<Media, Failure> {
    let content = args.content_base64.as_deref();
    let content = content.ok_or_else(|| Failure::invalid("`contentBase64` is missing"))?;
    if read::decoded_length(content) > limit {
        return Err(Failure::ObjectTooLarge { limit });
    }
    if args.key.as_deref().is_none_or(str::is_empty) {
        return Err(Failure::invalid("`key` is missing"));
    }
    let media_type = args.content_type.as_deref().unwrap_or("application/octet-stream");
    let media_type = read::media_type(media_type);
    let media_type = media_type.ok_or_else(|| Failure::invalid("the `contentType` is none"))?;
    Ok(Media { media_type, bytes: read::decoded(content)? })
}

fn seconds(args: &Args) -> Result<u32, Failure> {
    let seconds = args.expires_in_seconds.as_ref().and_then(Value::as_u64);
    let seconds = seconds.filter(|seconds| (1..=MAX_PRESIGN_SECONDS).contains(seconds));
    seconds
        .and_then(|seconds| u32::try_from(seconds).ok())
        .ok_or_else(|| Failure::invalid("`expiresInSeconds` is a whole number, at most a week"))
}

fn tag(media: &Media) -> String {
    blake3::hash(&media.bytes).to_hex()[..32].to_owned()
}
