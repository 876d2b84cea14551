//! The provider APIs ("wires") that photic reads and writes: one folder and one implementation of
//! `Protocol` each.

pub(crate) mod anthropic;
pub(crate) mod bedrock_converse;
mod blocks;
mod detect;
mod envelope;
pub(crate) mod gemini;
mod http;
mod name;
pub(crate) mod ollama;
mod openai;
pub(crate) mod openai_chat;
pub(crate) mod openai_responses;
mod parts;
mod protocol;
mod registry;
mod rules;
#[cfg(feature = "sample-wire")]
mod sample;
mod signature;
mod table;
mod turn_path;

pub use detect::{detect, detect_reply};
pub use envelope::{Envelope, Purpose, holds_no_conversation};
pub use http::{BaseVersion, ErrorKind, ErrorWords, FramingKind, Http, PathParams, escaped};
pub use name::Wire;
pub(crate) use protocol::{Protocol, StreamReader, StreamWriter};
pub(crate) use rules::{AllowedTools, MessageRules};
pub use signature::is_body_signed;
pub use turn_path::TurnPath;
