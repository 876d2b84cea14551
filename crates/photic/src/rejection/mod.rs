//! Rejections: the meaning of a provider's error for the images in the request.
//!
//! This module owns the classes that a host branches on to repair a rejected request, and the
//! reading of an answer. The envelope is unwrapped, the ordered rules of
//! `profiles/rejections.toml` are tried, and the place named in the message becomes a JSON
//! pointer. It must never panic on any body. It must prefer `unrelated` to a guess, because a
//! wrong class costs the user pixels.

mod echo;
mod envelope;
mod position;
mod rules;
mod said;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use envelope::Layers;
pub use said::Said;

/// The subject of a rejection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// An image or document has too many bytes.
    TooLargeBytes,
    /// An image has too many pixels on a side.
    TooLargeDim,
    /// The request holds too many images.
    TooMany,
    /// An image has too few pixels on a side.
    TooSmall,
    /// The bytes are not a usable image or document.
    BadImage,
    /// The bytes are of a type the endpoint does not take.
    BadFormat,
    /// The declared type is not that of the bytes, or is not a type at all.
    BadLabel,
    /// The model takes no media of this kind anywhere.
    ModalityUnsupported,
    /// The endpoint does not take media in this place, such as a tool result.
    RoleNotAllowed,
    /// The endpoint refuses the order of the messages, or calls without a reply.
    Order,
    /// A text that must not be empty is empty.
    EmptyText,
    /// The whole request has too many bytes.
    BodyTooLarge,
    /// The whole request has too many tokens.
    ContextOverflow,
    /// A setting is not known to this endpoint or model.
    KnobUnsupported,
    /// The provider did not fetch an address. Inline bytes would work.
    FetchFailed,
    /// Not about media: rate limits, keys, money, outages, anything else.
    Unrelated,
}

/// A provider's rejection, as far as it is understood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rejection {
    /// The subject.
    pub class: Class,
    /// The limit it names: bytes, pixels, images or tokens, as the class implies.
    pub limit: Option<u64>,
    /// A JSON pointer into the rejected request, such as `/messages/3/content/1`.
    pub position: Option<String>,
    /// The provider's innermost message, at most a few kilobytes of it.
    pub text: String,
}

/// Reads a provider's answer to a request it refused.
pub fn classify(status: Option<u16>, body: &str) -> Rejection {
    understood(status, envelope::peel(body))
}

/// Reads a provider's answer without the parts that quote the request. A class that follows only
/// from text of the caller is then [`Class::Unrelated`].
pub fn classify_own_words(status: Option<u16>, body: &str, request: &[Said<'_>]) -> Rejection {
    let mut layers = envelope::peel(body);
    echo::blank(&mut layers, request);
    understood(status, layers)
}

fn understood(status: Option<u16>, layers: Layers) -> Rejection {
    let (class, limit) = rules::decide(status, &layers);
    let position = layers.all().find_map(position::pointer);
    Rejection { class, limit, position, text: layers.innermost }
}
