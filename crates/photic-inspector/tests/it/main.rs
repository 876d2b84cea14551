//! Tests of the inspector over a recorded session: its answers, its rules of access, and its exports.
#![expect(clippy::unwrap_used, reason = "a test that cannot make its world has failed")]

mod access;
mod api;
mod events;
mod export;
mod world;
