//! The tools as an agent meets them: what they show, what they refuse, and in which words.
#![expect(clippy::unwrap_used, reason = "a test that cannot make its world has failed")]

mod asking;
mod batch;
#[cfg(unix)]
mod confinement;
mod documents;
mod keeping;
#[cfg(unix)]
mod names;
mod reading;
mod seed_001;
mod seed_003;
#[cfg(unix)]
mod swapping;
mod viewing;
mod world;
