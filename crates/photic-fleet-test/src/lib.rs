//! Load and fault tests of the fleet. Simulated agents send conversations through the gateways,
//! links to the servers break on request, and a witness reads everything back afterwards. It is
//! used by the suites in CI and is not published.
//!
//! ```
//! use photic_fleet_test::links::Mode;
//!
//! let mode: Mode = "slow 1000 50".parse().unwrap();
//! assert!(matches!(mode, Mode::Slow { rate: 1000, .. }));
//! ```
//!
//! | module | purpose |
//! |---|---|
//! | [`agents`] | simulated agents (`fleet-test-agents`) |
//! | [`links`] | links that break on request (`fleet-test-links`) |
//! | [`check`] | the witness: reads back what was acknowledged (`fleet-test-check`) |
//! | [`connection`] | HTTP connections of the agents |
//! | [`journal`] | acknowledgements, as lines of a file |
//! | [`tenants`] | tenants and their keys (`fleet-test-keys`) |
//!
//! # What it does not do
//!
//! It uses no module of the gateway: it speaks HTTP, and reads the stores like any client. It
//! connects only to given addresses.

pub mod agents;
pub mod check;
pub mod connection;
pub mod journal;
pub mod links;
pub mod tenants;
