//! Tracks if the servers of the store answer.
//!
//! A failed operation marks its server as unavailable. Until the server answers again, requests are
//! still repaired and passed on, and features that need the server return an error at once.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use photic_fleet::Fleet;
use photic_store::{BlobError, Error};

use crate::record::Server;

/// Time between two checks of a server that does not answer.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);
/// Time between two checks of a server that answers. Buckets charge for requests.
const CHECK_INTERVAL: Duration = Duration::from_secs(10);
/// Time for the answer to a check.
const PING_TIMEOUT: Duration = Duration::from_secs(2);

/// The servers that did not answer lately.
#[derive(Debug, Default)]
pub(super) struct Availability {
    record: AtomicBool,
    blobs: AtomicBool,
}

impl Availability {
    const fn of(&self, server: Server) -> &AtomicBool {
        match server {
            Server::Record => &self.record,
            Server::Blobs => &self.blobs,
        }
    }

    /// Returns `true` if a server did not answer lately.
    pub(super) fn is_away(&self, server: Server) -> bool {
        self.of(server).load(Ordering::Relaxed)
    }

    /// Fails if one of the servers did not answer lately.
    pub(super) fn require(&self, needed: &[Server]) -> Result<(), Error> {
        let absent = || io::Error::from(io::ErrorKind::NotConnected).into();
        match needed.iter().find(|server| self.is_away(**server)) {
            None => Ok(()),
            Some(Server::Record) => Err(Error::Unavailable(absent())),
            Some(Server::Blobs) => Err(BlobError::Unavailable(absent()).into()),
        }
    }

    /// Marks a server as unavailable if the result of an operation says so.
    pub(super) fn notice<T>(&self, tried: Result<T, Error>) -> Result<T, Error> {
        match &tried {
            Err(Error::Unavailable(_)) => self.record.store(true, Ordering::Relaxed),
            Err(Error::Blob(BlobError::Unavailable(_))) => {
                self.blobs.store(true, Ordering::Relaxed);
            }
            _ => {}
        }
        tried
    }

    /// Marks the bucket as unavailable if the result of an operation on blobs says so.
    pub(super) fn notice_blobs<T>(&self, tried: Result<T, BlobError>) -> Result<T, BlobError> {
        if matches!(tried, Err(BlobError::Unavailable(_))) {
            self.blobs.store(true, Ordering::Relaxed);
        }
        tried
    }

    /// Checks both servers periodically. Never returns.
    pub(super) async fn watch(&self, fleet: &Fleet) {
        tokio::join!(
            self.ask(Server::Record, || fleet.record.is_there()),
            self.ask(Server::Blobs, || fleet.bucket.is_there()),
        );
    }

    async fn ask<F: Future<Output = bool>>(&self, server: Server, is_there: impl Fn() -> F) {
        loop {
            let there = tokio::time::timeout(PING_TIMEOUT, is_there()).await.unwrap_or(false);
            self.of(server).store(!there, Ordering::Relaxed);
            let mut waited = Duration::ZERO;
            // A request may notice earlier that it does not answer.
            while waited < CHECK_INTERVAL && !self.is_away(server) {
                tokio::time::sleep(RETRY_INTERVAL).await;
                waited += RETRY_INTERVAL;
            }
            if !there {
                tokio::time::sleep(RETRY_INTERVAL).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_away_is_noticed_and_refused() {
        let away = Availability::default();
        away.require(&Server::ALL).unwrap();
        let failed = || io::Error::other("gone").into();
        away.notice::<()>(Err(Error::Random)).unwrap_err();
        away.require(&Server::ALL).unwrap();
        away.notice::<()>(Err(BlobError::Unavailable(failed()).into())).unwrap_err();
        assert_eq!(Server::ALL.map(|server| away.is_away(server)), [false, true]);
        assert!(matches!(away.require(&Server::ALL), Err(Error::Blob(BlobError::Unavailable(_)))));
        away.require(&[Server::Record]).unwrap();
        away.notice::<()>(Err(Error::Unavailable(failed()))).unwrap_err();
        assert!(matches!(away.require(&Server::ALL), Err(Error::Unavailable(_))));
    }
}
