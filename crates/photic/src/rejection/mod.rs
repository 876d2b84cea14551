//! Rejections: what a provider's refusal of a request means for the images in it.
//!
//! Owns the classes a healer branches on, and how an answer is read: the envelope is peeled, the
//! ordered rules of `profiles/rejections.toml` are tried, and the place it names becomes a JSON
//! pointer. Must never panic on any body, and must prefer `unrelated` to a guess: a wrong class
//! costs the user pixels.

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

/// What a rejection is about.
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
    /// The declared type is not that of the bytes, or is no type at all.
    BadLabel,
    /// The model takes no media of this kind anywhere.
    ModalityUnsupported,
    /// The media stands where this endpoint does not take it, a tool result for instance.
    RoleNotAllowed,
    /// Messages stand in an order, or calls without a reply, that the endpoint refuses.
    Order,
    /// A text that must say something is empty.
    EmptyText,
    /// The whole request has too many bytes.
    BodyTooLarge,
    /// The whole request has too many tokens.
    ContextOverflow,
    /// A setting is not known to this endpoint or model.
    KnobUnsupported,
    /// The provider could not or would not fetch an address; inline bytes would do.
    FetchFailed,
    /// Not about media: rate limits, keys, money, outages, anything else.
    Unrelated,
}

/// A provider's refusal, understood as far as it goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rejection {
    /// What it is about.
    pub class: Class,
    /// The limit it names: bytes, pixels, images or tokens, as the class implies.
    pub limit: Option<u64>,
    /// A JSON pointer into the rejected request, such as `/messages/3/content/1`.
    pub position: Option<String>,
    /// The innermost message of the provider, at most a few kilobytes of it.
    pub text: String,
}

/// Reads a provider's answer to a request it refused.
pub fn classify(status: Option<u16>, body: &str) -> Rejection {
    understood(status, envelope::peel(body))
}

/// Reads a provider's answer by its own words: everything that the request says itself is left out
/// of it first. A class that rests on what the caller wrote is then [`Class::Unrelated`].
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
