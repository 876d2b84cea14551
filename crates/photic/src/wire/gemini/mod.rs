//! Google's `generateContent`: contents of parts, results as `functionResponse` parts of the user.
//!
//! Its traps: a result carries media in `parts` on Gemini 3 and later only, names its tool, and a
//! replayed call wants the signature of the thought behind it. Ids of calls are optional.

mod lift;
mod lower;
mod reply;
mod schema;
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
