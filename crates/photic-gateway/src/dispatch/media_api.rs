//! The media API, `/photic/v1/`: uploads images, returns them, and signs paths that show them.
//!
//! Media that are unknown, expired, or of another tenant get an identical error.

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use photic_store::{Facts, MediaRecord, MediaRef};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::{Bounds, Failure, ReplyBody, check_length, drain, read};
use crate::media::{MAX_UPLOAD, MediaLibrary, MediaUser, SHOWN};
use crate::memory::Buffers;
use crate::observe::RequestLog;
use crate::tenant::{Admission, Admitted, Identity, KeyPlace};
use crate::upstream::UpstreamClient;

/// The path of direct uploads.
const UPLOADS: &str = "/photic/v1/uploads";

/// Options of an upload or of a signed path.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Options {
    /// The lifetime in seconds.
    ttl_s: Option<u64>,
    /// The bytes that will be uploaded to a signed URL.
    bytes: Option<u64>,
}

/// Answers requests about uploaded media.
#[derive(Debug)]
pub(crate) struct MediaApi {
    /// Set if the gateway has a store.
    pub(crate) library: Option<Arc<MediaLibrary>>,
    pub(crate) admission: Arc<Admission>,
    pub(crate) client: Arc<UpstreamClient>,
    pub(crate) buffers: Arc<Buffers>,
}

impl MediaApi {
    /// Answers a request of a tenant.
    pub(super) async fn answer(
        &self,
        request: Request<Incoming>,
        peer: IpAddr,
        log: &mut RequestLog,
    ) -> Result<Response<ReplyBody>, Failure> {
        let path = request.uri().path().to_owned();
        let library = self.library.as_deref().ok_or(Failure::NoStore)?;
        if request.method() == Method::GET && path.starts_with(SHOWN) {
            // A signed path needs no key.
            let share = self.admission.share(&Identity::Nobody, peer);
            let (tenant, record) = library.signed(&path).await?;
            return Ok(content(library.read(&tenant, &share, &record).await?, &record));
        }
        let place = KeyPlace::OwnHeaderOrBearer;
        let admitted = self.admission.admit(request.headers(), None, peer, place).await;
        let Admitted { caller, share, _quota } = match admitted {
            Ok(admitted) => admitted,
            Err(failure) => {
                drain(request.into_body());
                return Err(failure);
            }
        };
        let (parts, mut incoming) = request.into_parts();
        let bounds = Bounds { bytes: MAX_UPLOAD, idle: self.client.bounds().idle };
        check_length(&parts.headers, MAX_UPLOAD)?;
        let body = read(&mut incoming, bounds, &self.buffers, &share).await?.bytes;
        log.bytes_in = body.len() as u64;
        let query = parts.uri.query().unwrap_or_default();
        let (ttl_s, bytes) = (number(query, "ttl_s="), number(query, "bytes="));
        let (user, tenant) = (MediaUser { caller: &caller, share: &share }, &caller.tenant);
        let options = || -> Options { serde_json::from_slice(&body).unwrap_or_default() };
        let steps: Vec<&str> = path.trim_start_matches("/photic/v1/").split('/').collect();
        match (parts.method, steps.as_slice()) {
            (Method::POST, ["media"]) => {
                let (reference, record) = library.keep(user, body, ttl_s).await?;
                Ok(answer(StatusCode::CREATED, &described(&reference, &record)))
            }
            (Method::GET, ["media", reference]) => {
                let (reference, record) = library.find(tenant, reference).await?;
                Ok(answer(StatusCode::OK, &described(&reference, &record)))
            }
            (Method::DELETE, ["media", reference]) => {
                let reference: MediaRef = reference.parse().map_err(|_| Failure::NoSuchMedia)?;
                if !library.forget(tenant, &reference).await? {
                    return Err(Failure::NoSuchMedia);
                }
                Ok(answer(StatusCode::OK, &json!({"removed": true})))
            }
            (Method::GET, ["media", reference, "content"]) => {
                let (_, record) = library.find(tenant, reference).await?;
                Ok(content(library.read(tenant, &share, &record).await?, &record))
            }
            (Method::POST, ["media", reference, "address"]) => {
                let signed = library.sign(tenant, reference, options().ttl_s.or(ttl_s)).await;
                let (path, expires) = signed?;
                Ok(answer(StatusCode::CREATED, &json!({"path": path, "expires": expires})))
            }
            (Method::POST, ["uploads"]) => {
                let options = options();
                let (bytes, ttl_s) = (options.bytes.or(bytes), options.ttl_s.or(ttl_s));
                let (upload, bytes, expires) = library.expect_upload(&caller, bytes, ttl_s).await?;
                let done = format!("{UPLOADS}/{}/done", upload.id);
                let described = json!({
                    "upload": upload.id, "put": upload.url, "done": done, "bytes": bytes,
                    "expires": expires,
                });
                Ok(answer(StatusCode::CREATED, &described))
            }
            (Method::POST, ["uploads", id, "done"]) => {
                let (reference, record) = library.take_upload(user, id, ttl_s).await?;
                Ok(answer(StatusCode::CREATED, &described(&reference, &record)))
            }
            _ => Err(Failure::NoSuchMedia),
        }
    }
}

/// Answers with the bytes of media.
fn content(bytes: Bytes, record: &MediaRecord) -> Response<ReplyBody> {
    let mut response = Response::new(ReplyBody::whole(bytes));
    let headers = response.headers_mut();
    // The type was detected from the bytes. It is never a web page, because those are not accepted.
    let media_type = record.facts.media_type.as_deref().unwrap_or("application/octet-stream");
    if let Ok(value) = HeaderValue::from_str(media_type) {
        headers.insert(header::CONTENT_TYPE, value);
    }
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_DISPOSITION, "attachment"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"),
        (header::CACHE_CONTROL, "private, no-store"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-site"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

fn described(reference: &MediaRef, record: &MediaRecord) -> Value {
    let Facts { media_type, size, bytes, .. } = &record.facts;
    let (width, height) = size.unzip();
    json!({
        "ref": reference.as_str(),
        "address": format!("{}{}", photic::REFERENCE, reference.as_str()),
        "media_type": media_type,
        "bytes": bytes,
        "width": width,
        "height": height,
        "expires": record.expires,
    })
}

fn answer(status: StatusCode, body: &Value) -> Response<ReplyBody> {
    let mut response = Response::new(ReplyBody::whole(body.to_string()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Returns the number of a query parameter.
fn number(query: &str, name: &str) -> Option<u64> {
    query.split('&').find_map(|pair| pair.strip_prefix(name)?.parse().ok())
}
