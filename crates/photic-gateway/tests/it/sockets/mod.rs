//! WebSockets between clients, the gateway and upstreams.

mod client;
mod closing;
mod compressed;
mod cut;
mod faults;
mod frames;
mod healed;
mod peer;
mod refused;
mod remembered;
mod stopping;
mod tunneled;
