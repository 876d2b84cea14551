//! Which of the servers are away: noticed by whoever needs one, and asked again until it is back.
//!
//! While one is, nothing waits for it: conversations are repaired and passed on as always, and what
//! cannot be promised is refused at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use photic_fleet::Fleet;
use photic_store::{BlobError, Error};

/// How often a server that is away is asked whether it is back.
const OFTEN: Duration = Duration::from_millis(500);
/// How often one that is there is asked whether it still is: a bucket counts requests.
const SELDOM: Duration = Duration::from_secs(10);
/// How long it may take to answer that.
const PATIENCE: Duration = Duration::from_secs(2);

/// A server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Server {
    Record,
    Blobs,
}

impl Server {
    pub(crate) const ALL: [Self; 2] = [Self::Record, Self::Blobs];

    /// The word for it, in metrics and in `/ready`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Blobs => "blobs",
        }
    }
}

/// Which servers are away.
#[derive(Debug, Default)]
pub(crate) struct Availability {
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

    /// Whether a server is away.
    pub(crate) fn is(&self, server: Server) -> bool {
        self.of(server).load(Ordering::Relaxed)
    }

    /// Whether the record is away. A turn without pictures needs nothing else.
    pub(super) fn is_away(&self) -> bool {
        self.is(Server::Record)
    }

    /// Fails where one of these is away.
    pub(crate) fn refuse(&self, needed: &[Server]) -> Result<(), Error> {
        let absent = || io::Error::from(io::ErrorKind::NotConnected).into();
        match needed.iter().find(|server| self.is(**server)) {
            None => Ok(()),
            Some(Server::Record) => Err(Error::Unavailable(absent())),
            Some(Server::Blobs) => Err(BlobError::Unavailable(absent()).into()),
        }
    }

    /// Takes note of who was away when something was tried.
    pub(crate) fn notice<T>(&self, tried: Result<T, Error>) -> Result<T, Error> {
        match &tried {
            Err(Error::Unavailable(_)) => self.record.store(true, Ordering::Relaxed),
            Err(Error::Blob(BlobError::Unavailable(_))) => {
                self.blobs.store(true, Ordering::Relaxed)
            }
            _ => {}
        }
        tried
    }

    /// The same of something that was only about blobs.
    pub(crate) fn notice_blobs<T>(&self, tried: Result<T, BlobError>) -> Result<T, BlobError> {
        if matches!(tried, Err(BlobError::Unavailable(_))) {
            self.blobs.store(true, Ordering::Relaxed);
        }
        tried
    }

    /// Asks both again and again, for as long as it is let.
    pub(crate) async fn watch(self: Arc<Self>, fleet: Fleet) {
        tokio::join!(
            self.ask(Server::Record, || fleet.record.is_there()),
            self.ask(Server::Blobs, || fleet.bucket.is_there()),
        );
    }

    async fn ask<F: Future<Output = bool>>(&self, server: Server, is_there: impl Fn() -> F) {
        loop {
            let there = tokio::time::timeout(PATIENCE, is_there()).await.unwrap_or(false);
            self.of(server).store(!there, Ordering::Relaxed);
            let mut waited = Duration::ZERO;
            // Whoever needs it may find it away earlier.
            while waited < SELDOM && !self.is(server) {
                tokio::time::sleep(OFTEN).await;
                waited += OFTEN;
            }
            if !there {
                tokio::time::sleep(OFTEN).await;
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
        away.refuse(&Server::ALL).unwrap();
        let failed = || io::Error::other("gone").into();
        away.notice::<()>(Err(Error::Random)).unwrap_err();
        away.refuse(&Server::ALL).unwrap();
        away.notice::<()>(Err(BlobError::Unavailable(failed()).into())).unwrap_err();
        assert_eq!(Server::ALL.map(|server| away.is(server)), [false, true]);
        assert!(matches!(away.refuse(&Server::ALL), Err(Error::Blob(BlobError::Unavailable(_)))));
        away.refuse(&[Server::Record]).unwrap();
        away.notice::<()>(Err(Error::Unavailable(failed()))).unwrap_err();
        assert!(matches!(away.refuse(&Server::ALL), Err(Error::Unavailable(_))));
    }
}
