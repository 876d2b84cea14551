//! Holds callers to their limits, in this process and together with others that share the meters.
//!
//! A request reserves what it may cost before it is sent, and is admitted while what was spent and
//! reserved is below the limit. So a caller exceeds a limit by at most one request.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::limits::CallerLimits;
use super::meters::{Count, Locked, METERS, MeterStore, SlotId};
use crate::http::{Failure, OverBudget};

/// A part of a limit that a process takes at once: a thousandth.
const SHARES: u64 = 1000;
/// Time between two tries while another process changes the meters.
const RETRY_AFTER: Duration = Duration::from_millis(1);
/// Number of tries.
const TRIES: u32 = 2000;
/// Time after which a caller may try again while its running requests may use up its limit.
const SOON: Duration = Duration::from_secs(2);

/// A quantity that is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meter {
    Requests,
    Bytes,
    Tokens,
    /// Millionths of a US dollar.
    MicroUsd,
}

/// The part of one limit of a caller that this process reserved.
#[derive(Clone, Copy, Debug, Default)]
struct Reservation {
    window: u64,
    /// The part that is reserved in the meters.
    reserved: u64,
    /// The part of it that was used, in this window.
    used: u64,
    /// The part of it that running requests may use.
    running: u64,
}

/// The parts of the limits of a caller that this process reserved.
#[derive(Debug)]
pub(crate) struct Account {
    id: SlotId,
    held: Mutex<[Reservation; METERS]>,
}

/// The accounts of all callers. They outlive a reload.
#[derive(Debug)]
pub(crate) struct Budgets {
    meters: MeterStore,
    accounts: Mutex<HashMap<String, Arc<Account>>>,
}

/// The result of a try to reserve.
enum Tried {
    Reserved,
    Over { is_reserved: bool },
    Busy,
    Failed,
}

impl Meter {
    const fn index(self) -> usize {
        self as usize
    }

    /// Returns the length of its window in seconds.
    const fn window_s(self) -> u64 {
        match self {
            Self::Requests | Self::Bytes => 60,
            Self::Tokens | Self::MicroUsd => 86_400,
        }
    }

    /// Returns the limit of a caller.
    pub(crate) fn limit(self, limits: &CallerLimits) -> Option<u64> {
        match self {
            Self::Requests => limits.requests_per_minute,
            Self::Bytes => limits.mib_per_minute.map(|mib| mib.saturating_mul(1 << 20)),
            Self::Tokens => limits.tokens_per_day,
            Self::MicroUsd => limits.usd_per_day.map(micro_usd),
        }
    }

    /// Returns its name in words, and the field of a caller that limits it.
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Requests => ("requests per minute", "requests_per_minute"),
            Self::Bytes => ("request bytes per minute", "mib_per_minute"),
            Self::Tokens => ("tokens per day", "tokens_per_day"),
            Self::MicroUsd => ("US dollars per day", "usd_per_day"),
        }
    }
}

/// Returns dollars in millionths, rounded up.
pub(crate) fn micro_usd(usd: f64) -> u64 {
    (usd * 1e6).ceil() as u64
}

impl Budgets {
    /// Opens the meters, in a file or in memory.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be used.
    pub(crate) fn open(path: Option<&Path>) -> io::Result<Self> {
        Ok(Self { meters: MeterStore::open(path)?, accounts: Mutex::default() })
    }

    /// Returns the account of a caller.
    pub(crate) fn account(&self, name: &str) -> Arc<Account> {
        let mut accounts = lock(&self.accounts);
        if let Some(known) = accounts.get(name) {
            return Arc::clone(known);
        }
        let mut id = SlotId::default();
        id.copy_from_slice(&blake3::hash(name.as_bytes()).as_bytes()[..16]);
        let account = Arc::new(Account { id, held: Mutex::default() });
        accounts.insert(name.to_owned(), Arc::clone(&account));
        account
    }

    /// Reserves an amount of a limit.
    ///
    /// # Errors
    ///
    /// Fails if the limit is reached, or if the meters cannot be used.
    pub(crate) async fn reserve(
        &self,
        account: &Account,
        meter: Meter,
        limit: u64,
        amount: u64,
    ) -> Result<(), Failure> {
        for _ in 0..TRIES {
            let now = now();
            match self.try_reserve(account, meter, limit, amount, now) {
                Tried::Reserved => return Ok(()),
                Tried::Over { is_reserved } => return Err(over(meter, is_reserved, now)),
                Tried::Busy => tokio::time::sleep(RETRY_AFTER).await,
                Tried::Failed => break,
            }
        }
        Err(Failure::MetersAway)
    }

    /// Replaces a reservation by what was used.
    pub(crate) async fn settle(
        &self,
        account: &Account,
        meter: Meter,
        limit: u64,
        reserved: u64,
        used: u64,
    ) {
        {
            let (mut held, window) = (lock(&account.held), now() / meter.window_s());
            let held = &mut held[meter.index()];
            if held.window != window {
                (held.window, held.used) = (window, 0);
            }
            held.running = held.running.saturating_sub(reserved);
            held.used = held.used.saturating_add(used);
            let taken = held.used.saturating_add(held.running);
            let spare = held.reserved.saturating_sub(taken);
            if taken <= held.reserved && spare <= 2 * (limit / SHARES) {
                return;
            }
        }
        for _ in 0..TRIES {
            match self.sync(account, meter, now(), |_, _| ()) {
                Err(Locked::Busy) => tokio::time::sleep(RETRY_AFTER).await,
                // What was used is written with the next request.
                Ok(()) | Err(Locked::Failed) => return,
            }
        }
    }

    fn try_reserve(
        &self,
        account: &Account,
        meter: Meter,
        limit: u64,
        amount: u64,
        now: u64,
    ) -> Tried {
        {
            let mut held = lock(&account.held);
            let held = &mut held[meter.index()];
            let taken = held.used.saturating_add(held.running).saturating_add(amount);
            if held.window == now / meter.window_s() && taken <= held.reserved {
                held.running += amount;
                return Tried::Reserved;
            }
        }
        let tried = self.sync(account, meter, now, |count, held| {
            let total = count.spent.saturating_add(count.reserved);
            if total >= limit {
                return Tried::Over { is_reserved: count.spent < limit };
            }
            let share = limit / SHARES;
            let is_far = total.saturating_add(amount).saturating_add(share) <= limit;
            let taken = amount.saturating_add(if is_far { share } else { 0 });
            count.reserved = count.reserved.saturating_add(taken);
            held.reserved += taken;
            held.running += amount;
            Tried::Reserved
        });
        match tried {
            Ok(tried) => tried,
            Err(Locked::Busy) => Tried::Busy,
            Err(Locked::Failed) => Tried::Failed,
        }
    }

    /// Writes to the meters what this process used, and reserves no more than its running requests
    /// may use. `then` may change both.
    fn sync<T>(
        &self,
        account: &Account,
        meter: Meter,
        now: u64,
        then: impl FnOnce(&mut Count, &mut Reservation) -> T,
    ) -> Result<T, Locked> {
        let mut all = lock(&account.held);
        let held = &mut all[meter.index()];
        let (value, synced) = self.meters.update(account.id, |slot| {
            let (count, mut held) = (&mut slot.0[meter.index()], *held);
            let window = now / meter.window_s();
            count.roll(window, now);
            if held.window != window {
                // What was used before belongs to a window that is over.
                (held.window, held.used) = (window, 0);
            }
            count.reserved = count.reserved.saturating_sub(held.reserved);
            count.spent = count.spent.saturating_add(std::mem::take(&mut held.used));
            held.reserved = held.running;
            count.reserved = count.reserved.saturating_add(held.running);
            let value = then(count, &mut held);
            (value, held)
        })?;
        *held = synced;
        Ok(value)
    }
}

/// Returns the failure of a caller that has reached a limit.
fn over(meter: Meter, is_reserved: bool, now: u64) -> Failure {
    let length = meter.window_s();
    let retry_after = match (is_reserved, meter) {
        (true, Meter::Tokens | Meter::MicroUsd) => SOON,
        _ => Duration::from_secs(length - now % length),
    };
    let (limit, field) = meter.names();
    let is_reserved = is_reserved && matches!(meter, Meter::Tokens | Meter::MicroUsd);
    Failure::OverBudget(OverBudget { limit, field, retry_after, is_reserved })
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A second in the middle of a day and of a minute.
    const NOON: u64 = 20_000 * 86_400 + 43_230;

    fn reserved(budgets: &Budgets, account: &Account, limit: u64, amount: u64, at: u64) -> bool {
        let tried = budgets.try_reserve(account, Meter::Tokens, limit, amount, at);
        matches!(tried, Tried::Reserved)
    }

    #[tokio::test]
    async fn a_limit_is_exceeded_by_one_request_at_most() {
        let budgets = Budgets::open(None).unwrap();
        let account = budgets.account("a");
        let taken = (0..100).filter(|_| reserved(&budgets, &account, 100, 30, NOON)).count();
        assert_eq!(taken, 4, "three fit, and one more exceeds");
        // They needed less than they might have.
        for _ in 0..4 {
            let mut held = lock(&account.held);
            held[Meter::Tokens.index()].running -= 30;
            held[Meter::Tokens.index()].used += 10;
        }
        assert!(reserved(&budgets, &account, 100, 30, NOON));
        assert!(reserved(&budgets, &account, 100, 30, NOON));
        assert!(!reserved(&budgets, &account, 100, 30, NOON));
    }

    #[test]
    fn a_day_begins_with_nothing_spent() {
        let budgets = Budgets::open(None).unwrap();
        let account = budgets.account("a");
        assert!(reserved(&budgets, &account, 100, 500, NOON));
        assert!(!reserved(&budgets, &account, 100, 1, NOON));
        lock(&account.held)[Meter::Tokens.index()].running = 0;
        lock(&account.held)[Meter::Tokens.index()].used = 500;
        assert!(!reserved(&budgets, &account, 100, 1, NOON));
        assert!(reserved(&budgets, &account, 100, 1, NOON + 86_400));
    }

    /// Three processes with one file of meters, and shares that each keeps.
    #[test]
    fn processes_hold_a_limit_together() {
        let path = std::env::temp_dir().join(format!("photic-budget-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let all: Vec<Budgets> = (0..3).map(|_| Budgets::open(Some(&path)).unwrap()).collect();
        let mut admitted = 0;
        for round in 0..5000 {
            let budgets = &all[round % 3];
            let account = budgets.account("a");
            if reserved(budgets, &account, 10_000, 7, NOON) {
                admitted += 7;
                let mut held = lock(&account.held);
                held[Meter::Tokens.index()].running -= 7;
                held[Meter::Tokens.index()].used += 7;
            }
        }
        assert!((10_000 - 60..=10_000 + 7).contains(&admitted), "{admitted}");
        std::fs::remove_file(path).unwrap();
    }
}
