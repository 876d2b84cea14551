//! One request of the openwop protocol, with the parts of the gateway that it may use.

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
use photic_store::MediaRef;
use tokio::sync::Mutex;

use super::objects::Objects;
use super::settings::{FixedAddress, Settings, of_store};
use crate::http::{Body, Failure, Route};
use crate::media::{self, MediaLibrary, MediaUser};
use crate::memory::{Use, charged};
use crate::observe::RequestLog;
use crate::tenant::Admitted;
use crate::turn::{Repair, Turns};

/// Maximum size of a model's answer.
const MAX_ANSWER: usize = 32 << 20;

/// One request of the protocol.
pub(super) struct OpenwopHost<'a> {
    pub(super) turns: &'a Turns,
    pub(super) settings: &'a Settings,
    pub(super) library: Option<&'a MediaLibrary>,
    /// The caller, if its key was accepted.
    pub(super) admitted: Result<Option<Arc<Admitted>>, HostError>,
    /// The headers that providers may see.
    pub(super) headers: HeaderMap,
    pub(super) log: Mutex<&'a mut RequestLog>,
}

impl OpenwopHost<'_> {
    fn library(&self) -> Result<&MediaLibrary, HostError> {
        self.library.ok_or(HostError::NoStore)
    }

    fn objects(&self) -> Result<&Objects, HostError> {
        self.settings.objects.as_ref().ok_or(HostError::NoStore)
    }
}

impl Host for OpenwopHost<'_> {
    type Tenant = Arc<Admitted>;

    fn modalities(&self) -> &[Modality] {
        &self.settings.modalities
    }

    fn limits(&self) -> Limits {
        self.settings.limits
    }

    fn providers(&self) -> Vec<Provider> {
        let provider =
            |id: &String| Provider { id: id.clone(), byok: true, self_hosted: false, model: None };
        self.settings.providers.iter().map(provider).collect()
    }

    fn default_model(&self) -> Option<String> {
        self.settings.model.clone()
    }

    fn basis(&self) -> TrustBasis {
        self.settings.basis
    }

    async fn tenant(&self, _: Option<&str>) -> Result<Option<Arc<Admitted>>, HostError> {
        self.admitted.clone()
    }

    async fn call(&self, caller: &Arc<Admitted>, request: CallRequest) -> Result<Bytes, CallError> {
        let mut head = Request::new(());
        *head.method_mut() = Method::POST;
        *head.uri_mut() = Uri::from_static("/v1/chat/completions");
        *head.headers_mut() = self.headers.clone();
        let route = Route::Turn(Wire::OpenAiChat.into());
        let upstreams = &self.turns.pipeline.planner.upstreams;
        // The wire is that of the route: its path belongs to one.
        let permitted = upstreams.permit(route, &head);
        permitted.map_err(|_| CallError::CredentialRefused)?;
        let (mut head, body) = (head.into_parts().0, Body::from(request.body));
        let mut log = self.log.lock().await;
        let answer = self.turns.answer_read(route, Repair::On, (&mut head, body), caller, &mut log);
        let reply = Box::pin(answer).await;
        let reply = reply.map_err(|failure| of_failure(&failure))?;
        if !reply.status().is_success() {
            return Err(of_status(reply.status()));
        }
        // Charged twice: for its pieces, and for all of it in one.
        let mut charge = caller.share.nothing(Use::Replies);
        let mut reply = Limited::new(reply.into_body(), MAX_ANSWER);
        let mut body = bytes::BytesMut::new();
        while let Some(frame) = reply.frame().await {
            let frame = frame.map_err(|_| CallError::Unavailable)?;
            let data = frame.into_data().unwrap_or_default();
            let size = (body.len() + data.len()) as u64 * 2;
            charge.reach(size).await.map_err(|full| of_failure(&full.into()))?;
            body.extend_from_slice(&data);
        }
        Ok(charged(body.freeze(), charge))
    }

    async fn create_media(
        &self,
        caller: &Arc<Admitted>,
        media: Media,
    ) -> Result<MediaReference, HostError> {
        let user = MediaUser { caller: &caller.caller, share: &caller.share };
        let kept = self.library()?.keep(user, media.bytes, None).await;
        let (name, record) = kept.map_err(|failure| of_store(&failure))?;
        Ok(reference(&name, &record))
    }

    async fn resolve(
        &self,
        caller: &Arc<Admitted>,
        media_ref: &str,
    ) -> Result<Option<(Media, MediaReference)>, HostError> {
        let (library, tenant) = (self.library()?, &caller.caller.tenant);
        let (name, record) = match library.find(tenant, media_ref).await {
            Ok(found) => found,
            Err(Failure::NoSuchMedia) => return Ok(None),
            Err(_) => return Err(HostError::Unavailable),
        };
        let bytes = match library.read(tenant, &caller.share, &record).await {
            Ok(bytes) => bytes,
            // A missing or damaged blob counts as not found.
            Err(Failure::NoSuchMedia) => return Ok(None),
            Err(failure) => return Err(of_store(&failure)),
        };
        let media_type = record.facts.media_type.clone().unwrap_or_default();
        Ok(Some((Media { media_type, bytes }, reference(&name, &record))))
    }

    async fn forget(&self, caller: &Arc<Admitted>, media_ref: &str) -> Result<bool, HostError> {
        let library = self.library()?;
        let Ok(name) = media_ref.parse::<MediaRef>() else { return Ok(false) };
        let forgotten = library.forget(&caller.caller.tenant, &name).await;
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
        let Some((rules, guarded)) = &self.settings.fetch else { return Err(FetchError::Blocked) };
        let _permit = self.settings.fetches.acquire().await;
        // Twice the maximum, because the buffer grows by doubling.
        let most = 2 * rules.max_bytes.min(wanted.most) as u64;
        let charge = caller.share.charge(Use::Fetched, most).await;
        let mut charge = charge.map_err(|_| FetchError::Failed)?;
        let got = match wanted.resolves_to {
            None => guarded.get(wanted.url).await,
            Some(address) => {
                Fetch::new(rules.clone(), Arc::new(FixedAddress(address))).get(wanted.url).await
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

fn reference(name: &MediaRef, record: &photic_store::MediaRecord) -> MediaReference {
    let expires_ms = u64::try_from(record.expires).unwrap_or_default();
    MediaReference { media_ref: name.as_str().to_owned(), expires_ms }
}

/// Translates a provider's rejection to an error of the protocol, without its text.
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

/// Translates a failure of the gateway to an error of a call.
fn of_failure(failure: &Failure) -> CallError {
    match failure {
        Failure::TooLarge { .. } => CallError::ContentTooLong,
        Failure::NoCredentials => CallError::CredentialRefused,
        Failure::OverQuota(_)
        | Failure::OverBudget(_)
        | Failure::MetersAway
        | Failure::StoreAway
        | Failure::KeysAway
        | Failure::NoRoom => CallError::Host(of_store(failure)),
        _ => CallError::Unavailable,
    }
}
