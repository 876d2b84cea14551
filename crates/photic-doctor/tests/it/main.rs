//! End-to-end tests: damaged sessions of every format are rejected as they are, and accepted once
//! repaired, with nothing else changed.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cases;
mod cut;
mod externalize;
mod healing;
mod provider;
mod replay;
mod sessions;
mod single;
