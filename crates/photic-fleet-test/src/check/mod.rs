//! The witness: reads back through the stores and through HTTP what was acknowledged to the agents.
//!
//! Expectations come from the journal alone, never from the stores.

mod audits;
mod foreign;
mod recall;
mod replicas;
mod turns;

use bytes::Bytes;
use hyper::Method;
use hyper::header::HeaderName;
use serde::{Deserialize, Serialize};

use crate::agents::LastRequest;
use crate::connection::AgentRequest;

pub use audits::audits;
pub use foreign::foreign;
pub use recall::CachedBlobs;
pub use replicas::replicas;
pub use turns::turns;

/// Results of the checks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// Acknowledged turns.
    pub promised: u64,
    /// Acknowledged turns that are missing or have another body.
    pub lost: u64,
    /// Turns that were reproduced byte for byte.
    pub reproduced: u64,
    /// Pictures that were read back.
    pub pictures: u64,
    /// Answers about foreign references that were compared with those about unknown ones.
    pub foreign: u64,
    /// Requests that were sent to every replica.
    pub compared: u64,
    /// Rows of complete audit chains.
    pub audited: u64,
    /// Problems, one per line; the first of many.
    pub complaints: Vec<String>,
    /// Number of problems.
    pub complained: u64,
}

/// Largest number of listed problems.
const MAX_LISTED: usize = 60;

impl Findings {
    /// Records a problem.
    pub fn complain(&mut self, what: String) {
        self.complained += 1;
        if self.complaints.len() < MAX_LISTED {
            self.complaints.push(what);
        }
    }

    /// Adds other results.
    pub fn add(&mut self, other: Self) {
        self.promised += other.promised;
        self.lost += other.lost;
        self.reproduced += other.reproduced;
        self.pictures += other.pictures;
        self.foreign += other.foreign;
        self.compared += other.compared;
        self.audited += other.audited;
        self.complained += other.complained;
        let room = MAX_LISTED.saturating_sub(self.complaints.len());
        self.complaints.extend(other.complaints.into_iter().take(room));
    }
}

/// A stored request that can be sent again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Number of its session.
    pub session: u32,
    /// Name of the tenant.
    pub tenant: String,
    path: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl Sample {
    /// Creates it from the last request of a session.
    pub fn of(last: &LastRequest) -> Self {
        let headers = last.ask.headers.iter();
        Self {
            session: last.session,
            tenant: last.tenant.clone(),
            path: last.ask.path.clone(),
            headers: headers.map(|(name, value)| (name.to_string(), value.clone())).collect(),
            body: String::from_utf8_lossy(&last.ask.body).into_owned(),
        }
    }

    fn ask(&self) -> AgentRequest {
        let headers = self.headers.iter().filter_map(|(name, value)| {
            Some((HeaderName::from_bytes(name.as_bytes()).ok()?, value.clone()))
        });
        let headers = headers.collect();
        let body = Bytes::from(self.body.clone());
        AgentRequest { method: Method::POST, path: self.path.clone(), headers, body }
    }
}
