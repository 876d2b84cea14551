//! Tests of the store with real files and processes.
#![expect(clippy::unwrap_used, reason = "a test that cannot read its data has failed")]

mod blobs;
mod collect;
mod contract;
mod crash;
mod directory;
mod full;
mod handles;
mod reproduce;
mod upgrade;
