//! `photic mcp` as a host meets it: plain JSON-RPC on both transports, both protocol versions.

mod client;
mod doors;
mod looking;
mod patience;
mod probing;
mod versions;
