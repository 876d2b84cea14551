//! Access of the quotas to the database: short timeouts, and a pause after a failure.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use photic_store::Error;

use super::limits::{QuotaOptions, lock};
use crate::Postgres;

/// Pause after the database did not answer.
const FAILURE_PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct QuotaDatabase {
    record: Postgres,
    pub(super) options: QuotaOptions,
    /// The number of this replica.
    replica: i64,
    /// Last known number of replicas.
    replicas: AtomicU64,
    /// No query is sent before this time.
    away_until: Mutex<Option<Instant>>,
    life: Mutex<Term>,
}

/// A period in which the database did not consider this replica gone.
#[derive(Debug)]
struct Term {
    number: u64,
    /// The end of the period that is certain.
    until: Option<Instant>,
}

impl QuotaDatabase {
    pub(super) fn new(record: Postgres, options: QuotaOptions) -> Result<Self, Error> {
        let mut replica = [0; 8];
        getrandom::fill(&mut replica).map_err(|_| Error::Random)?;
        Ok(Self {
            record,
            options,
            replica: i64::from_le_bytes(replica),
            replicas: AtomicU64::new(u64::from(options.replicas.max(1))),
            away_until: Mutex::new(None),
            life: Mutex::new(Term { number: 0, until: None }),
        })
    }

    /// Runs a query; `None` if it fails, takes too long, or the pause after a failure is not over.
    pub(super) async fn ask<T>(&self, asking: impl Future<Output = Result<T, Error>>) -> Option<T> {
        if !self.may_ask(Instant::now()) {
            return None;
        }
        let answer = self.in_time(asking).await.and_then(Result::ok);
        let away = answer.is_none().then(|| Instant::now() + FAILURE_PAUSE);
        *lock(&self.away_until) = away;
        answer
    }

    /// After the pause, one caller is let through to try.
    fn may_ask(&self, now: Instant) -> bool {
        let mut away_until = lock(&self.away_until);
        match *away_until {
            None => true,
            Some(until) if now < until => false,
            Some(_) => {
                *away_until = Some(now + FAILURE_PAUSE);
                true
            }
        }
    }

    /// Returns whether the last query failed.
    pub(super) fn is_away(&self) -> bool {
        lock(&self.away_until).is_some()
    }

    /// Limits a future to the time that a request may wait.
    pub(super) async fn in_time<T>(&self, doing: impl Future<Output = T>) -> Option<T> {
        tokio::time::timeout(self.options.patience, doing).await.ok()
    }

    /// Reports that this replica is alive; `None` without an answer.
    pub(super) async fn stay(&self) -> Option<()> {
        let asked = Instant::now();
        let stay = self.ask(self.record.stay(self.replica, self.options.lease)).await?;
        self.replicas.store(stay.replicas.max(1), Ordering::Relaxed);
        let mut life = lock(&self.life);
        life.number += u64::from(stay.was_gone);
        life.until = Some(asked + self.options.lease);
        Some(())
    }

    /// Returns the current term of this replica. Claims of another term are lost. `None` while the
    /// replica may be considered gone.
    pub(super) fn life(&self) -> Option<u64> {
        let life = lock(&self.life);
        life.until.filter(|until| Instant::now() < *until).map(|_| life.number)
    }

    /// Returns the interval of reports, so short that several may be lost.
    pub(super) fn rhythm(&self) -> Duration {
        (self.options.lease / 10).max(Duration::from_millis(50))
    }

    /// Returns this replica's part of a limit.
    pub(super) fn part(&self, limit: u64) -> u64 {
        (limit / self.replicas.load(Ordering::Relaxed)).max(1).min(limit)
    }

    pub(super) const fn record(&self) -> &Postgres {
        &self.record
    }

    pub(super) const fn replica(&self) -> i64 {
        self.replica
    }
}
