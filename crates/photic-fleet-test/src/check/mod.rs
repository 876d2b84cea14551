//! The witness: reads back through the stores and through HTTP what agents were promised.
//!
//! Owns what counts as lost, wrong or leaked. Must never take a promise from the stores themselves:
//! what has to be there is known from the journal alone.

mod audits;
mod foreign;
mod recall;
mod replicas;
mod turns;

use bytes::Bytes;
use hyper::Method;
use hyper::header::HeaderName;
use serde::{Deserialize, Serialize};

use crate::agents::Last;
use crate::door::Ask;

pub use audits::audits;
pub use foreign::foreign;
pub use recall::Recalled;
pub use replicas::replicas;
pub use turns::turns;

/// What was looked at, and what was wrong with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// Turns that were promised.
    pub promised: u64,
    /// Those of them that are not as promised: gone, or of another body.
    pub lost: u64,
    /// Turns whose body was made again, byte for byte.
    pub reproduced: u64,
    /// Pictures that were read back.
    pub pictures: u64,
    /// Answers to somebody else's reference that were held against those to a random one.
    pub foreign: u64,
    /// Requests that were sent to every replica.
    pub compared: u64,
    /// Rows of audits whose chain is whole.
    pub audited: u64,
    /// What is wrong, each in a line; the first of many.
    pub complaints: Vec<String>,
    /// How many there are.
    pub complained: u64,
}

/// Complaints that are told in full.
const TOLD: usize = 60;

impl Findings {
    /// Notes that something is wrong.
    pub fn complain(&mut self, what: String) {
        self.complained += 1;
        if self.complaints.len() < TOLD {
            self.complaints.push(what);
        }
    }

    /// Takes in what was found elsewhere.
    pub fn add(&mut self, other: Self) {
        self.promised += other.promised;
        self.lost += other.lost;
        self.reproduced += other.reproduced;
        self.pictures += other.pictures;
        self.foreign += other.foreign;
        self.compared += other.compared;
        self.audited += other.audited;
        self.complained += other.complained;
        let room = TOLD.saturating_sub(self.complaints.len());
        self.complaints.extend(other.complaints.into_iter().take(room));
    }
}

/// A request that can be sent again, in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Which session of the agents it ended.
    pub session: u32,
    /// Whose it is.
    pub tenant: String,
    path: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl Sample {
    /// The last request of a session.
    pub fn of(last: &Last) -> Self {
        let headers = last.ask.headers.iter();
        Self {
            session: last.session,
            tenant: last.tenant.clone(),
            path: last.ask.path.clone(),
            headers: headers.map(|(name, value)| (name.to_string(), value.clone())).collect(),
            body: String::from_utf8_lossy(&last.ask.body).into_owned(),
        }
    }

    fn ask(&self) -> Ask {
        let headers = self.headers.iter().filter_map(|(name, value)| {
            Some((HeaderName::from_bytes(name.as_bytes()).ok()?, value.clone()))
        });
        let headers = headers.collect();
        let body = Bytes::from(self.body.clone());
        Ask { method: Method::POST, path: self.path.clone(), headers, body }
    }
}
