//! Quotas per minute: a replica takes a share, spends it locally, and the rest expires with the
//! minute.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use photic_store::Tenant;

use super::database::QuotaDatabase;
use super::limits::{QuotaExceeded, QuotaKind, lock};
use crate::postgres::{GrantedShare, ShareRequest};

/// Number of shares in a limit.
const SHARES: u64 = 20;
/// Largest number of attempts to take more.
const MAX_ATTEMPTS: usize = 4;
const MINUTE: Duration = Duration::from_mins(1);

#[derive(Debug)]
pub(super) struct MinuteQuota {
    tenant: Tenant,
    kind: QuotaKind,
    share: Mutex<Share>,
    /// One caller asks for all that wait.
    asking: tokio::sync::Mutex<()>,
}

/// A replica's share of a minute.
#[derive(Debug, PartialEq, Eq)]
struct Share {
    /// End of the minute.
    ends: Instant,
    /// Taken and not yet spent.
    left: u64,
    /// Spent here in this minute.
    spent: u64,
    /// The limit, and its last known remainder, which only decreases.
    room: Option<(u64, u64)>,
}

impl MinuteQuota {
    pub(super) fn new(tenant: Tenant, kind: QuotaKind) -> Self {
        let share = Share { ends: Instant::now(), left: 0, spent: 0, room: None };
        Self { tenant, kind, share: Mutex::new(share), asking: tokio::sync::Mutex::default() }
    }

    /// Spends an amount. The error tells when there is more.
    pub(super) async fn spend(
        &self,
        link: &QuotaDatabase,
        amount: u64,
        limit: Option<u64>,
    ) -> Result<(), QuotaExceeded> {
        let Some(limit) = limit else { return Ok(()) };
        let over = |retry_after| QuotaExceeded { what: self.kind, retry_after };
        if amount > limit {
            return Err(over(None));
        }
        if let Some(done) = lock(&self.share).spend(amount, limit, Instant::now()) {
            return done.map_err(|left| over(Some(left)));
        }
        let done = match self.ask(link, amount, limit).await {
            Some(done) => done,
            None => lock(&self.share).spend_alone(amount, link.part(limit), Instant::now()),
        };
        done.map_err(|left| over(Some(left)))
    }

    /// Takes a share and spends from it; `None` if the database does not answer.
    async fn ask(
        &self,
        link: &QuotaDatabase,
        amount: u64,
        limit: u64,
    ) -> Option<Result<(), Duration>> {
        let _turn = link.in_time(self.asking.lock()).await?;
        // Others may spend meanwhile, and the minute may end.
        for _ in 0..MAX_ATTEMPTS {
            let missing = {
                let mut share = lock(&self.share);
                if let Some(done) = share.spend(amount, limit, Instant::now()) {
                    return Some(done);
                }
                amount - share.left
            };
            let wish =
                ShareRequest { needed: missing, wanted: (limit / SHARES).max(1), most: limit };
            // The minute ends no later than this long after the query.
            let asked = Instant::now();
            let taken = link.ask(link.record().take_share(&self.tenant, self.kind, wish)).await?;
            lock(&self.share).take(taken, limit, asked);
        }
        let mut share = lock(&self.share);
        let now = Instant::now();
        Some(share.spend(amount, limit, now).unwrap_or(Err(share.until_end(now))))
    }
}

impl Share {
    /// Spends from the share; `None` if more has to be taken.
    fn spend(&mut self, amount: u64, limit: u64, now: Instant) -> Option<Result<(), Duration>> {
        if now >= self.ends {
            *self = Self { ends: self.ends, left: 0, spent: 0, room: None };
            return (amount == 0).then_some(Ok(()));
        }
        if amount <= self.left {
            self.left -= amount;
            self.spent += amount;
            return Some(Ok(()));
        }
        // A remainder that is too small stays so for this minute, unless the limit changes.
        let room = self.room.filter(|(of, _)| *of == limit);
        let is_over = room.is_some_and(|(_, room)| self.left + room < amount);
        is_over.then(|| Err(self.until_end(now)))
    }

    /// Adds the share that was granted to a query at this time.
    fn take(&mut self, taken: GrantedShare, limit: u64, asked: Instant) {
        let ends = asked + taken.left;
        // Two answers about one minute differ a little in its end.
        if asked >= self.ends || ends > self.ends + MINUTE / 2 {
            *self = Self { ends, left: 0, spent: 0, room: None };
        }
        self.left += taken.granted;
        self.room = Some((limit, taken.room));
    }

    /// Spends without the database, up to this replica's part of the limit.
    fn spend_alone(&mut self, amount: u64, part: u64, now: Instant) -> Result<(), Duration> {
        if now >= self.ends {
            let minutes = now.duration_since(self.ends).as_secs() / 60 + 1;
            let ends = self.ends + MINUTE * u32::try_from(minutes).unwrap_or(u32::MAX);
            *self = Self { ends, left: 0, spent: 0, room: None };
        }
        if amount > self.left.max(part.saturating_sub(self.spent)) {
            return Err(self.until_end(now));
        }
        self.left = self.left.saturating_sub(amount);
        self.spent += amount;
        Ok(())
    }

    fn until_end(&self, now: Instant) -> Duration {
        self.ends.saturating_duration_since(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(granted: u64, room: u64, seconds: u64) -> GrantedShare {
        GrantedShare { granted, room, left: Duration::from_secs(seconds) }
    }

    fn fresh(now: Instant) -> Share {
        Share { ends: now, left: 0, spent: 0, room: None }
    }

    #[test]
    fn a_share_is_spent_and_then_asked_for_again_until_there_is_no_more() {
        let now = Instant::now();
        let mut share = fresh(now);
        assert_eq!(share.spend(1, 100, now), None);
        share.take(taken(2, 98, 40), 100, now);
        assert_eq!(share.spend(1, 100, now), Some(Ok(())));
        assert_eq!(share.spend(1, 100, now), Some(Ok(())));
        assert_eq!(share.spend(1, 100, now), None);
        share.take(taken(1, 0, 40), 100, now);
        assert_eq!(share.spend(1, 100, now), Some(Ok(())));
        // Known without a query until the minute ends or the limit changes.
        assert_eq!(share.spend(1, 100, now), Some(Err(Duration::from_secs(40))));
        assert_eq!(share.spend(1, 101, now), None);
        assert_eq!(share.spend(1, 100, now + Duration::from_secs(40)), None);
    }

    #[test]
    fn nothing_of_a_minute_is_spent_in_the_next() {
        let now = Instant::now();
        let mut share = fresh(now);
        share.take(taken(50, 50, 10), 100, now);
        assert_eq!(share.spend(1, 100, now + Duration::from_millis(9_999)), Some(Ok(())));
        let next = now + Duration::from_secs(10);
        assert_eq!(share.spend(1, 100, next), None);
        // An answer that arrives in the next minute.
        let mut share = fresh(now);
        share.take(taken(50, 50, 10), 100, now);
        share.take(taken(5, 95, 69), 100, now + Duration::from_secs(9));
        assert_eq!((share.left, share.ends), (5, now + Duration::from_secs(78)));
    }

    #[test]
    fn alone_a_replica_spends_its_part_and_no_more() {
        let now = Instant::now();
        let mut share = fresh(now);
        share.take(taken(5, 95, 30), 100, now);
        for _ in 0..3 {
            assert_eq!(share.spend(1, 100, now), Some(Ok(())));
        }
        // 33 in total: 3 are spent.
        let spent = (0..50).filter(|_| share.spend_alone(1, 33, now).is_ok()).count();
        assert_eq!((spent, share.spent, share.left), (30, 33, 0));
        assert_eq!(share.spend_alone(1, 33, now), Err(Duration::from_secs(30)));
        let later = now + Duration::from_secs(30 + 125);
        assert_eq!(share.spend_alone(34, 33, later), Err(Duration::from_secs(55)));
        assert_eq!(share.spend_alone(33, 33, later), Ok(()));
    }
}
