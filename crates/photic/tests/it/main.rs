//! What `photic` promises, tested on its public functions only.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot read its data has failed"
)]

mod base64_runs;
mod call_ids;
mod capability;
mod captured;
mod cases;
mod choices;
mod codex_tools;
mod conservation;
mod dumps;
mod golden;
mod harness;
mod known_prefix;
mod lesson;
mod marks;
mod planner;
mod properties;
mod replies;
mod retention;
mod server_side;
mod session_cost;
mod sessions;
mod simulate;
mod split_media;
mod streams;
mod support;
mod unknown;
