//! What the store promises, against real files and real processes.
#![expect(clippy::unwrap_used, reason = "a test that cannot read its data has failed")]

mod blobs;
mod collect;
mod contract;
mod crash;
mod full;
mod handles;
mod place;
mod reproduce;
