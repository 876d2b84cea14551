//! What the store promises, against real files and real processes.

mod blobs;
mod contract;
mod crash;
mod handles;
mod place;
