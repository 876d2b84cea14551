//! The gateway as an openwop host.

mod answer;
mod host;
mod objects;
mod settings;

pub(crate) use answer::Openwop;
pub(super) use answer::flat;
pub(crate) use objects::Objects;
