//! What the protocol needs of the world, as one trait. Whoever serves it implements this; nothing
//! here says how.

use std::future::Future;
use std::net::IpAddr;

use bytes::Bytes;

use crate::Modality;

/// Who answers for everything that is no protocol.
///
/// A [`Host::Tenant`] comes from a key and from nothing else: whatever a body says about tenants
/// only divides the space of the one who asks.
pub trait Host: Sync {
    /// Somebody who may ask.
    type Tenant: Send + Sync;

    /// Which media calls may carry, in the order in which they are advertised. Words are always
    /// taken.
    fn modalities(&self) -> &[Modality];

    /// What is too much.
    fn limits(&self) -> Limits;

    /// Whom calls can be led to.
    fn providers(&self) -> Vec<Provider>;

    /// The model of a call that names none. Without one such a call is checked and answered, and
    /// goes to nobody.
    fn default_model(&self) -> Option<String> {
        None
    }

    /// Why words that say nothing about their trust are not marked.
    fn basis(&self) -> Basis {
        Basis::Caller
    }

    /// Whose key this is; `None` if nobody's.
    fn tenant(
        &self,
        bearer: Option<&str>,
    ) -> impl Future<Output = Result<Option<Self::Tenant>, HostError>> + Send;

    /// Asks a model. The answer is the body of a Chat completion.
    fn call(
        &self,
        tenant: &Self::Tenant,
        request: CallRequest,
    ) -> impl Future<Output = Result<Bytes, CallError>> + Send;

    /// Stores a medium under a new reference, which expires.
    fn create_media(
        &self,
        tenant: &Self::Tenant,
        media: Media,
    ) -> impl Future<Output = Result<MediaReference, HostError>> + Send;

    /// What a reference stands for; `None` if it is another tenant's, old, removed, or never was.
    fn resolve(
        &self,
        tenant: &Self::Tenant,
        media_ref: &str,
    ) -> impl Future<Output = Result<Option<(Media, MediaReference)>, HostError>> + Send;

    /// Forgets a reference, and says whether there was one.
    fn forget(
        &self,
        tenant: &Self::Tenant,
        media_ref: &str,
    ) -> impl Future<Output = Result<bool, HostError>> + Send;

    /// Stores an object, in place of one that is there.
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

    /// Removes an object, and says whether there was one.
    fn remove_media(
        &self,
        tenant: &Self::Tenant,
        place: &ObjectKey,
    ) -> impl Future<Output = Result<bool, HostError>> + Send;

    /// Objects whose keys begin as that of the place does, in their order, behind `after`.
    fn list_media(
        &self,
        tenant: &Self::Tenant,
        beginning: &ObjectKey,
        after: Option<&str>,
    ) -> impl Future<Output = Result<Listed, HostError>> + Send;

    /// An address that shows an object to whoever has it, for so many seconds; `None` if there is
    /// no such object.
    fn presign(
        &self,
        tenant: &Self::Tenant,
        place: &ObjectKey,
        seconds: u32,
    ) -> impl Future<Output = Result<Option<Address>, HostError>> + Send;

    /// What an address of [`Host::presign`] shows now.
    fn shown(&self, token: &str) -> impl Future<Output = Result<Shown, HostError>> + Send;

    /// Fetches an address that nobody vouches for: resolved once, every address it goes by public,
    /// and the very one that was checked dialed.
    fn fetch(
        &self,
        tenant: &Self::Tenant,
        wanted: Wanted<'_>,
    ) -> impl Future<Output = Result<Fetched, NotFetched>> + Send;
}

/// What is too much, in bytes unless a name says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// One part of a call, however it comes.
    pub part: usize,
    /// All media of a call together.
    pub call: usize,
    /// An object of the blob surface; without one there is no such surface.
    pub object: Option<usize>,
    /// What is fetched.
    pub fetched: usize,
    /// The time for a fetch.
    pub fetch_ms: u32,
}

/// Whom calls can be led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provider {
    /// A name; never an address.
    pub id: String,
    /// Whether callers bring their own keys.
    pub byok: bool,
    /// Whether it is a server of the operator's own.
    pub self_hosted: bool,
    /// Its model for calls that name none.
    pub model: Option<String>,
}

/// Why words of a caller that say nothing about their trust reach the model unmarked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// They are the request itself, and whoever wrote it showed a key.
    Caller,
    /// There is no reason: they are marked.
    Nobody,
}

/// A call, ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRequest {
    /// The provider that was asked for.
    pub provider: Option<String>,
    /// The model.
    pub model: String,
    /// The body of a Chat completion.
    pub body: Bytes,
}

/// Bytes and their type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Media {
    /// As it was declared.
    pub media_type: String,
    /// All of it.
    pub bytes: Bytes,
}

/// A new reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaReference {
    /// The reference: opaque, and without meaning to anybody else.
    pub media_ref: String,
    /// When it ends, in milliseconds since 1970.
    pub expires_ms: u64,
}

/// Where an object is, below its tenant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectKey {
    /// The `tenantId` of the body: a division of the tenant's own space, never a way out of it.
    pub space: String,
    /// The bucket.
    pub bucket: String,
    /// The key.
    pub key: String,
}

/// An object in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Its key.
    pub key: String,
    /// Its length.
    pub bytes: u64,
}

/// A page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// Objects by key.
    pub entries: Vec<Stored>,
    /// Whether there are more behind the last.
    pub more: bool,
}

/// A signed address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// What [`Host::shown`] is asked with: letters, digits, `-`, `_` and `.`.
    pub token: String,
    /// When it ends, in milliseconds since 1970.
    pub expires_ms: u64,
}

/// What a signed address shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The object.
    Media(Media),
    /// It is old, or not what was signed.
    Refused,
}

/// What is to be fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted<'a> {
    /// The address.
    pub url: &'a str,
    /// The most bytes.
    pub most: usize,
    /// What the name is to resolve to, in place of what it resolves to: how a suite plays a name
    /// that changed its address after it was checked. It is judged like any answer of a resolver.
    pub resolves_to: Option<IpAddr>,
}

/// What was fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub bytes: Bytes,
}

/// Why nothing was fetched. What a name resolved to, and what a server said, is not told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotFetched {
    /// It may not be dialed.
    Blocked,
    /// It is larger than what was asked for.
    TooLarge,
    /// It could not be had.
    Failed,
}

/// Why a host cannot answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// There is no store.
    #[error("this host keeps no media")]
    NoStore,
    /// The store does not take such bytes.
    #[error("this host keeps no media of that kind")]
    NotTaken,
    /// A store is away.
    #[error("the store of this host is away; try again later")]
    Unavailable,
    /// There are too many requests at once.
    #[error("this host has no room at the moment; try again soon")]
    Busy,
    /// The tenant has used what it may use.
    #[error("the quota of this key is used up; try again later")]
    Quota {
        /// When to try again.
        retry_after_s: u32,
    },
}

/// Why a model did not answer. There is no place for an upstream's own words: they may tell where
/// it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The provider cannot be reached, or fails.
    #[error("the provider is not available")]
    Unavailable,
    /// The provider wants fewer requests, or money.
    #[error("the quota at the provider is used up")]
    QuotaExhausted,
    /// Nobody is configured by that name.
    #[error("the provider is not supported by this host")]
    ProviderNotSupported,
    /// Nobody serves that model.
    #[error("the model is not supported by this host")]
    ModelNotSupported,
    /// The provider refused the key that came with the call.
    #[error("the provider refused the credentials of this call")]
    CredentialRefused,
    /// More than the model takes.
    #[error("the call is longer than the model takes")]
    ContentTooLong,
    /// A picture that cannot be decoded.
    #[error("a picture cannot be decoded")]
    InvalidImage,
    /// The provider refused it for another reason.
    #[error("the provider rejected the call")]
    Rejected,
    /// This host itself.
    #[error("this host cannot answer now")]
    Host(HostError),
}
