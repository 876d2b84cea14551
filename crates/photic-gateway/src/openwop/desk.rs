//! One request of the protocol, and everything it may ask the gateway for.

use std::sync::Arc;

use bytes::Bytes;
use http::header::HeaderMap;
use http::{Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Limited};
use photic::Wire;
use photic_net::fetch::{Blame, Fetch, Refusal};
use photic_openwop::{
    CallError, CallRequest, FetchError, Fetched, Host, HostError, Limits, Media, MediaReference,
    Modality, ObjectKey, ObjectPage, PresignedContent, PresignedUrl, Provider, TrustBasis, Wanted,
};
use photic_store::{BlobError, MediaRef};
use tokio::sync::Mutex;

use super::{Objects, Only, Openwop, of_store};
use crate::account::RequestLog;
use crate::failure::Failure;
use crate::intake::Body;
use crate::memory::{Use, charged};
use crate::proxy::{Admitted, Proxy};
use crate::record;
use crate::route::Route;
use crate::{converse, media};

/// The longest answer of a model.
const LONGEST: usize = 32 << 20;

/// One request.
pub(super) struct OpenwopHost<'a> {
    pub(super) proxy: &'a Arc<Proxy>,
    pub(super) openwop: &'a Openwop,
    /// Who asks, if anybody may.
    pub(super) admitted: Result<Option<Arc<Admitted>>, HostError>,
    /// What providers may see.
    pub(super) headers: HeaderMap,
    pub(super) account: Mutex<&'a mut RequestLog>,
}

impl OpenwopHost<'_> {
    fn place(&self) -> Result<&record::StoreBackend, HostError> {
        let recorder = self.proxy.workshop.recorder.as_ref();
        recorder.map(|recorder| &recorder.place).ok_or(HostError::NoStore)
    }

    fn objects(&self) -> Result<&Objects, HostError> {
        self.openwop.objects.as_ref().ok_or(HostError::NoStore)
    }
}

impl Host for OpenwopHost<'_> {
    type Tenant = Arc<Admitted>;

    fn modalities(&self) -> &[Modality] {
        &self.openwop.modalities
    }

    fn limits(&self) -> Limits {
        self.openwop.limits
    }

    fn providers(&self) -> Vec<Provider> {
        let provider =
            |id: &String| Provider { id: id.clone(), byok: true, self_hosted: false, model: None };
        self.openwop.providers.iter().map(provider).collect()
    }

    fn default_model(&self) -> Option<String> {
        self.openwop.model.clone()
    }

    fn basis(&self) -> TrustBasis {
        self.openwop.basis
    }

    async fn tenant(&self, _: Option<&str>) -> Result<Option<Arc<Admitted>>, HostError> {
        self.admitted.clone()
    }

    async fn call(&self, caller: &Arc<Admitted>, request: CallRequest) -> Result<Bytes, CallError> {
        let mut turn = Request::new(Body::from(request.body));
        *turn.method_mut() = Method::POST;
        *turn.uri_mut() = Uri::from_static("/v1/chat/completions");
        *turn.headers_mut() = self.headers.clone();
        let route = Route::Turn(Wire::OpenAiChat);
        let mut account = self.account.lock().await;
        let reply =
            converse::converse_whole(self.proxy, route, false, turn, caller, &mut account).await;
        let reply = reply.map_err(|failure| of_failure(&failure))?;
        if !reply.status().is_success() {
            return Err(of_status(reply.status()));
        }
        // Its pieces, and all of it in one.
        let mut charge = caller.share.nothing(Use::Replies);
        let mut reply = Limited::new(reply.into_body(), LONGEST);
        let mut body = bytes::BytesMut::new();
        while let Some(frame) = reply.frame().await {
            let frame = frame.map_err(|_| CallError::Unavailable)?;
            let data = frame.into_data().unwrap_or_default();
            let size = (body.len() + data.len()) as u64 * 2;
            charge.reach(size).await.map_err(|failure| of_failure(&failure))?;
            body.extend_from_slice(&data);
        }
        Ok(charged(body.freeze(), charge))
    }

    async fn create_media(
        &self,
        caller: &Arc<Admitted>,
        media: Media,
    ) -> Result<MediaReference, HostError> {
        let kept = media::keep(
            self.proxy,
            self.place()?,
            (&caller.caller, &caller.share),
            media.bytes,
            None,
        )
        .await;
        let (name, minted) = kept.map_err(|failure| of_store(&failure))?;
        Ok(told(&name, &minted))
    }

    async fn resolve(
        &self,
        caller: &Arc<Admitted>,
        media_ref: &str,
    ) -> Result<Option<(Media, MediaReference)>, HostError> {
        let place = self.place()?;
        let Ok(name) = media_ref.parse::<MediaRef>() else { return Ok(None) };
        let found = place.media(&caller.caller.tenant, std::slice::from_ref(&name)).await;
        let found = found.map_err(|_| HostError::Unavailable)?.remove(&name);
        let Some(minted) = found else { return Ok(None) };
        let bytes = match place.read(&caller.caller.tenant, &minted.blob).await {
            Ok(bytes) => bytes.into(),
            // What is gone, or is not what it was, is not there.
            Err(BlobError::Absent(_) | BlobError::Damaged(_)) => return Ok(None),
            Err(_) => return Err(HostError::Unavailable),
        };
        let media_type = minted.facts.media_type.clone().unwrap_or_default();
        Ok(Some((Media { media_type, bytes }, told(&name, &minted))))
    }

    async fn forget(&self, caller: &Arc<Admitted>, media_ref: &str) -> Result<bool, HostError> {
        let place = self.place()?;
        let Ok(name) = media_ref.parse::<MediaRef>() else { return Ok(false) };
        let forgotten = media::forget(self.proxy, place, &caller.caller.tenant, &name).await;
        forgotten.map_err(|failure| of_store(&failure))
    }

    async fn put_media(
        &self,
        caller: &Arc<Admitted>,
        place: &ObjectKey,
        media: Media,
    ) -> Result<(), HostError> {
        self.objects()?.put(&caller.caller.tenant, place, media)
    }

    async fn get_media(
        &self,
        caller: &Arc<Admitted>,
        place: &ObjectKey,
    ) -> Result<Option<Media>, HostError> {
        Ok(self.objects()?.get(&caller.caller.tenant, place))
    }

    async fn remove_media(
        &self,
        caller: &Arc<Admitted>,
        place: &ObjectKey,
    ) -> Result<bool, HostError> {
        Ok(self.objects()?.remove(&caller.caller.tenant, place))
    }

    async fn list_media(
        &self,
        caller: &Arc<Admitted>,
        beginning: &ObjectKey,
        after: Option<&str>,
    ) -> Result<ObjectPage, HostError> {
        Ok(self.objects()?.list(&caller.caller.tenant, beginning, after))
    }

    async fn presign(
        &self,
        caller: &Arc<Admitted>,
        place: &ObjectKey,
        seconds: u32,
    ) -> Result<Option<PresignedUrl>, HostError> {
        let expires_ms = media::now() + u64::from(seconds) * 1000;
        Ok(self.objects()?.sign(&caller.caller.tenant, place, expires_ms))
    }

    async fn shown(&self, token: &str) -> Result<PresignedContent, HostError> {
        Ok(self.objects()?.shown(token, media::now()))
    }

    async fn fetch(
        &self,
        caller: &Arc<Admitted>,
        wanted: Wanted<'_>,
    ) -> Result<Fetched, FetchError> {
        let Some((rules, guarded)) = &self.openwop.fetch else { return Err(FetchError::Blocked) };
        let _permit = self.openwop.fetches.acquire().await;
        // Twice what it may be: what arrives grows by doubling.
        let most = 2 * rules.max_bytes.min(wanted.most) as u64;
        let charge = caller.share.charge(Use::Fetched, most).await;
        let mut charge = charge.map_err(|_| FetchError::Failed)?;
        let got = match wanted.resolves_to {
            None => guarded.get(wanted.url).await,
            Some(address) => {
                Fetch::new(rules.clone(), Arc::new(Only(address))).get(wanted.url).await
            }
        };
        match got {
            Ok(bytes) if bytes.len() <= wanted.most => {
                charge.shrink_to(bytes.len() as u64);
                let bytes = charged(bytes.into(), charge);
                Ok(Fetched { status: StatusCode::OK.as_u16(), bytes })
            }
            Ok(_) | Err(Refusal::TooLarge) => Err(FetchError::TooLarge),
            Err(refusal) if refusal.blame() == Blame::Rule => Err(FetchError::Blocked),
            Err(_) => Err(FetchError::Failed),
        }
    }
}

fn told(name: &MediaRef, minted: &photic_store::MediaRecord) -> MediaReference {
    let expires_ms = u64::try_from(minted.expires).unwrap_or_default();
    MediaReference { media_ref: name.as_str().to_owned(), expires_ms }
}

/// What a provider's refusal means. Its words stay here.
fn of_status(status: StatusCode) -> CallError {
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => CallError::CredentialRefused,
        StatusCode::PAYMENT_REQUIRED | StatusCode::TOO_MANY_REQUESTS => CallError::QuotaExhausted,
        StatusCode::NOT_FOUND => CallError::ModelNotSupported,
        StatusCode::PAYLOAD_TOO_LARGE => CallError::ContentTooLong,
        status if status.is_client_error() => CallError::Rejected,
        _ => CallError::Unavailable,
    }
}

fn of_failure(failure: &Failure) -> CallError {
    match failure {
        Failure::TooLarge { .. } => CallError::ContentTooLong,
        Failure::NoCredentials => CallError::CredentialRefused,
        Failure::OverQuota(_) | Failure::StoreAway | Failure::KeysAway | Failure::NoRoom => {
            CallError::Host(of_store(failure))
        }
        _ => CallError::Unavailable,
    }
}
