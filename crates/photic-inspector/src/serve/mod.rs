//! The inspector over HTTP: files of the viewer, the API, and events.

mod access;
mod events;
mod listener;
mod service;

pub use access::{Access, Token, WeakToken};
pub use listener::{StartError, UiServer};
pub use service::{ResponseBody, Service};
