//! What the store promises, against real files and real processes.

mod blobs;
mod contract;
mod handles;
mod place;
