//! Errors of a request that got no reply, one variant for each thing a caller can act on.

use std::error::Error as StdError;

use crate::body::{BrokeOff, TooLarge};
use crate::connect_failure::ConnectFailure;

pub(crate) type BoxError = Box<dyn StdError + Send + Sync>;

/// Error of a request that got no reply.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No connection was made: the address is wrong, the port is closed, or the certificate is not
    /// trusted.
    #[error("cannot connect: {failure}")]
    Connect {
        /// The reason.
        failure: ConnectFailure,
        /// The error of the system or of TLS.
        #[source]
        cause: BoxError,
    },
    /// The reply did not begin in time.
    #[error("no reply in time")]
    Timeout,
    /// The body that was passed on is larger than allowed.
    #[error("the request body is larger than allowed")]
    TooLarge,
    /// The sender of the body disconnected.
    #[error("the request body broke off")]
    BodyBrokeOff,
    /// The connection ended, or the answer was not HTTP.
    #[error("the connection ended without a reply")]
    Closed(#[source] BoxError),
}

impl Error {
    pub(crate) fn of(error: hyper_util::client::legacy::Error) -> Self {
        let mut cause: Option<&(dyn StdError + 'static)> = Some(&error);
        while let Some(inner) = cause {
            if inner.is::<TooLarge>() {
                return Self::TooLarge;
            }
            if inner.is::<BrokeOff>() {
                return Self::BodyBrokeOff;
            }
            cause = inner.source();
        }
        if error.is_connect() {
            Self::Connect { failure: ConnectFailure::of(&error), cause: error.into() }
        } else {
            Self::Closed(error.into())
        }
    }
}
