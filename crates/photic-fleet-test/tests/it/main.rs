//! The witness notices: every kind of loss and leak is shown to it once.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod strangers;
mod witness;
