//! Settings that limit sizes, connections and times.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::memory_size::default_mib;

/// Limits of sizes and connections.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Maximum size of a request body, in MiB.
    pub body_mib: u32,
    /// Maximum size of an uploaded file that is passed on without being read, in MiB. Uploads of batch
    /// files are read, and may be as large as `body_mib`.
    pub upload_mib: u32,
    /// Memory for requests and caches, in MiB: request bodies, fetched images, pixels, replies that
    /// are translated. 0 derives it: seven eighths of the container's limit less 192, or a quarter of
    /// the machine's memory, and 2048 at most. A quarter is for caches. While other callers use memory,
    /// one caller gets at most half of the rest. A request that gets no memory within two seconds fails
    /// with 503 and `Retry-After`.
    pub memory_mib: u32,
    /// Size of the cache of prepared images, in MiB, so that later turns need not prepare them again.
    /// At most a twentieth of `memory_mib` is used.
    pub pictures_mib: u32,
    /// Size of the cache of conversations, in MiB: the words of requests that were sent unchanged, so
    /// that a later request of the same conversation is not read as a whole. A conversation takes as
    /// much as its words. 0 keeps none. At most a twentieth of `memory_mib` is used.
    pub conversations_mib: u32,
    /// Maximum client connections at once, or fewer if the process may not open as many files. Beyond
    /// it, connections without a request are closed first, then new ones get 503. The listener for
    /// operators (`admin.listen`) has 64 connections of its own.
    pub connections: u32,
    /// Maximum connections of one client address at once. Not applied to loopback addresses, and not
    /// if requests carry keys of callers (`callers.file`, `oidc.issuer`, `fleet.keys`). Behind a proxy all clients have its address.
    pub connections_per_peer: u32,
}

/// Time limits, in seconds.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Timeouts {
    /// Time to connect to an upstream.
    pub connect_s: u32,
    /// Time until the upstream sends the head of its reply.
    pub answer_s: u32,
    /// Time between two pieces of a body, in both directions, and for a client that does not read its
    /// reply. A request body must arrive within this time plus its size at 4 KiB per second.
    pub idle_s: u32,
    /// Time to prepare the images of one request. Unfinished images are replaced by a notice.
    pub pixels_s: u32,
    /// Time for running requests to finish when the gateway stops.
    pub drain_s: u32,
    /// Time for the head of a request, from its first byte.
    pub header_s: u32,
    /// Time for which an idle connection stays open. It should be longer than the clients' own, so
    /// that the client closes first and loses no request.
    pub keep_alive_s: u32,
}

impl Limits {
    /// Returns the memory budget in MiB, derived from the machine if it is not set.
    pub(crate) fn memory_mib(&self) -> u32 {
        if self.memory_mib == 0 { default_mib() } else { self.memory_mib }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_mib: 64,
            upload_mib: 512,
            memory_mib: 0,
            pictures_mib: 64,
            conversations_mib: 64,
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
