//! Stored bytes: the sum of the index, some seconds old.
//!
//! The sum of a large tenant takes long. So it is computed in the background, and the longer it
//! took, the longer it is used. Bytes admitted since then are added, rather twice than not at all.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use photic_store::Error;
use tokio::sync::OwnedMutexGuard;

use super::account::QuotaAccount;
use super::database::QuotaDatabase;
use super::limits::{QuotaExceeded, QuotaKind, lock};
use crate::Postgres;

/// Shortest lifetime of a sum.
const SUM_LIFETIME: Duration = Duration::from_secs(5);
/// Lifetime of a sum as a multiple of its computing time.
const LIFETIME_FACTOR: u32 = 20;

#[derive(Debug, Default)]
pub(super) struct StoredSum {
    sum: Mutex<Option<Sum>>,
    asking: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Clone, Copy, Debug)]
struct Sum {
    bytes: u64,
    until: Instant,
    /// Bytes admitted since it was computed, and between the previous sum and this one.
    since: u64,
    before: u64,
}

impl QuotaAccount {
    /// Counts bytes that are about to be stored. Fails while the database is unavailable, because
    /// nothing can be stored then.
    pub(super) async fn store(
        self: &Arc<Self>,
        link: &QuotaDatabase,
        bytes: u64,
        limit: u64,
    ) -> Result<(), QuotaExceeded> {
        let over = |retry_after| QuotaExceeded { what: QuotaKind::StoredBytes, retry_after };
        if bytes > limit {
            return Err(over(None));
        }
        let known = self.stored(link).await.is_ok();
        let mut sum = lock(&self.stored.sum);
        match sum.as_mut().filter(|_| known) {
            Some(sum) if sum.bytes + sum.before + sum.since + bytes <= limit => {
                sum.since += bytes;
                Ok(())
            }
            Some(_) | None => Err(over(Some(SUM_LIFETIME))),
        }
    }

    /// Returns bytes that were counted but not stored.
    pub(super) fn give_back(&self, bytes: u64) {
        if let Some(sum) = lock(&self.stored.sum).as_mut() {
            let mut left = bytes;
            for counted in [&mut sum.since, &mut sum.before, &mut sum.bytes] {
                let taken = left.min(*counted);
                *counted -= taken;
                left -= taken;
            }
        }
    }

    /// Returns the stored bytes.
    pub(super) async fn stored(self: &Arc<Self>, link: &QuotaDatabase) -> Result<u64, Error> {
        let known = *lock(&self.stored.sum);
        if let Some(sum) = known.filter(|sum| Instant::now() < sum.until) {
            return Ok(sum.bytes);
        }
        let late = || Error::Unavailable("the sum of what is stored is late".into());
        let summed = match self.stored.asking.clone().try_lock_owned() {
            // It continues if the caller stops waiting, for the next one.
            Ok(turn) => {
                let summing = sum_up(self.clone(), link.record().clone(), turn);
                link.in_time(tokio::spawn(summing)).await.and_then(Result::ok)
            }
            Err(_) => link.in_time(self.stored.asking.lock()).await.map(|_turn| {
                let fresh = lock(&self.stored.sum).filter(|sum| Instant::now() < sum.until);
                fresh.map(|sum| sum.bytes).ok_or_else(late)
            }),
        };
        summed.unwrap_or_else(|| known.map(|sum| sum.bytes).ok_or_else(late))
    }
}

/// Computes the sum, one at a time.
async fn sum_up(
    account: Arc<QuotaAccount>,
    record: Postgres,
    turn: OwnedMutexGuard<()>,
) -> Result<u64, Error> {
    let asked = Instant::now();
    let summed = record.stored_bytes(&account.tenant).await;
    let mut sum = lock(&account.stored.sum);
    if let Ok(bytes) = summed {
        let until = Instant::now() + SUM_LIFETIME.max(asked.elapsed() * LIFETIME_FACTOR);
        let before = sum.map_or(0, |sum| sum.since);
        *sum = Some(Sum { bytes, until, since: 0, before });
    } else {
        *sum = None;
    }
    drop(turn);
    summed
}
