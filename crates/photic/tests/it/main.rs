//! What `photic` promises, tested on its public functions only.

mod captured;
mod golden;
mod harness;
mod replies;
