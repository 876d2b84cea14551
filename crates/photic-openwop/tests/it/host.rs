//! A host in memory with real semantics: tenants by key, a clock that tests move, references and
//! signed URLs that expire, names that resolve, and a model that repeats its input.

use std::collections::BTreeMap;
use std::future::Future;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use photic_openwop::{
    Answer, CallError, CallRequest, FetchError, Fetched, Host, HostError, Limits, Media,
    MediaReference, Modality, ObjectEntry, ObjectKey, ObjectPage, OpenwopRequest, PresignedContent,
    PresignedUrl, Provider, TrustBasis, Wanted, answer,
};
use serde_json::{Value, json};

pub(crate) const CALL: &str = "/v1/host/sample/ai/call";
pub(crate) const CALL_2: &str = "/conformance/seams/sample/ai/call";
pub(crate) const WRAP: &str = "/v1/host/sample/test/llm-prompt-wrap";
pub(crate) const FETCH: &str = "/v1/host/sample/http/safe-fetch";
pub(crate) const SURFACE: &str = "/v1/host/sample/test/surface";
pub(crate) const MEDIA: &str = "/v1/host/media";

/// The default key of tests.
pub(crate) const KEY: &str = "pk_anna_secret";
pub(crate) const OTHER: &str = "pk_bert_secret";

/// Location of the provider, which no answer may contain.
pub(crate) const ENDPOINT: &str = "http://vllm.internal:8000/v1";

/// Lifetime of a reference.
pub(crate) const REFERENCE_MS: u64 = 60_000;

pub(crate) struct Fake {
    pub(crate) modalities: Vec<Modality>,
    pub(crate) limits: Limits,
    pub(crate) providers: Vec<Provider>,
    pub(crate) model: Option<String>,
    pub(crate) basis: TrustBasis,
    /// Error that the model returns instead of an answer.
    pub(crate) fails: Option<CallError>,
    /// Fixed answer of the model.
    pub(crate) says: Option<Value>,
    /// Usage that the model reports.
    pub(crate) usage: Value,
    pub(crate) trouble: Option<HostError>,
    pub(crate) now: AtomicU64,
    pub(crate) sent: Mutex<Vec<CallRequest>>,
    /// All dialed addresses.
    pub(crate) dialed: Mutex<Vec<IpAddr>>,
    pub(crate) names: BTreeMap<&'static str, (IpAddr, u16, &'static [u8])>,
    pub(crate) counter: AtomicU64,
    pub(crate) references: Mutex<BTreeMap<String, (String, Media, u64)>>,
    pub(crate) objects: Mutex<BTreeMap<(String, ObjectKey), Media>>,
}

pub(crate) const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x02";

impl Default for Fake {
    fn default() -> Self {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        Self {
            modalities: vec![Modality::Image, Modality::Document],
            limits: Limits {
                part: 1 << 20,
                call: 3 << 20,
                object: Some(1 << 16),
                fetched: 10 << 20,
                fetch_ms: 30_000,
            },
            providers: Vec::new(),
            model: None,
            basis: TrustBasis::Caller,
            fails: None,
            says: None,
            usage: json!({"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}),
            trouble: None,
            now: AtomicU64::new(1_000_000),
            sent: Mutex::default(),
            dialed: Mutex::default(),
            names: BTreeMap::from([
                ("example.com", (ip("93.184.216.34"), 200, PNG)),
                ("inside.example.com", (ip("10.0.0.7"), 200, PNG)),
                ("page.example.com", (ip("93.184.216.35"), 200, b"<html>".as_slice())),
                ("gone.example.com", (ip("93.184.216.36"), 404, PNG)),
            ]),
            counter: AtomicU64::new(0),
            references: Mutex::default(),
            objects: Mutex::default(),
        }
    }
}

impl Fake {
    /// Creates a host that calls a model.
    pub(crate) fn with_model() -> Self {
        Self { model: Some("m-1".to_owned()), ..Self::default() }
    }

    pub(crate) fn later(&self, ms: u64) {
        self.now.fetch_add(ms, Ordering::Relaxed);
    }

    pub(crate) fn now(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    pub(crate) fn ask(&self, asked: OpenwopRequest<'_>) -> Answer {
        block_on(answer(self, asked))
    }

    /// Sends a `POST` of JSON with the default key.
    pub(crate) fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.post_as(KEY, path, body)
    }

    pub(crate) fn post_as(&self, key: &str, path: &str, body: &Value) -> (u16, Value) {
        let answer = self.ask(OpenwopRequest {
            bearer: Some(key),
            ..OpenwopRequest::post(path, body.to_string())
        });
        (answer.status, json_of(&answer))
    }

    /// Sends a call with these parts.
    pub(crate) fn call(&self, parts: &Value) -> (u16, Value) {
        self.post(CALL, &json!({"messages": [{"role": "user", "content": parts}]}))
    }

    /// Uploads media and returns their reference.
    pub(crate) fn upload(&self, key: &str, media_type: &str, bytes: &'static [u8]) -> String {
        let content_type = Some(media_type);
        let asked = OpenwopRequest {
            bearer: Some(key),
            content_type,
            ..OpenwopRequest::post(MEDIA, bytes)
        };
        let answer = self.ask(asked);
        assert_eq!(answer.status, 201, "{}", json_of(&answer));
        json_of(&answer)["mediaRef"].as_str().unwrap().to_owned()
    }

    /// Returns the body that was last sent to the model.
    pub(crate) fn sent(&self) -> Value {
        let sent = self.sent.lock().unwrap();
        serde_json::from_slice(&sent.last().expect("a call was sent").body).unwrap()
    }

    fn number(&self) -> u64 {
        self.counter.fetch_add(1, Ordering::Relaxed)
    }

    fn sign(tenant: &str, place: &ObjectKey, until: u64) -> String {
        let text = json!([tenant, place.space, place.bucket, place.key, until]).to_string();
        let mac = blake3::keyed_hash(&[7; 32], text.as_bytes()).to_hex();
        format!("{}.{mac}", URL_SAFE_NO_PAD.encode(text))
    }
}

impl Host for Fake {
    type Tenant = String;

    fn modalities(&self) -> &[Modality] {
        &self.modalities
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    fn providers(&self) -> Vec<Provider> {
        self.providers.clone()
    }

    fn default_model(&self) -> Option<String> {
        self.model.clone()
    }

    fn basis(&self) -> TrustBasis {
        self.basis
    }

    async fn tenant(&self, bearer: Option<&str>) -> Result<Option<String>, HostError> {
        let known = |key: &&str| [KEY, OTHER].contains(key);
        Ok(bearer.filter(known).map(str::to_owned))
    }

    async fn call(&self, _: &String, request: CallRequest) -> Result<Bytes, CallError> {
        if let Some(error) = self.fails {
            return Err(error);
        }
        if request.model == "nobody-has-it" {
            return Err(CallError::ModelNotSupported);
        }
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let pictures = body.to_string().matches("image_url\":{").count();
        let says = self.says.clone().unwrap_or_else(|| json!(format!("{pictures} pictures")));
        let completion = json!({
            "id": "c-1",
            "model": request.model,
            "provider_url": ENDPOINT,
            "choices": [{"message": {"role": "assistant", "content": says}, "finish_reason": "stop"}],
            "usage": self.usage,
        });
        self.sent.lock().unwrap().push(request);
        Ok(completion.to_string().into())
    }

    async fn create_media(
        &self,
        tenant: &String,
        media: Media,
    ) -> Result<MediaReference, HostError> {
        if let Some(trouble) = self.trouble {
            return Err(trouble);
        }
        let name = blake3::keyed_hash(&[3; 32], &self.number().to_le_bytes()).to_hex();
        let media_ref = format!("mr_{}", &name[..32]);
        let expires_ms = self.now() + REFERENCE_MS;
        let entry = (tenant.clone(), media, expires_ms);
        self.references.lock().unwrap().insert(media_ref.clone(), entry);
        Ok(MediaReference { media_ref, expires_ms })
    }

    async fn resolve(
        &self,
        tenant: &String,
        media_ref: &str,
    ) -> Result<Option<(Media, MediaReference)>, HostError> {
        let known = self.references.lock().unwrap();
        let found = known.get(media_ref);
        let found = found.filter(|(owner, _, until)| owner == tenant && *until > self.now());
        Ok(found.map(|(_, media, until)| {
            (media.clone(), MediaReference { media_ref: media_ref.to_owned(), expires_ms: *until })
        }))
    }

    async fn forget(&self, tenant: &String, media_ref: &str) -> Result<bool, HostError> {
        let mut known = self.references.lock().unwrap();
        let own = known.get(media_ref).is_some_and(|(owner, _, _)| owner == tenant);
        Ok(own && known.remove(media_ref).is_some())
    }

    async fn put_media(
        &self,
        tenant: &String,
        place: &ObjectKey,
        media: Media,
    ) -> Result<(), HostError> {
        self.objects.lock().unwrap().insert((tenant.clone(), place.clone()), media);
        Ok(())
    }

    async fn get_media(
        &self,
        tenant: &String,
        place: &ObjectKey,
    ) -> Result<Option<Media>, HostError> {
        let objects = self.objects.lock().unwrap();
        Ok(objects.get(&(tenant.clone(), place.clone())).cloned())
    }

    async fn remove_media(&self, tenant: &String, place: &ObjectKey) -> Result<bool, HostError> {
        let mut objects = self.objects.lock().unwrap();
        Ok(objects.remove(&(tenant.clone(), place.clone())).is_some())
    }

    async fn list_media(
        &self,
        tenant: &String,
        beginning: &ObjectKey,
        after: Option<&str>,
    ) -> Result<ObjectPage, HostError> {
        let objects = self.objects.lock().unwrap();
        let inside = |(owner, place): &&(String, ObjectKey)| {
            owner == tenant
                && place.space == beginning.space
                && place.bucket == beginning.bucket
                && place.key.starts_with(&beginning.key)
                && after.is_none_or(|after| place.key.as_str() > after)
        };
        let all: Vec<_> = objects.iter().filter(|(name, _)| inside(name)).collect();
        let entry = |((_, place), media): &(&(String, ObjectKey), &Media)| ObjectEntry {
            key: place.key.clone(),
            bytes: media.bytes.len() as u64,
        };
        Ok(ObjectPage { entries: all.iter().take(2).map(entry).collect(), more: all.len() > 2 })
    }

    async fn presign(
        &self,
        tenant: &String,
        place: &ObjectKey,
        seconds: u32,
    ) -> Result<Option<PresignedUrl>, HostError> {
        if self.get_media(tenant, place).await?.is_none() {
            return Ok(None);
        }
        let expires_ms = self.now() + u64::from(seconds) * 1000;
        Ok(Some(PresignedUrl { token: Self::sign(tenant, place, expires_ms), expires_ms }))
    }

    async fn shown(&self, token: &str) -> Result<PresignedContent, HostError> {
        let Some((claim, _)) = token.split_once('.') else { return Ok(PresignedContent::Refused) };
        let claim = URL_SAFE_NO_PAD.decode(claim).ok();
        let read = claim.and_then(|claim| {
            serde_json::from_slice::<(String, String, String, String, u64)>(&claim).ok()
        });
        let Some((tenant, space, bucket, key, until)) = read else {
            return Ok(PresignedContent::Refused);
        };
        let place = ObjectKey { space, bucket, key };
        if Self::sign(&tenant, &place, until) != token || until <= self.now() {
            return Ok(PresignedContent::Refused);
        }
        let media = self.get_media(&tenant, &place).await?;
        Ok(media.map_or(PresignedContent::Refused, PresignedContent::Media))
    }

    async fn fetch(&self, _: &String, wanted: Wanted<'_>) -> Result<Fetched, FetchError> {
        let rest = wanted.url.split_once("://").ok_or(FetchError::Failed)?.1;
        let authority = rest.split('/').next().unwrap_or_default();
        let name = authority.split(':').next().unwrap_or_default();
        let known = self.names.get(name);
        let resolved = wanted.resolves_to.or_else(|| name.parse().ok()).or(known.map(|k| k.0));
        let address = resolved.ok_or(FetchError::Failed)?;
        if !is_public(address) {
            return Err(FetchError::Blocked);
        }
        self.dialed.lock().unwrap().push(address);
        let (_, status, bytes) = *known.ok_or(FetchError::Failed)?;
        if bytes.len() > wanted.most {
            return Err(FetchError::TooLarge);
        }
        Ok(Fetched { status, bytes: Bytes::from_static(bytes) })
    }
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => !(v4.is_loopback() || v4.is_private() || v4.is_link_local()),
        IpAddr::V6(v6) => !v6.is_loopback(),
    }
}

pub(crate) fn json_of(answer: &Answer) -> Value {
    serde_json::from_slice(&answer.body).unwrap_or(Value::Null)
}

/// Runs a future that never waits.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}

/// A server may answer on another thread.
#[test]
fn answers_can_be_sent() {
    fn is_send<T: Send>(_: &T) {}
    let host = Fake::default();
    is_send(&answer(&host, OpenwopRequest::get("/.well-known/openwop")));
}
