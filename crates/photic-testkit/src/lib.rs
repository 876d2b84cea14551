//! Test tools of photic: a strict provider that reports what a model would see, and test pictures.
//!
//! This crate is the second opinion: every rule here is written again, from the provider's side.
//! It must never depend on `photic`, because a check must not use the code that it checks.
//!
//! ```
//! use photic_testkit::{image, oracle};
//!
//! let url = image::data_url("image/png", &image::png(64, 48, [200, 0, 0]));
//! let body = format!(
//!     r#"{{"messages":[{{"role":"user","content":[{{"type":"image_url","image_url":{{"url":"{url}"}}}}]}}]}}"#
//! );
//! let seen = oracle::read("openai-chat", body.as_bytes()).expect("a provider would take this");
//! assert_eq!(seen.images[0].pixels, Some((64, 48)));
//! ```
//!
//! # What it does not do
//!
//! It decodes no pixels: a picture counts as seen if its container is whole and its label is true.

mod check;
pub mod image;
pub mod oracle;
mod split_mix;

pub use check::crc32;
pub use split_mix::SplitMix64;
