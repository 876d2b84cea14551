//! Why no reply came, as far as a caller can act on it.

use std::error::Error as StdError;

use crate::body::{BrokeOff, TooLarge};

pub(crate) type BoxError = Box<dyn StdError + Send + Sync>;

/// Why a request got no reply.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No connection: wrong address, nobody listening, no trust in the certificate.
    #[error("cannot connect")]
    Connect(#[source] BoxError),
    /// The reply did not begin in time.
    #[error("no reply in time")]
    Timeout,
    /// The body that was passed on is larger than allowed.
    #[error("the request body is larger than allowed")]
    TooLarge,
    /// The sender of the body that was passed on went away.
    #[error("the request body broke off")]
    BodyBrokeOff,
    /// The connection ended, or what came was no HTTP.
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
        if error.is_connect() { Self::Connect(error.into()) } else { Self::Closed(error.into()) }
    }
}
