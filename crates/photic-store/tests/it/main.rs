//! What the store promises, against real files and real processes.

mod blobs;
mod collect;
mod contract;
mod crash;
mod full;
mod handles;
mod place;
mod reproduce;
