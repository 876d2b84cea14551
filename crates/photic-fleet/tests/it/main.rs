//! What the fleet's stores promise, on real servers: `.ci/fleet/with` starts them. Where there are
//! none, every test says so and passes.
#![expect(clippy::unwrap_used, reason = "a test that cannot read its data has failed")]

mod away;
mod blobs;
mod contract;
mod examine;
mod keys;
mod replicas;
mod retire;
mod servers;
