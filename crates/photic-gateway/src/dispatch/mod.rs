//! Dispatch: which part of the gateway answers a request.

mod dispatcher;
mod entry;
#[cfg(test)]
mod leaks;
mod media_api;
#[cfg(feature = "openwop")]
mod openwop;
mod status;

pub(crate) use dispatcher::Dispatcher;
pub(crate) use entry::{Entry, ListenerKind};
pub(crate) use media_api::MediaApi;
#[cfg(feature = "openwop")]
pub(crate) use openwop::{Objects, Openwop};
pub(crate) use status::Status;
