//! Tests of the tools as an agent uses them: results, refusals and their messages.
#![expect(clippy::unwrap_used, reason = "a test that cannot make its world has failed")]

mod asking;
mod batch;
#[cfg(unix)]
mod confinement;
mod documents;
mod keeping;
#[cfg(unix)]
mod listing;
#[cfg(unix)]
mod names;
mod reading;
mod seed_001;
mod seed_003;
#[cfg(unix)]
mod swapping;
mod viewing;
mod world;
