//! Tests of the fleet on real servers, which `tests/e2e/fleet/with` starts. Without servers every test
//! says so and passes.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that cannot read its data has failed, and says what it measured"
)]

mod audit;
mod blobs;
mod cluster;
mod contract;
mod crash;
mod examine;
mod forget;
mod keys;
mod packs;
mod proxy;
mod quota;
mod replicas;
mod restart;
mod retire;
mod servers;
mod tenants;
mod throughput;
mod unavailable;
mod upgrade;
mod uploads;
