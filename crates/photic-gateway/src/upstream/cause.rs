//! The outcomes of requests to an upstream, and their counts.

use http::StatusCode;
use photic_net::{ConnectFailure, Error};

use crate::counter::Counter;

/// The outcome of a request to an upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// It answered. A rejection is an answer.
    Answered,
    /// It asked for fewer requests (429).
    RateLimited,
    /// It failed (5xx).
    ServerError,
    /// It refused the key of the gateway (401 or 403).
    KeyRefused,
    /// It did not answer in time.
    NoAnswer,
    /// It closed the connection without a reply.
    Closed,
    /// Its reply is not one of a model.
    NotAReply,
    /// Its reply broke off before it was passed on.
    BrokeOff,
    /// No connection was made.
    NoConnection(ConnectFailure),
}

impl Cause {
    /// Every outcome but those without a connection.
    const CONNECTED: [Self; 8] = [
        Self::Answered,
        Self::RateLimited,
        Self::ServerError,
        Self::KeyRefused,
        Self::NoAnswer,
        Self::Closed,
        Self::NotAReply,
        Self::BrokeOff,
    ];

    /// Returns its name in metrics, headers and logs.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::RateLimited => "rate_limited",
            Self::ServerError => "server_error",
            Self::KeyRefused => "key_refused",
            Self::NoAnswer => "no_answer",
            Self::Closed => "closed",
            Self::NotAReply => "not_a_reply",
            Self::BrokeOff => "broke_off",
            Self::NoConnection(ConnectFailure::Closed) => "closed_early",
            Self::NoConnection(failure) => failure.name(),
        }
    }

    /// Returns the outcome of a reply of this status, for a request with a key of this owner.
    pub(crate) fn of_status(status: StatusCode, key: KeyOwner) -> Self {
        match status.as_u16() {
            429 => Self::RateLimited,
            401 | 403 if key == KeyOwner::Gateway => Self::KeyRefused,
            500.. => Self::ServerError,
            _ => Self::Answered,
        }
    }

    /// Returns the outcome of an error, or `None` if it is the caller's.
    pub(crate) fn of_error(error: &Error) -> Option<Self> {
        match error {
            Error::Connect { failure, .. } => Some(Self::NoConnection(*failure)),
            Error::Timeout => Some(Self::NoAnswer),
            Error::Closed(_) => Some(Self::Closed),
            Error::TooLarge | Error::BodyBrokeOff => None,
        }
    }

    fn index(self) -> usize {
        let all = Self::CONNECTED;
        let within = |failure| ConnectFailure::ALL.iter().position(|one| *one == failure);
        match self {
            Self::NoConnection(failure) => all.len() + within(failure).unwrap_or(0),
            _ => all.iter().position(|one| *one == self).unwrap_or(0),
        }
    }

    fn all() -> impl Iterator<Item = Self> {
        Self::CONNECTED.into_iter().chain(ConnectFailure::ALL.map(Self::NoConnection))
    }
}

/// The owner of the key that an upstream gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyOwner {
    Caller,
    Gateway,
}

/// Counts of requests to one upstream, by outcome.
#[derive(Debug)]
pub(crate) struct AttemptCounts([Counter; Cause::CONNECTED.len() + ConnectFailure::ALL.len()]);

impl Default for AttemptCounts {
    fn default() -> Self {
        Self([const { Counter::new() }; Cause::CONNECTED.len() + ConnectFailure::ALL.len()])
    }
}

impl AttemptCounts {
    /// Counts a request.
    pub(crate) fn add(&self, cause: Cause) {
        self.0[cause.index()].add(1);
    }

    /// Iterates over the outcomes that occurred, with their counts.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let all = Cause::all().map(|cause| (cause.name(), self.0[cause.index()].get()));
        all.filter(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_outcome_has_a_count_and_a_name_of_its_own() {
        let counts = AttemptCounts::default();
        Cause::all().for_each(|cause| counts.add(cause));
        let all: Vec<_> = counts.iter().collect();
        let names: BTreeSet<_> = all.iter().map(|(name, _)| *name).collect();
        assert_eq!((names.len(), all.len()), (counts.0.len(), counts.0.len()));
        assert!(all.iter().all(|(_, count)| *count == 1));
    }

    #[test]
    fn a_rejection_is_an_answer_and_a_refused_key_of_the_gateway_is_none() {
        let of = |status, key| Cause::of_status(StatusCode::from_u16(status).unwrap(), key);
        for status in [200, 400, 401, 404, 413] {
            assert_eq!(of(status, KeyOwner::Caller), Cause::Answered, "{status}");
        }
        assert_eq!(of(401, KeyOwner::Gateway), Cause::KeyRefused);
        assert_eq!(of(429, KeyOwner::Gateway), Cause::RateLimited);
        assert_eq!(of(529, KeyOwner::Caller), Cause::ServerError);
    }
}
