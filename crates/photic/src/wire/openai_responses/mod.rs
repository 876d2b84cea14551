//! OpenAI Responses: a flat list of typed items.
//!
//! Its trap: `image_url` is a string here, and a call and its output are items of their own.

mod lift;
mod lower;
mod reply;
mod stream_lift;
mod stream_lower;

pub(crate) use lift::lift;
pub(crate) use lower::{body, content, unit};
pub(crate) use reply::{lift_reply, lower_reply};
pub(crate) use stream_lift::StreamLift;
pub(crate) use stream_lower::StreamLower;
