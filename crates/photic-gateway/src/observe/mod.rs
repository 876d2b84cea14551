//! Observes requests: the facts about each one, metrics, the log, and traces.

mod conclude;
mod facts;
mod fixes;
mod gauges;
mod guard;
mod log;
mod metrics;
mod otlp;
mod outcome;
mod request_log;
mod series;
mod socket_counts;
mod tally;
mod trace;

pub(crate) use facts::Facts;
pub(crate) use fixes::Fixes;
pub(crate) use gauges::{Gauges, UpstreamFigures};
pub(crate) use guard::{RequestGuard, Watched, Watchers};
pub(crate) use log::Log;
pub(crate) use otlp::{Exporter, endpoint};
pub(crate) use outcome::Outcome;
pub(crate) use request_log::RequestLog;
pub(crate) use socket_counts::SocketKind;
pub use tally::{FailedRequests, Retired, SessionTurns, Tally, TokenUse};
