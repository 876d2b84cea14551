//! WebSockets: Responses frame by frame, every other protocol as bytes.
//!
//! ```text
//! client ─▶ read ─▶ repair (response.create) ─▶ upstream
//! client ◀───────── observe ◀────────────────── upstream
//! ```
//!
//! A socket of the client has one of its own to the upstream, because the upstream keeps the state of
//! a conversation with the connection. Each direction reads a message, handles it and writes it before
//! it reads the next, so that a slow reader slows down its writer. Frames of the upstream are passed on
//! byte for byte. They are read only to know which responses run, and what is in the conversation.

mod activity;
mod client_frame;
mod conversation;
mod create;
mod credentials;
mod ending;
mod heal;
mod incoming;
mod lanes;
mod open;
mod replies;
mod running;
mod server_frame;
mod session;
mod sockets;
mod tunnel;

pub(crate) use sockets::{SocketRequest, Sockets};
