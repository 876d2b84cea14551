//! OpenAI Chat Completions, and the many servers that imitate it.
//!
//! Its trap: a `tool` message carries text only, so images have to stand in a user message.

mod lift;
mod lower;
mod reply;
mod settings;
mod stream_in;
mod stream_out;
mod unread;

pub(crate) use lift::lift;
pub(crate) use lower::{body, content, unit};
pub(crate) use reply::{error, lift_reply, lower_reply};
pub(crate) use settings::word;
pub(crate) use stream_in::StreamReader;
pub(crate) use stream_out::StreamWriter;
pub(crate) use unread::unread;
