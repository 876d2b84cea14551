//! Amazon Bedrock's `Converse`: turns of content blocks that are named by their only member.
//!
//! Its traps: turns alternate, a document needs a neutral name and a text beside it, tool turns need
//! declared tools, and which results may hold pictures depends on the model behind it.

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
