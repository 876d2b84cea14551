//! The interface between the protocol and its host.

use std::future::Future;
use std::net::IpAddr;

use bytes::Bytes;

use crate::Modality;

/// Everything the protocol needs from its host: tenants, models, storage, network.
///
/// A [`Host::Tenant`] is derived from the key only. Tenant names in a body merely partition the
/// space of that tenant.
pub trait Host: Sync {
    /// An authenticated caller.
    type Tenant: Send + Sync;

    /// Returns the media that calls may contain, in the advertised order. Text is always accepted.
    fn modalities(&self) -> &[Modality];

    /// Returns the size limits.
    fn limits(&self) -> Limits;

    /// Returns the providers that can be called.
    fn providers(&self) -> Vec<Provider>;

    /// Returns the model of a call that names none. Without a default such a call is checked and
    /// answered, but not sent.
    fn default_model(&self) -> Option<String> {
        None
    }

    /// Returns the rule for text without a statement about its trust.
    fn basis(&self) -> TrustBasis {
        TrustBasis::Caller
    }

    /// Authenticates a key. Returns `None` if it is invalid.
    fn tenant(
        &self,
        bearer: Option<&str>,
    ) -> impl Future<Output = Result<Option<Self::Tenant>, HostError>> + Send;

    /// Asks a model. Returns the body of a chat completion.
    fn call(
        &self,
        tenant: &Self::Tenant,
        request: CallRequest,
    ) -> impl Future<Output = Result<Bytes, CallError>> + Send;

    /// Stores media under a new reference that expires.
    fn create_media(
        &self,
        tenant: &Self::Tenant,
        media: Media,
    ) -> impl Future<Output = Result<MediaReference, HostError>> + Send;

    /// Looks up a reference. Returns `None` if it is foreign, expired, deleted or unknown.
    fn resolve(
        &self,
        tenant: &Self::Tenant,
        media_ref: &str,
    ) -> impl Future<Output = Result<Option<(Media, MediaReference)>, HostError>> + Send;

    /// Deletes a reference. Returns whether it existed.
    fn forget(
        &self,
        tenant: &Self::Tenant,
        media_ref: &str,
    ) -> impl Future<Output = Result<bool, HostError>> + Send;

    /// Stores an object and replaces an existing one.
    fn put_media(
        &self,
        tenant: &Self::Tenant,
        place: &ObjectKey,
        media: Media,
    ) -> impl Future<Output = Result<(), HostError>> + Send;

    /// Reads an object.
    fn get_media(
        &self,
        tenant: &Self::Tenant,
        place: &ObjectKey,
    ) -> impl Future<Output = Result<Option<Media>, HostError>> + Send;

    /// Deletes an object. Returns whether it existed.
    fn remove_media(
        &self,
        tenant: &Self::Tenant,
        place: &ObjectKey,
    ) -> impl Future<Output = Result<bool, HostError>> + Send;

    /// Lists the objects whose keys begin with the key of `beginning`, in order, after `after`.
    fn list_media(
        &self,
        tenant: &Self::Tenant,
        beginning: &ObjectKey,
        after: Option<&str>,
    ) -> impl Future<Output = Result<ObjectPage, HostError>> + Send;

    /// Creates a signed URL of an object that is valid for some seconds. Returns `None` if the
    /// object does not exist.
    fn presign(
        &self,
        tenant: &Self::Tenant,
        place: &ObjectKey,
        seconds: u32,
    ) -> impl Future<Output = Result<Option<PresignedUrl>, HostError>> + Send;

    /// Returns the content behind a URL of [`Host::presign`].
    fn shown(
        &self,
        token: &str,
    ) -> impl Future<Output = Result<PresignedContent, HostError>> + Send;

    /// Fetches an untrusted URL. The name is resolved once, all its addresses must be public, and
    /// the checked address is dialed.
    fn fetch(
        &self,
        tenant: &Self::Tenant,
        wanted: Wanted<'_>,
    ) -> impl Future<Output = Result<Fetched, FetchError>> + Send;
}

/// Size limits, in bytes unless the name says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest part of a call, whatever its source.
    pub part: usize,
    /// Largest total of all media of a call.
    pub call: usize,
    /// Largest object; `None` disables object storage.
    pub object: Option<usize>,
    /// Largest fetched file.
    pub fetched: usize,
    /// Longest time of a fetch in milliseconds.
    pub fetch_ms: u32,
}

/// A provider that can be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provider {
    /// Its name, never a URL.
    pub id: String,
    /// Set if callers use their own keys.
    pub byok: bool,
    /// Set if the operator hosts it.
    pub self_hosted: bool,
    /// Its model for calls that name none.
    pub model: Option<String>,
}

/// Rule for text without a statement about its trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrustBasis {
    /// It is trusted as part of an authenticated request.
    Caller,
    /// It is not trusted and is marked.
    Nobody,
}

/// A call to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRequest {
    /// The requested provider.
    pub provider: Option<String>,
    /// The model.
    pub model: String,
    /// The body of a chat completion.
    pub body: Bytes,
}

/// Bytes and their media type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Media {
    /// The declared media type.
    pub media_type: String,
    /// All bytes.
    pub bytes: Bytes,
}

/// A reference to stored media.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaReference {
    /// The opaque reference. It is valid for its tenant only.
    pub media_ref: String,
    /// Expiry in milliseconds since 1970.
    pub expires_ms: u64,
}

/// Position of an object below its tenant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectKey {
    /// The `tenantId` of the body. It partitions the space of the tenant and gives no access to
    /// others.
    pub space: String,
    /// The bucket.
    pub bucket: String,
    /// The key.
    pub key: String,
}

/// An object in a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectEntry {
    /// Its key.
    pub key: String,
    /// Its size in bytes.
    pub bytes: u64,
}

/// A page of a listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectPage {
    /// Objects in the order of keys.
    pub entries: Vec<ObjectEntry>,
    /// Set if more objects follow.
    pub more: bool,
}

/// A signed URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresignedUrl {
    /// The token for [`Host::shown`]: letters, digits, `-`, `_` and `.`.
    pub token: String,
    /// Expiry in milliseconds since 1970.
    pub expires_ms: u64,
}

/// Content behind a signed URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PresignedContent {
    /// The object.
    Media(Media),
    /// The URL has expired or its signature is invalid.
    Refused,
}

/// A request to fetch a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted<'a> {
    /// The URL.
    pub url: &'a str,
    /// Largest file in bytes.
    pub most: usize,
    /// Address to use instead of the resolved one. The test suite simulates DNS rebinding with it;
    /// it is checked like any resolved address.
    pub resolves_to: Option<IpAddr>,
}

/// A fetched file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub bytes: Bytes,
}

/// Reason why nothing was fetched. Resolved addresses and server messages are not revealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchError {
    /// The address is not allowed.
    Blocked,
    /// The file is too large.
    TooLarge,
    /// The fetch failed.
    Failed,
}

/// Reason why the host cannot answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// The host has no storage.
    #[error("this host does not store media")]
    NoStore,
    /// The storage does not accept this kind of media.
    #[error("this host does not store media of that kind")]
    NotTaken,
    /// The storage is unavailable.
    #[error("the storage of this host is unavailable; try again later")]
    Unavailable,
    /// There are too many concurrent requests.
    #[error("this host is overloaded; try again soon")]
    Busy,
    /// The quota of the tenant is exhausted.
    #[error("the quota of this key is used up; try again later")]
    Quota {
        /// Seconds until a retry may succeed.
        retry_after_s: u32,
    },
}

/// Reason why a model did not answer. Messages of the provider are not included, because they may
/// reveal its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The provider is unreachable or failed.
    #[error("the provider is not available")]
    Unavailable,
    /// The provider limits requests, or its account has no money.
    #[error("the quota at the provider is used up")]
    QuotaExhausted,
    /// The provider is not configured.
    #[error("the provider is not supported by this host")]
    ProviderNotSupported,
    /// No provider serves the model.
    #[error("the model is not supported by this host")]
    ModelNotSupported,
    /// The provider rejected the key of the call.
    #[error("the provider refused the credentials of this call")]
    CredentialRefused,
    /// The call is longer than the model accepts.
    #[error("the call is longer than the model takes")]
    ContentTooLong,
    /// A picture cannot be decoded.
    #[error("a picture cannot be decoded")]
    InvalidImage,
    /// The provider rejected the call for another reason.
    #[error("the provider rejected the call")]
    Rejected,
    /// The host itself failed.
    #[error("this host cannot answer now")]
    Host(HostError),
}
