//! The servers that several gateways share: tenant keys, quotas, audit, lessons and the store.
//!
//! Everything here implements a trait of a lower layer, so a gateway without the feature `fleet` lacks
//! this module and nothing else.

mod audit;
mod availability;
mod connect;
mod keys;
mod lessons;
mod quotas;
mod servers;
mod store;

pub(crate) use connect::{ConnectError, FleetParts, connect};
pub use lessons::{forget_shared, read_shared};
