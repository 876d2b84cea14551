//! Tests of the protocol against a host in memory.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests fail by panicking"
)]

mod calls;
mod discovery;
mod fetching;
mod flat;
mod host;
mod marks;
mod media;
mod schema;
mod surface;
