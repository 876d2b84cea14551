//! Ollama's own chat: content is one string, and pictures stand beside it as bare base64.
//!
//! Its traps: no types, no addresses, and `[img]` in the text says where each picture belongs.

mod lift;
mod lower;
mod reply;
mod settings;
mod stream_in;
mod stream_out;
mod unread;

pub(crate) use lift::lift;
pub(crate) use lower::{body, content, images, unit};
pub(crate) use reply::{lift_reply, lower_reply};
pub(crate) use settings::word;
pub(crate) use stream_in::StreamReader;
pub(crate) use stream_out::StreamWriter;
pub(crate) use unread::unread;

/// Where a picture belongs, in a text.
const MARKER: &str = "[img]";
