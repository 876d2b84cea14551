//! Bytes in flight: claimed in chunks, held by guards, and given back when they were not needed for
//! a while.
//!
//! What is used here is never more than what is claimed there, except when the database is away:
//! then a replica goes up to its part of the limit. A claim is lowered here before it is there, and
//! raised there before it is here, so whatever becomes of a statement, no byte counts as free twice.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::account::Account;
use super::link::Link;
use super::{Kind, Over, lock};
use crate::postgres::Wish;

/// Of a limit, what a chunk is.
const CHUNKS: u64 = 20;
/// How often somebody claims more before it is too much.
const TRIES: usize = 4;
/// When bytes in flight may be others'.
const SOON: Duration = Duration::from_secs(1);

/// Bytes of a tenant that this replica has in flight.
#[derive(Debug, Default)]
pub(super) struct Flight {
    bytes: Mutex<Bytes>,
    asking: tokio::sync::Mutex<()>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bytes {
    used: u64,
    claimed: u64,
    /// In which life of the replica they were claimed.
    life: u64,
    /// Most that was used since the last look.
    peak: u64,
}

impl Bytes {
    /// What is claimed, if it still is.
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

    /// What is to be claimed after a look, in chunks; `None` if that is well as it is.
    fn look(&mut self, life: Option<u64>, chunk: u64) -> Option<Wish> {
        let peak = std::mem::replace(&mut self.peak, self.used);
        let claimed = self.claimed(life);
        if self.used > claimed {
            // What is in flight is in flight: it is claimed even where that is too much.
            return Some(Wish { needed: self.used, wanted: self.used, most: u64::MAX });
        }
        let wanted = chunks(peak, chunk);
        (wanted < claimed).then(|| {
            self.claimed = wanted;
            Wish { needed: 0, wanted, most: u64::MAX }
        })
    }
}

/// Holds bytes in flight until it is dropped.
#[derive(Debug)]
pub struct Guard {
    account: Arc<Account>,
    bytes: u64,
}

impl Guard {
    /// Gives back all but so many bytes: what is left of a request while the model thinks.
    pub fn keep(&mut self, bytes: u64) {
        let back = self.bytes.saturating_sub(bytes);
        self.bytes -= back;
        lock(&self.account.flight.bytes).used -= back;
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.keep(0);
    }
}

impl Account {
    /// Holds so many bytes, if they may be.
    pub(super) async fn hold(
        self: &Arc<Self>,
        link: &Link,
        bytes: u64,
        limit: Option<u64>,
    ) -> Result<Guard, Over> {
        let over = |retry_after| Over { what: Kind::BytesInFlight, retry_after };
        let guard = |bytes| Guard { account: self.clone(), bytes };
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
        // Bytes come back when requests end, and unused claims with the next look.
        if held { Ok(guard(bytes)) } else { Err(over(Some(link.rhythm().max(SOON)))) }
    }

    /// Holds bytes if they are claimed, or if no more than `alone` are in flight then.
    fn hold_claimed(&self, link: &Link, bytes: u64, alone: u64) -> bool {
        let mut own = lock(&self.flight.bytes);
        let most = own.claimed(link.life()).max(alone);
        own.hold(bytes, most)
    }

    /// Claims more, and holds of it; `None` if the database does not answer.
    async fn ask_to_hold(&self, link: &Link, bytes: u64, limit: u64) -> Option<bool> {
        // One asks for all who wait.
        let _turn = link.in_time(self.flight.asking.lock()).await?;
        link.ask(link.record().owner_id(&self.tenant)).await?;
        // Others hold what is there meanwhile.
        for _ in 0..TRIES {
            if self.hold_claimed(link, bytes, 0) {
                return Some(true);
            }
            let needed = lock(&self.flight.bytes).used.saturating_add(bytes);
            let wanted = chunks(needed, chunk(limit));
            self.claim(link, Wish { needed, wanted, most: limit }).await?;
            if lock(&self.flight.bytes).claimed < needed {
                break;
            }
        }
        Some(self.hold_claimed(link, bytes, 0))
    }

    /// Gives back what was not used since the last look, and claims what is used without a claim:
    /// the database was away, or thought that this replica was gone.
    pub(super) async fn settle(&self, link: &Link) {
        let _turn = self.flight.asking.lock().await;
        let limit = self.last_limits(link).bytes_in_flight.unwrap_or_default();
        let wish = lock(&self.flight.bytes).look(link.life(), chunk(limit));
        if let Some(wish) = wish {
            let _ = self.claim(link, wish).await;
        }
    }

    async fn claim(&self, link: &Link, wish: Wish) -> Option<()> {
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

/// The next number of whole chunks.
const fn chunks(bytes: u64, chunk: u64) -> u64 {
    bytes.div_ceil(chunk).saturating_mul(chunk)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_kept_while_it_is_needed_and_shrinks_when_it_is_not() {
        let mut own = Bytes { claimed: 100, ..Bytes::default() };
        let life = Some(0);
        assert!(own.hold(60, own.claimed(life)) && !own.hold(50, own.claimed(life)));
        own.used -= 60;
        // There was need of 60 since the last look, and of nothing since this one.
        assert_eq!(own.look(life, 20), Some(Wish { needed: 0, wanted: 60, most: u64::MAX }));
        assert_eq!(own.claimed, 60);
        assert_eq!(own.look(life, 20), Some(Wish { needed: 0, wanted: 0, most: u64::MAX }));
        assert_eq!(own.look(life, 20), None);
    }

    #[test]
    fn what_is_in_flight_is_claimed_again_in_another_life() {
        let mut own = Bytes { claimed: 100, used: 30, peak: 30, life: 1 };
        assert_eq!(own.look(Some(1), 30), Some(Wish { needed: 0, wanted: 30, most: u64::MAX }));
        for life in [Some(2), None] {
            assert_eq!(own.claimed(life), 0);
            let wish = own.look(life, 30);
            assert_eq!(wish, Some(Wish { needed: 30, wanted: 30, most: u64::MAX }));
        }
    }
}
