//! A turn of a conversation.
//!
//! ```text
//! read → recall → plan → (fetch → plan)? → prepare → lower → send → (heal)? → record → reply
//! ```
//!
//! Each stage takes the value of the one before and returns a type of its own: `InboundRequest`,
//! `RecalledRequest`, `PlannedRequest`, `FetchedInputs`, `PreparedRequest`, `LoweredRequest` and
//! `OutboundRequest`, `AnsweredRequest`, the reply. The stored state of the session is passed beside
//! the body. `turns.rs` calls the stages in this order. Recording begins as soon as the upstream has
//! accepted the turn, and continues while the reply is sent, so a reply that breaks off does not lose
//! it.

mod attempted;
mod audit;
mod batch;
mod client_words;
mod continued;
mod conversations;
mod diagnosis;
mod failover;
mod fetch;
mod frames;
#[cfg(test)]
mod future_size_tests;
mod heal;
mod kept_conversations;
mod kept_reply;
mod known_messages;
mod lower;
mod picking;
mod pipeline;
mod plan;
mod prepare;
mod read;
mod recall;
mod record;
mod rejection_text;
mod reply;
mod reply_headers;
mod send;
mod sent_media;
mod server_state;
mod spending;
mod translate;
mod turns;
mod unwrap;
mod usage_tap;

pub(crate) use conversations::Conversations;
pub(crate) use failover::judge;
pub(crate) use fetch::Fetcher;
pub(crate) use frames::{FrameHealing, FrameRejection, FrameTurn, blames_media};
pub(crate) use pipeline::Pipeline;
pub(crate) use plan::Planner;
pub(crate) use read::Repair;
pub(crate) use recall::Recall;
pub(crate) use record::TurnRecorder;
pub(crate) use reply_headers::say_upstream;
pub(crate) use turns::Turns;
