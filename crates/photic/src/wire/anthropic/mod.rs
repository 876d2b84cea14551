//! Anthropic Messages: turns of content blocks, tool results inside user turns.
//!
//! Its traps: results come first and together, and an error result holds text only.

mod lift;
mod lower;
mod reply;
mod settings;
mod stream_in;
mod stream_out;
mod unread;

pub(crate) use lift::lift;
pub(crate) use lower::{body, content, unit};
pub(crate) use reply::{lift_reply, lower_reply};
pub(crate) use settings::word;
pub(crate) use stream_in::StreamReader;
pub(crate) use stream_out::StreamWriter;
pub(crate) use unread::unread;
