//! The storm that the fleet has to live through: agents who talk, links that break, and a witness
//! who reads everything back afterwards.
//!
//! Three programs, of which each is one module: `fleet-test-links` ([`links`]) stands between replicas and
//! their stores and breaks what passes, as it is told; `fleet-test-agents` ([`agents`]) holds conversations
//! as real clients do, and writes down what was promised to it; `fleet-test-check` ([`check`]) holds the
//! stores to that. `tests/e2e/fleet/load` puts them into a world of their own.
//!
//! # What it does not do
//!
//! It knows no module of the gateway: it speaks HTTP, and reads the stores as anybody would. It is
//! never published, and connects to nothing but what it is told.

pub mod agents;
pub mod check;
pub mod door;
pub mod journal;
pub mod links;
pub mod tenants;
