//! The database as quotas use it: asked for a moment, and left alone for a while when it does not
//! answer.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use photic_store::Error;

use super::{QuotaOptions, lock};
use crate::Postgres;

/// How long nobody asks after the database did not answer.
const LEFT_ALONE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Link {
    record: Postgres,
    pub(super) options: QuotaOptions,
    /// This replica's number.
    replica: i64,
    /// How many replicas there were when last heard.
    replicas: AtomicU64,
    /// Until when nobody asks.
    away_until: Mutex<Option<Instant>>,
    life: Mutex<Life>,
}

/// A time through which the database never thought that this replica was gone.
#[derive(Debug)]
struct Life {
    number: u64,
    /// Until when it is certain.
    until: Option<Instant>,
}

impl Link {
    pub(super) fn new(record: Postgres, options: QuotaOptions) -> Result<Self, Error> {
        let mut replica = [0; 8];
        getrandom::fill(&mut replica).map_err(|_| Error::Random)?;
        Ok(Self {
            record,
            options,
            replica: i64::from_le_bytes(replica),
            replicas: AtomicU64::new(u64::from(options.replicas.max(1))),
            away_until: Mutex::new(None),
            life: Mutex::new(Life { number: 0, until: None }),
        })
    }

    /// What the database answers; `None` if it does not, in time, or did not a moment ago.
    pub(super) async fn ask<T>(&self, asking: impl Future<Output = Result<T, Error>>) -> Option<T> {
        if !self.may_ask(Instant::now()) {
            return None;
        }
        let answer = self.in_time(asking).await.and_then(Result::ok);
        let away = answer.is_none().then(|| Instant::now() + LEFT_ALONE);
        *lock(&self.away_until) = away;
        answer
    }

    /// Of those who come when a while is over, one is let through to see.
    fn may_ask(&self, now: Instant) -> bool {
        let mut away_until = lock(&self.away_until);
        match *away_until {
            None => true,
            Some(until) if now < until => false,
            Some(_) => {
                *away_until = Some(now + LEFT_ALONE);
                true
            }
        }
    }

    /// Whether the database did not answer when it was last asked.
    pub(super) fn is_away(&self) -> bool {
        lock(&self.away_until).is_some()
    }

    /// What comes while a request may wait.
    pub(super) async fn in_time<T>(&self, doing: impl Future<Output = T>) -> Option<T> {
        tokio::time::timeout(self.options.patience, doing).await.ok()
    }

    /// Says that this replica is there; nothing, if there is no answer.
    pub(super) async fn stay(&self) -> Option<()> {
        let asked = Instant::now();
        let stay = self.ask(self.record.stay(self.replica, self.options.lease)).await?;
        self.replicas.store(stay.replicas.max(1), Ordering::Relaxed);
        let mut life = lock(&self.life);
        life.number += u64::from(stay.was_gone);
        life.until = Some(asked + self.options.lease);
        Some(())
    }

    /// Which life of this replica it is: what was claimed in another is somebody else's by now.
    /// `None` while it may be thought to be gone.
    pub(super) fn life(&self) -> Option<u64> {
        let life = lock(&self.life);
        life.until.filter(|until| Instant::now() < *until).map(|_| life.number)
    }

    /// How often it says so: several signs may be lost.
    pub(super) fn rhythm(&self) -> Duration {
        (self.options.lease / 10).max(Duration::from_millis(50))
    }

    /// This replica's part of a limit.
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
