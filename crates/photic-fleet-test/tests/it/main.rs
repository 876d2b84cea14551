//! Tests of the witness: it notices every kind of loss and leak.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod strangers;
mod witness;
