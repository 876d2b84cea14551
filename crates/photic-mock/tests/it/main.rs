//! The provider as a client meets it: over a socket, in the words of each wire.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot read its data has failed"
)]
#![expect(clippy::needless_pass_by_value, reason = "a list is made where it is handed over")]

mod bodies;
mod captured;
mod charts;
mod client;
mod counts;
mod envelopes;
mod lowered;
mod misbehaviors;
mod routes;
mod rules;
mod stored;
mod tools;
