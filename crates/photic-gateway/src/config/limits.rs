//! Limits of size and time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::memory_size::default_mib;

/// What is too much.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// The largest request body, in MiB.
    pub body_mib: u32,
    /// The memory for everything that requests make the gateway hold, in MiB: bodies as they arrive, fetched
    /// pictures, pixels, replies that are translated, caches. 0 finds it out: seven eighths of what the
    /// container may have less 192, or a quarter of the machine's memory, and 2048 at most. One caller gets
    /// at most half while others need some; who finds no room waits a moment, and is told to come again.
    pub memory_mib: u32,
    /// What prepared pictures may take together, in MiB, so that later turns need not make them again; at
    /// most a sixteenth of `memory_mib`.
    pub pictures_mib: u32,
    /// The most connections of callers at once; fewer, where the process may not open as many files.
    /// Beyond that those go first that have not stated a request, and who comes then is told to come
    /// again. Operators' own door has 64 of its own.
    pub connections: u32,
    /// The most connections of one address at once, unless it is loopback's, or callers show keys
    /// (`fleet.keys`). Behind a proxy all have the proxy's address.
    pub connections_per_peer: u32,
}

/// What is too late, in seconds.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Timeouts {
    /// For a connection to an upstream.
    pub connect_s: u32,
    /// For the head of a reply.
    pub answer_s: u32,
    /// Between two pieces of a body, either way; and for a caller that does not read its reply. A request
    /// body has to come within that and what it takes at 4 KiB a second.
    pub idle_s: u32,
    /// For the pixels of one request; what is not made by then gives way to a notice.
    pub pixels_s: u32,
    /// For requests under way when the gateway is told to stop.
    pub drain_s: u32,
    /// For the head of a request, once it has begun.
    pub header_s: u32,
    /// For a connection between two requests. Longer than clients keep theirs: whoever closes first
    /// loses no request.
    pub keep_alive_s: u32,
}

impl Limits {
    /// The memory budget in MiB, found out where nobody says it.
    pub(crate) fn memory_mib(&self) -> u32 {
        if self.memory_mib == 0 { default_mib() } else { self.memory_mib }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_mib: 64,
            memory_mib: 0,
            pictures_mib: 64,
            connections: 1024,
            connections_per_peer: 256,
        }
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect_s: 10,
            answer_s: 600,
            idle_s: 300,
            pixels_s: 20,
            drain_s: 30,
            header_s: 15,
            keep_alive_s: 120,
        }
    }
}
