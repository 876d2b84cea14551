//! `/photic/v1/`: uploading pictures, asking for them, giving away addresses that show them.
//!
//! What is not there, is over, or is another tenant's is answered in the same words.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use photic::MediaStub;
use photic::media::{Header, Payload};
use photic_fleet::{AuditAction, Subject};
use photic_store::{Blobs, Error, Facts, Handles, Media as _, MediaRecord, MediaRef, Tenant};
use serde::Deserialize;
use serde_json::{Value, json};

use super::address::{self, Claim, LONGEST, SHOWN};
use crate::account::RequestLog;
use crate::auditing;
use crate::failure::Failure;
use crate::intake::{self, Bounds};
use crate::memory::{Share, Use, charged};
use crate::proxy::{Admitted, Proxy};
use crate::record::{Server, StoreBackend};
use crate::reply::ReplyBody;
use crate::tenancy::Caller;

/// The largest upload.
pub(super) const MOST: u64 = 32 << 20;
/// How long a reference holds unless somebody says otherwise.
const LASTING: Duration = Duration::from_hours(7 * 24);

/// What may be said about an upload.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Wish {
    ttl_s: Option<u64>,
    /// How many bytes will be put under an address that is asked for.
    bytes: Option<u64>,
}

/// Answers a request of a tenant.
pub(crate) async fn answer(
    proxy: &Arc<Proxy>,
    request: Request<Incoming>,
    peer: IpAddr,
    account: &mut RequestLog,
) -> Result<Response<ReplyBody>, Failure> {
    let path = request.uri().path().to_owned();
    let recorder = proxy.workshop.recorder.as_ref().ok_or(Failure::NoStore)?;
    if request.method() == Method::GET && path.starts_with(SHOWN) {
        // Whoever has an address shows no key with it.
        let share = proxy.memory.share(proxy.caller_ids.of(peer));
        return MediaApi { proxy, place: &recorder.place, share }.show(&path).await;
    }
    let admitted = proxy.admit(request.headers(), None, peer, true).await;
    let Admitted { caller, share, quota: _quota } = match admitted {
        Ok(admitted) => admitted,
        Err(failure) => {
            intake::drain(request.into_body());
            return Err(failure);
        }
    };
    let shelf = MediaApi { proxy, place: &recorder.place, share: share.clone() };
    let (parts, mut incoming) = request.into_parts();
    let bounds = Bounds { bytes: MOST, idle: proxy.bounds.idle };
    intake::admit(&parts.headers, MOST)?;
    let body = intake::read(&mut incoming, bounds, &proxy.buffers, &share).await?.bytes;
    account.bytes_in = body.len() as u64;
    let (lasting, tenant) = (parts.uri.query().and_then(lasting), &caller.tenant);
    let bytes = parts.uri.query().and_then(|query| number(query, "bytes="));
    let steps: Vec<&str> = path.trim_start_matches("/photic/v1/").split('/').collect();
    match (parts.method, steps.as_slice()) {
        (Method::POST, ["media"]) => shelf.upload(&caller, body, lasting).await,
        (Method::GET, ["media", name]) => {
            let (name, minted) = shelf.find(tenant, name).await?;
            Ok(answered(StatusCode::OK, &told(&name, &minted)))
        }
        (Method::DELETE, ["media", name]) => shelf.remove(tenant, name).await,
        (Method::GET, ["media", name, "content"]) => {
            let (_, minted) = shelf.find(tenant, name).await?;
            shelf.content(tenant, &minted).await
        }
        (Method::POST, ["media", name, "address"]) => {
            let wish: Wish = serde_json::from_slice(&body).unwrap_or_default();
            shelf.address(tenant, name, wish.ttl_s.or(lasting)).await
        }
        (Method::POST, ["uploads"]) => {
            let wish: Wish = serde_json::from_slice(&body).unwrap_or_default();
            shelf.expect(&caller, wish.bytes.or(bytes), wish.ttl_s.or(lasting)).await
        }
        (Method::POST, ["uploads", id, "done"]) => shelf.take(&caller, id, lasting).await,
        _ => Err(Failure::NoSuchMedia),
    }
}

pub(super) struct MediaApi<'p> {
    pub(super) proxy: &'p Proxy,
    pub(super) place: &'p StoreBackend,
    /// The memory that the request is charged to.
    pub(super) share: Share,
}

impl MediaApi<'_> {
    pub(super) async fn upload(
        &self,
        caller: &Caller,
        bytes: Bytes,
        lasting: Option<u64>,
    ) -> Result<Response<ReplyBody>, Failure> {
        let (name, minted) =
            keep(self.proxy, self.place, (caller, &self.share), bytes, lasting).await?;
        Ok(answered(StatusCode::CREATED, &told(&name, &minted)))
    }

    async fn find(&self, tenant: &Tenant, name: &str) -> Result<(MediaRef, MediaRecord), Failure> {
        let name: MediaRef = name.parse().map_err(|_| Failure::NoSuchMedia)?;
        let found = self.place.media(tenant, std::slice::from_ref(&name)).await;
        let minted = found.map_err(failed)?.remove(&name);
        minted.map(|minted| (name, minted)).ok_or(Failure::NoSuchMedia)
    }

    async fn remove(&self, tenant: &Tenant, name: &str) -> Result<Response<ReplyBody>, Failure> {
        let name: MediaRef = name.parse().map_err(|_| Failure::NoSuchMedia)?;
        if forget(self.proxy, self.place, tenant, &name).await? {
            Ok(answered(StatusCode::OK, &json!({"removed": true})))
        } else {
            Err(Failure::NoSuchMedia)
        }
    }

    async fn address(
        &self,
        tenant: &Tenant,
        name: &str,
        lasting: Option<u64>,
    ) -> Result<Response<ReplyBody>, Failure> {
        let (name, minted) = self.find(tenant, name).await?;
        let lasting = lasting.map_or(LONGEST, Duration::from_secs).min(LONGEST);
        let expires = address::now() + lasting.as_millis() as u64;
        let expires = expires.min(minted.expires.cast_unsigned());
        let secret = self.place.secret(tenant).await.map_err(failed)?;
        let path = address::path(&secret, tenant, &name, expires);
        Ok(answered(StatusCode::CREATED, &json!({"path": path, "expires": expires})))
    }

    /// Whoever has the address may look, until its time is over.
    async fn show(&self, path: &str) -> Result<Response<ReplyBody>, Failure> {
        let claim = Claim::read(path).ok_or(Failure::NotSigned)?;
        // Nobody's secret is made for somebody who only claims to be somebody.
        let secret = self.place.known_secret(&claim.tenant).await.map_err(failed)?;
        let secret = secret.ok_or(Failure::NotSigned)?;
        if !claim.holds(&secret, address::now()) {
            return Err(Failure::NotSigned);
        }
        let (_, minted) = self.find(&claim.tenant, claim.name.as_str()).await?;
        self.content(&claim.tenant, &minted).await
    }

    async fn content(
        &self,
        tenant: &Tenant,
        minted: &MediaRecord,
    ) -> Result<Response<ReplyBody>, Failure> {
        let charge = self.share.charge(Use::Fetched, minted.facts.bytes).await?;
        let read = self.place.read(tenant, &minted.blob).await;
        let bytes = read.map_err(|error| failed(error.into()))?;
        let mut response = Response::new(ReplyBody::whole(charged(bytes.into(), charge)));
        let headers = response.headers_mut();
        // Its type is what its bytes are, and never a page: those are not taken.
        let media_type = minted.facts.media_type.as_deref().unwrap_or("application/octet-stream");
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
        Ok(response)
    }
}

/// Keeps bytes of a caller, and gives them a name.
pub(crate) async fn keep(
    proxy: &Proxy,
    place: &StoreBackend,
    (caller, share): (&Caller, &Share),
    bytes: Bytes,
    lasting: Option<u64>,
) -> Result<(MediaRef, MediaRecord), Failure> {
    let size = bytes.len() as u64;
    if let Some(quotas) = &proxy.quotas {
        let stored = quotas.store(&caller.tenant, size).await;
        stored.map_err(|over| proxy.over(caller, over))?;
    }
    let lasting = lasting.map_or(LASTING, Duration::from_secs).min(proxy.media_lasts);
    // It is looked at as base64. The charge belongs to the work, which goes on if the client leaves.
    let charge = share.charge(Use::Pixels, size + size / 2).await?;
    let look = move || {
        let seen = look_at(bytes);
        drop(charge);
        seen
    };
    let taken = tokio::task::spawn_blocking(look).await;
    let (bytes, facts, memory) = taken.map_err(|_| Failure::Broken)??;
    let minting = NewMedia { bytes, facts, memory, lasting };
    let (name, minted) = place.create_media(&caller.tenant, minting).await.map_err(failed)?;
    if let Some(auditing) = &proxy.auditing {
        let subject = Subject::from(&name);
        auditing.note(caller, auditing::of(caller, AuditAction::Upload, subject, "taken", size));
    }
    Ok((name, minted))
}

/// Forgets a name; whether there was one.
pub(crate) async fn forget(
    proxy: &Proxy,
    place: &StoreBackend,
    tenant: &Tenant,
    name: &MediaRef,
) -> Result<bool, Failure> {
    let removed = match place {
        StoreBackend::Local(store) => store.record.delete_media(tenant, name).await,
        StoreBackend::Fleet(fleet, away) => {
            away.notice(fleet.record.delete_media(tenant, name).await)
        }
    };
    proxy.workshop.shelf.forget(tenant, name);
    removed.map_err(failed)
}

/// Something to be kept under a name.
#[derive(Debug)]
pub(crate) struct NewMedia {
    pub(crate) bytes: Bytes,
    pub(crate) facts: Facts,
    pub(crate) memory: MediaStub,
    pub(crate) lasting: Duration,
}

impl StoreBackend {
    /// Keeps bytes of a tenant, and gives them a name.
    pub(crate) async fn create_media(
        &self,
        tenant: &Tenant,
        minting: NewMedia,
    ) -> Result<(MediaRef, MediaRecord), Error> {
        let NewMedia { bytes, facts, memory, lasting } = minting;
        let mut ask = photic_store::NewMedia {
            blob: memory.digest.into(),
            facts,
            memory,
            session: None,
            lasting,
        };
        let name = match self {
            Self::Local(store) => {
                ask.blob = Blobs::put(&store.blobs, &bytes).await?;
                store.record.create_media(tenant, &ask).await?
            }
            Self::Fleet(fleet, away) => {
                away.refuse(&Server::ALL)?;
                let kept = async {
                    ask.blob = fleet.store(tenant.clone()).blobs.put(&bytes).await?;
                    fleet.record.create_media(tenant, &ask).await
                };
                away.notice(kept.await)?
            }
        };
        let photic_store::NewMedia { blob, facts, memory, .. } = ask;
        let expires = (address::now() + lasting.as_millis() as u64).cast_signed();
        Ok((name, MediaRecord { blob, facts, memory, expires }))
    }

    async fn secret(&self, tenant: &Tenant) -> Result<photic_store::Secret, Error> {
        match self {
            Self::Local(store) => Handles::secret(&store.record, tenant).await,
            Self::Fleet(fleet, away) => away.notice(fleet.record.secret(tenant).await),
        }
    }

    /// The same of somebody who has one.
    async fn known_secret(&self, tenant: &Tenant) -> Result<Option<photic_store::Secret>, Error> {
        match self {
            Self::Local(store) if *tenant == store.tenant => {
                Handles::secret(&store.record, tenant).await.map(Some)
            }
            Self::Local(_) => Ok(None),
            Self::Fleet(fleet, away) => away.notice(fleet.record.known_secret(tenant).await),
        }
    }
}

/// What bytes are; only pictures and documents are taken.
fn look_at(bytes: Bytes) -> Result<(Bytes, Facts, MediaStub), Failure> {
    let payload = Payload::encode(&bytes);
    let Header { media_type, size, .. } = payload.header();
    let is_document = media_type == Some("application/pdf");
    if !is_document && (size.is_none() || media_type == Some("image/svg+xml")) {
        return Err(Failure::NotAPicture);
    }
    let memory = MediaStub::of(&payload).ok_or(Failure::NotAPicture)?;
    let facts = Facts {
        media_type: media_type.map(str::to_owned),
        size,
        bytes: bytes.len() as u64,
        label: None,
    };
    Ok((bytes, facts, memory))
}

fn told(name: &MediaRef, minted: &MediaRecord) -> Value {
    let Facts { media_type, size, bytes, .. } = &minted.facts;
    let (width, height) = size.unzip();
    json!({
        "ref": name.as_str(),
        "address": format!("{}{}", photic::REFERENCE, name.as_str()),
        "media_type": media_type,
        "bytes": bytes,
        "width": width,
        "height": height,
        "expires": minted.expires,
    })
}

pub(super) fn answered(status: StatusCode, told: &Value) -> Response<ReplyBody> {
    let mut response = Response::new(ReplyBody::whole(told.to_string()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn lasting(query: &str) -> Option<u64> {
    number(query, "ttl_s=")
}

/// The number that a query says under a name.
fn number(query: &str, name: &str) -> Option<u64> {
    query.split('&').find_map(|pair| pair.strip_prefix(name)?.parse().ok())
}

#[expect(clippy::needless_pass_by_value, reason = "handed to `map_err`")]
pub(super) fn failed(error: Error) -> Failure {
    match error {
        Error::Blob(photic_store::BlobError::Absent(_)) => Failure::NoSuchMedia,
        _ => Failure::StoreAway,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_looked_at_is_taken() {
        for bad in
            [b"".as_slice(), b"<html>", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"PK\x03\x04"]
        {
            let refused = look_at(Bytes::copy_from_slice(bad));
            assert!(matches!(refused, Err(Failure::NotAPicture)), "{bad:?}");
        }
        let (_, facts, _) = look_at(Bytes::from_static(b"%PDF-1.7\n")).unwrap();
        assert_eq!(facts.media_type.as_deref(), Some("application/pdf"));
    }
}
