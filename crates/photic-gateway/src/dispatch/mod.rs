//! Dispatch: routes each request to turns, media, openwop, the gateway's own pages, or an upstream.

mod by_model;
mod dispatcher;
mod entry;
#[cfg(test)]
mod leaks;
mod media_api;
mod model_list;
#[cfg(feature = "openwop")]
mod openwop;
mod status;

pub(crate) use dispatcher::Dispatcher;
pub(crate) use entry::{Entry, ListenerKind};
pub(crate) use media_api::MediaApi;
#[cfg(feature = "openwop")]
pub(crate) use openwop::{Objects, Openwop};
pub(crate) use status::Status;
