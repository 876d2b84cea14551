//! `photic mcp` as a host meets it: plain JSON-RPC on both transports, both protocol versions.

mod apps;
mod client;
mod probing;
mod slow_answers;
mod tools;
mod transports;
mod versions;
