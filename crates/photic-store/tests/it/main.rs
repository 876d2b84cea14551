//! What the store promises, against real files and real processes.

mod blobs;
mod handles;
mod place;
