//! Bytes that are stored: the sum of the index, as of some seconds ago.
//!
//! A large tenant's sum takes long. So it is made beside the requests, and the longer it took, the
//! longer it counts. What this replica let in since counts besides, rather twice than not at all.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use photic_store::Error;
use tokio::sync::OwnedMutexGuard;

use super::account::Account;
use super::link::Link;
use super::{Kind, Over, lock};
use crate::Postgres;

/// How long a sum counts, at least.
const REMEMBERED: Duration = Duration::from_secs(5);
/// How many times as long it counts as it took to make.
const TIMES: u32 = 20;

#[derive(Debug, Default)]
pub(super) struct Stored {
    sum: Mutex<Option<Sum>>,
    asking: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Clone, Copy, Debug)]
struct Sum {
    bytes: u64,
    until: Instant,
    /// Let in since it was made, and between the one before and this one.
    since: u64,
    before: u64,
}

impl Account {
    /// Counts bytes that are about to be stored. It is closed while the database is away: nothing
    /// can be stored then.
    pub(super) async fn store(
        self: &Arc<Self>,
        link: &Link,
        bytes: u64,
        limit: u64,
    ) -> Result<(), Over> {
        let over = |retry_after| Over { what: Kind::StoredBytes, retry_after };
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
            Some(_) | None => Err(over(Some(REMEMBERED))),
        }
    }

    /// Gives back bytes that were counted and are not stored.
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

    /// How many bytes are stored.
    pub(super) async fn stored(self: &Arc<Self>, link: &Link) -> Result<u64, Error> {
        let known = *lock(&self.stored.sum);
        if let Some(sum) = known.filter(|sum| Instant::now() < sum.until) {
            return Ok(sum.bytes);
        }
        let late = || Error::Unavailable("the sum of what is stored is late".into());
        let summed = match self.stored.asking.clone().try_lock_owned() {
            // It goes on if nobody waits any longer, for those who ask next.
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

/// Makes the sum, alone for as long as it has its turn.
async fn sum_up(
    account: Arc<Account>,
    record: Postgres,
    turn: OwnedMutexGuard<()>,
) -> Result<u64, Error> {
    let asked = Instant::now();
    let summed = record.stored_bytes(&account.tenant).await;
    let mut sum = lock(&account.stored.sum);
    if let Ok(bytes) = summed {
        let until = Instant::now() + REMEMBERED.max(asked.elapsed() * TIMES);
        let before = sum.map_or(0, |sum| sum.since);
        *sum = Some(Sum { bytes, until, since: 0, before });
    } else {
        *sum = None;
    }
    drop(turn);
    summed
}
