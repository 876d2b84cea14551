//! The protocol of an openwop host. It answers discovery, AI calls whose messages contain pictures,
//! sounds and documents, uploads of media, and the endpoints of the conformance suite. A server
//! passes requests in and sends the answers; everything else is behind the [`Host`] trait.
//!
//! ```
//! use photic_openwop::{Host, OpenwopRequest, answer, is_ours};
//!
//! async fn serve(host: &impl Host, path: &str, key: &str, body: bytes::Bytes) -> u16 {
//!     if !is_ours(path) {
//!         return 404;
//!     }
//!     let request = OpenwopRequest { bearer: Some(key), ..OpenwopRequest::post(path, body) };
//!     answer(host, request).await.status
//! }
//!
//! assert!(is_ours("/.well-known/openwop"));
//! ```
//!
//! | module | purpose |
//! |---|---|
//! | `serve` | routes, authentication, protocol versions |
//! | `exchange` | [`OpenwopRequest`] and [`Answer`] |
//! | `host` | the [`Host`] trait and its types |
//! | `discovery` | the discovery document |
//! | `call` | the AI call |
//! | `admit`, `read`, `content` | parse the messages of a call |
//! | `chat` | chat completions: request body and answer |
//! | `modality` | text, image, audio, document |
//! | [`untrusted`] | marks around untrusted content |
//! | `media` | uploaded media and signed URLs |
//! | `surface`, `safe_fetch`, `wrap` | endpoints of the conformance suite |
//! | `failure` | errors and their envelope |
//!
//! # What it does not do
//!
//! It opens no connections, reads no clock, uses no random numbers, and runs no workflows. No
//! answer contains the error message of a provider, because it may reveal where the provider is.

mod admit;
mod call;
mod chat;
mod content;
mod discovery;
mod exchange;
mod failure;
mod host;
mod media;
mod modality;
mod read;
mod safe_fetch;
mod serve;
mod surface;
pub mod untrusted;
mod wrap;

pub use exchange::{Answer, OpenwopRequest};
pub use host::{
    CallError, CallRequest, FetchError, Fetched, Host, HostError, Limits, Media, MediaReference,
    ObjectEntry, ObjectKey, ObjectPage, PresignedContent, PresignedUrl, Provider, TrustBasis,
    Wanted,
};
pub use modality::Modality;
pub use serve::{answer, is_ours, is_public};
