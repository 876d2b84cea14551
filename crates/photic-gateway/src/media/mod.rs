//! Media beside the request: fetched from URLs, loaded from the store, prepared from pixels.

mod cache;
mod derivatives;
mod inputs;
mod library;
mod pixel_work;
mod remote;
mod signed_path;

pub(crate) use cache::{MediaCache, wanted};
pub(crate) use derivatives::Derivatives;
pub(crate) use inputs::{FetchedInputs, MissingInputs};
pub(crate) use library::{MAX_UPLOAD, MediaLibrary, MediaUser};
pub(crate) use pixel_work::{Allowance, PixelWork};
pub(crate) use remote::RemoteMedia;
pub(crate) use signed_path::SHOWN;
#[cfg(feature = "openwop")]
pub(crate) use signed_path::now;
