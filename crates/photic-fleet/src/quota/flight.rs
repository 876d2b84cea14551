//! Bytes in flight: claimed in chunks, held by guards, and returned when they were not needed for a
//! while.
//!
//! The bytes used here never exceed the claim in the database. If the database is unavailable, a
//! replica uses up to its part of the limit. A claim is lowered here before the database, and
//! raised in the database before here, so that no byte counts as free twice, whatever happens to a
//! statement.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::account::QuotaAccount;
use super::database::QuotaDatabase;
use super::limits::{QuotaExceeded, QuotaKind, lock};
use crate::postgres::ShareRequest;

/// Number of chunks in a limit.
const CHUNKS: u64 = 20;
/// Largest number of attempts to claim more.
const MAX_ATTEMPTS: usize = 4;
/// Earliest time of a retry.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Bytes of a tenant that this replica has in flight.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    bytes: Mutex<ClaimedBytes>,
    asking: tokio::sync::Mutex<()>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ClaimedBytes {
    used: u64,
    claimed: u64,
    /// Term of the replica in which they were claimed.
    life: u64,
    /// Largest use since the last check.
    peak: u64,
}

impl ClaimedBytes {
    /// Returns the claim, if it is still valid.
    fn claimed(&self, life: Option<u64>) -> u64 {
        if life == Some(self.life) { self.claimed } else { 0 }
    }

    fn hold(&mut self, bytes: u64, most: u64) -> bool {
        let used = self.used.saturating_add(bytes);
        let fits = used <= most;
        if fits {
            self.used = used;
            self.peak = self.peak.max(used);
        }
        fits
    }

    /// Determines the new claim after a check, in chunks; `None` if it is right as it is.
    fn look(&mut self, life: Option<u64>, chunk: u64) -> Option<ShareRequest> {
        let peak = std::mem::replace(&mut self.peak, self.used);
        let claimed = self.claimed(life);
        if self.used > claimed {
            // Bytes in flight are claimed even if they exceed the limit.
            return Some(ShareRequest { needed: self.used, wanted: self.used, most: u64::MAX });
        }
        let wanted = chunks(peak, chunk);
        (wanted < claimed).then(|| {
            self.claimed = wanted;
            ShareRequest { needed: 0, wanted, most: u64::MAX }
        })
    }
}

/// Holds bytes in flight until it is dropped.
#[derive(Debug)]
pub struct InFlightGuard {
    account: Arc<QuotaAccount>,
    bytes: u64,
}

impl InFlightGuard {
    /// Returns all but this many bytes, while the model works on a request.
    pub fn keep(&mut self, bytes: u64) {
        let back = self.bytes.saturating_sub(bytes);
        self.bytes -= back;
        lock(&self.account.flight.bytes).used -= back;
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.keep(0);
    }
}

impl QuotaAccount {
    /// Holds bytes, if the limit permits.
    pub(super) async fn hold(
        self: &Arc<Self>,
        link: &QuotaDatabase,
        bytes: u64,
        limit: Option<u64>,
    ) -> Result<InFlightGuard, QuotaExceeded> {
        let over = |retry_after| QuotaExceeded { what: QuotaKind::BytesInFlight, retry_after };
        let guard = |bytes| InFlightGuard { account: self.clone(), bytes };
        let Some(limit) = limit else { return Ok(guard(0)) };
        if bytes > limit {
            return Err(over(None));
        }
        let mut held = self.hold_claimed(link, bytes, 0);
        if !held {
            held = match self.ask_to_hold(link, bytes, limit).await {
                Some(held) => held,
                None => self.hold_claimed(link, bytes, link.part(limit)),
            };
        }
        // Bytes return when requests end, and unused claims with the next check.
        if held { Ok(guard(bytes)) } else { Err(over(Some(link.rhythm().max(RETRY_AFTER)))) }
    }

    /// Holds bytes if they are claimed, or if at most `alone` bytes are in flight afterwards.
    fn hold_claimed(&self, link: &QuotaDatabase, bytes: u64, alone: u64) -> bool {
        let mut own = lock(&self.flight.bytes);
        let most = own.claimed(link.life()).max(alone);
        own.hold(bytes, most)
    }

    /// Claims more and holds it; `None` if the database does not answer.
    async fn ask_to_hold(&self, link: &QuotaDatabase, bytes: u64, limit: u64) -> Option<bool> {
        // One caller claims for all that wait.
        let _turn = link.in_time(self.flight.asking.lock()).await?;
        link.ask(link.record().owner_id(&self.tenant)).await?;
        // Others may use the claim meanwhile.
        for _ in 0..MAX_ATTEMPTS {
            if self.hold_claimed(link, bytes, 0) {
                return Some(true);
            }
            let needed = lock(&self.flight.bytes).used.saturating_add(bytes);
            let wanted = chunks(needed, chunk(limit));
            self.claim(link, ShareRequest { needed, wanted, most: limit }).await?;
            if lock(&self.flight.bytes).claimed < needed {
                break;
            }
        }
        Some(self.hold_claimed(link, bytes, 0))
    }

    /// Returns claims that were not used since the last check, and claims bytes that are used
    /// without a claim, after the database was unavailable or considered this replica gone.
    pub(super) async fn settle(&self, link: &QuotaDatabase) {
        let _turn = self.flight.asking.lock().await;
        let limit = self.last_limits(link).bytes_in_flight.unwrap_or_default();
        let wish = lock(&self.flight.bytes).look(link.life(), chunk(limit));
        if let Some(wish) = wish {
            let _ = self.claim(link, wish).await;
        }
    }

    async fn claim(&self, link: &QuotaDatabase, wish: ShareRequest) -> Option<()> {
        let mut life = link.life();
        let claim = || link.record().claim_bytes(&self.tenant, link.replica(), wish);
        let mut claimed = link.ask(claim()).await?;
        if claimed.is_none() {
            link.stay().await?;
            life = link.life();
            claimed = link.ask(claim()).await?;
        }
        let mut own = lock(&self.flight.bytes);
        (own.claimed, own.life) = (claimed?, life?);
        Some(())
    }
}

fn chunk(limit: u64) -> u64 {
    (limit / CHUNKS).max(1)
}

/// Rounds up to whole chunks.
const fn chunks(bytes: u64, chunk: u64) -> u64 {
    bytes.div_ceil(chunk).saturating_mul(chunk)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_kept_while_it_is_needed_and_shrinks_when_it_is_not() {
        let mut own = ClaimedBytes { claimed: 100, ..ClaimedBytes::default() };
        let life = Some(0);
        assert!(own.hold(60, own.claimed(life)) && !own.hold(50, own.claimed(life)));
        own.used -= 60;
        // 60 were needed before the last check, and nothing since.
        assert_eq!(
            own.look(life, 20),
            Some(ShareRequest { needed: 0, wanted: 60, most: u64::MAX })
        );
        assert_eq!(own.claimed, 60);
        assert_eq!(own.look(life, 20), Some(ShareRequest { needed: 0, wanted: 0, most: u64::MAX }));
        assert_eq!(own.look(life, 20), None);
    }

    #[test]
    fn what_is_in_flight_is_claimed_again_in_another_life() {
        let mut own = ClaimedBytes { claimed: 100, used: 30, peak: 30, life: 1 };
        assert_eq!(
            own.look(Some(1), 30),
            Some(ShareRequest { needed: 0, wanted: 30, most: u64::MAX })
        );
        for life in [Some(2), None] {
            assert_eq!(own.claimed(life), 0);
            let wish = own.look(life, 30);
            assert_eq!(wish, Some(ShareRequest { needed: 30, wanted: 30, most: u64::MAX }));
        }
    }
}
