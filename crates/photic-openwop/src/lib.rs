//! The protocol of an openwop host: what it says about itself, AI calls whose messages carry
//! pictures, sounds and documents, references to media, and the seams its conformance suite drives.
//!
//! ```
//! use photic_openwop::{Asked, Host, answer, is_ours};
//!
//! async fn served(host: &impl Host, path: &str, key: &str, body: bytes::Bytes) -> u16 {
//!     if !is_ours(path) {
//!         return 404;
//!     }
//!     let asked = Asked { bearer: Some(key), ..Asked::post(path, body) };
//!     answer(host, asked).await.status
//! }
//! ```
//!
//! A server hands over what was [`Asked`] and sends back the [`Answer`]. Everything that has to be
//! done in the world (who is asking, models, stored media, the network, the clock) is a function of
//! [`Host`].
//!
//! # What it does not do
//!
//! It opens no connection, reads no clock and draws no random number; it runs no workflows. No
//! answer holds words of an upstream's error, for they may tell where the upstream is.

mod admit;
mod call;
mod chat;
mod content;
mod discovery;
mod exchange;
mod failure;
mod fetching;
mod host;
mod media;
mod modality;
mod read;
mod serve;
mod surface;
pub mod untrusted;
mod wrap;

pub use exchange::{Answer, Asked};
pub use host::{
    Address, Basis, CallError, CallRequest, Fetched, Host, HostError, Limits, Listed, Media,
    MediaReference, NotFetched, ObjectKey, Provider, Shown, Stored, Wanted,
};
pub use modality::Modality;
pub use serve::{answer, is_ours, is_public};
