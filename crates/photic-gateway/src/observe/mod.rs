//! Observes requests: the facts about each one, metrics, the log, and traces.

mod access;
mod conclude;
mod facts;
mod fixes;
mod gauges;
mod guard;
mod log;
mod metrics;
mod otlp;
mod outcome;
mod price;
mod request_log;
mod series;
mod socket_counts;
mod tally;
mod time;
mod trace;
mod upstream_counts;
mod usage;
mod usage_log;

pub(crate) use facts::Facts;
pub(crate) use fixes::Fixes;
pub(crate) use gauges::{Gauges, UpstreamFigures};
pub(crate) use guard::{RequestGuard, Watched, Watchers};
pub(crate) use log::Log;
pub(crate) use otlp::{Exporter, endpoint};
pub(crate) use outcome::Outcome;
pub(crate) use price::TurnPrice;
pub(crate) use request_log::RequestLog;
pub(crate) use socket_counts::SocketKind;
pub use tally::{FailedRequests, Retired, SessionTurns, Tally, TokenUse};
pub(crate) use usage_log::UsageLog;
