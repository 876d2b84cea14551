//! The budget for everything that requests make the gateway hold.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::caller_id::CallerId;

/// The time for which a request waits for memory before it fails.
const WAIT_TIMEOUT: Duration = Duration::from_secs(2);
/// All caches together may take the budget divided by this.
const CACHE_PART: u64 = 4;
/// The number of caches that share their part: prepared images, looked-up media twice, fetched
/// images, and conversations.
const CACHES: u64 = 5;

/// There was no memory for a request within [`WAIT_TIMEOUT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the gateway has no memory left for this request; try again in a few seconds")]
pub(crate) struct NoRoom;

/// Holds memory that is not in use, and can give it up.
pub(crate) trait Reclaim: std::fmt::Debug + Send + Sync {
    /// Gives up all unused memory.
    fn reclaim(&self);
}

/// The purpose of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Request bodies.
    Bodies,
    /// Pictures that were fetched for requests.
    Fetched,
    /// Pixels, and the pictures made of them.
    Pixels,
    /// Replies that are gathered to be translated.
    Replies,
    /// Conversations of open sockets.
    Sockets,
    /// Buffers that are not in use.
    Spare,
}

impl Use {
    /// All purposes.
    pub(crate) const ALL: [Self; 6] =
        [Self::Bodies, Self::Fetched, Self::Pixels, Self::Replies, Self::Sockets, Self::Spare];

    /// Returns the name in metrics.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Bodies => "bodies",
            Self::Fetched => "fetched",
            Self::Pixels => "pixels",
            Self::Replies => "replies",
            Self::Sockets => "sockets",
            Self::Spare => "spare",
        }
    }
}

/// The memory that requests and caches may use together.
#[derive(Debug)]
pub(crate) struct MemoryBudget {
    total: u64,
    /// Bytes that all requests may take together. The caches have the rest.
    requests: u64,
    state: Mutex<State>,
    freed: Notify,
    /// The pool that gives up unused memory.
    spare: OnceLock<Weak<dyn Reclaim>>,
}

#[derive(Debug, Default)]
struct State {
    used: u64,
    by_use: [u64; Use::ALL.len()],
    /// Sorted, because few callers hold memory at once and a hash costs more than a search. An id is a
    /// keyed hash, so that no caller can choose its place.
    by_caller: BTreeMap<CallerId, u64>,
}

impl State {
    fn add(&mut self, (caller, what): (CallerId, Use), bytes: u64) {
        self.used += bytes;
        self.by_use[what as usize] += bytes;
        *self.by_caller.entry(caller).or_default() += bytes;
    }

    fn remove(&mut self, (caller, what): (CallerId, Use), bytes: u64) {
        self.used -= bytes;
        self.by_use[what as usize] -= bytes;
        if let Some(own) = self.by_caller.get_mut(&caller) {
            *own -= bytes;
            if *own == 0 {
                self.by_caller.remove(&caller);
            }
        }
    }
}

/// The part of the budget that a caller may use.
#[derive(Clone, Debug)]
pub(crate) struct Share {
    budget: Arc<MemoryBudget>,
    caller: CallerId,
}

/// Memory that is in use, until it is dropped.
#[derive(Debug)]
pub(crate) struct Charge {
    share: Share,
    what: Use,
    bytes: u64,
}

impl MemoryBudget {
    /// Creates a budget of so many MiB, at least 64.
    pub(crate) fn new(mib: u32) -> Arc<Self> {
        let total = u64::from(mib.max(64)) << 20;
        Arc::new(Self {
            total,
            requests: total - total / CACHE_PART,
            state: Mutex::default(),
            freed: Notify::new(),
            spare: OnceLock::new(),
        })
    }

    /// Returns the size of the budget in bytes.
    pub(crate) const fn total(&self) -> u64 {
        self.total
    }

    /// Returns the bytes that one cache may take: as configured, as far as all caches fit into their part.
    pub(crate) fn cache(&self, mib: u32) -> usize {
        let most = (self.total - self.requests) / CACHES;
        usize::try_from((u64::from(mib) << 20).min(most)).unwrap_or(usize::MAX)
    }

    /// Sets the pool that gives up its unused memory where a request needs some.
    pub(crate) fn reclaim_from(&self, pool: Weak<dyn Reclaim>) {
        let _ = self.spare.set(pool);
    }

    /// Returns the share of a caller.
    pub(crate) fn share(self: &Arc<Self>, caller: CallerId) -> Share {
        Share { budget: Arc::clone(self), caller }
    }

    /// Returns the bytes in use, by purpose.
    pub(crate) fn used(&self) -> [u64; Use::ALL.len()] {
        self.lock().by_use
    }

    fn take(&self, caller: CallerId, what: Use, bytes: u64) -> bool {
        let mut state = self.lock();
        let own = state.by_caller.get(&caller).copied().unwrap_or(0);
        let is_alone = state.used - state.by_use[Use::Spare as usize] == own;
        if state.used + bytes > self.requests || own + bytes > self.most(is_alone) {
            return false;
        }
        state.add((caller, what), bytes);
        true
    }

    /// Returns the bytes that one caller may hold: half of what all requests may take together, or
    /// seven eighths of it while no other caller holds any.
    const fn most(&self, is_alone: bool) -> u64 {
        if is_alone { self.requests / 8 * 7 } else { self.requests / 2 }
    }

    /// Moves memory from one caller and purpose to another, unless the other would then hold too much.
    /// Unused memory may be of any amount. Returns `true` on success.
    fn reassign(&self, bytes: u64, from: (CallerId, Use), to: (CallerId, Use)) -> bool {
        let mut state = self.lock();
        let own = state.by_caller.get(&to.0).copied().unwrap_or(0);
        let is_alone = state.used - state.by_use[Use::Spare as usize] == own;
        if to.1 != Use::Spare && own + bytes > self.most(is_alone) {
            return false;
        }
        state.remove(from, bytes);
        state.add(to, bytes);
        drop(state);
        // The caller that gave it up may have more of the rest.
        self.freed.notify_waiters();
        true
    }

    fn give_back(&self, caller: CallerId, what: Use, bytes: u64) {
        if bytes == 0 {
            return;
        }
        self.lock().remove((caller, what), bytes);
        self.freed.notify_waiters();
    }

    /// Gives up unused memory. Returns `true` if there was any.
    fn reclaim(&self) -> bool {
        let spare = self.lock().by_use[Use::Spare as usize];
        let pool = self.spare.get().and_then(Weak::upgrade).filter(|_| spare > 0);
        pool.inspect(|pool| pool.reclaim()).is_some()
    }

    /// Locks the sums. A poisoned lock is taken: every change is complete before the lock is released.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Share {
    /// Returns the id of the caller.
    pub(crate) const fn caller(&self) -> CallerId {
        self.caller
    }

    /// Returns an empty charge, which can grow.
    pub(crate) fn nothing(&self, what: Use) -> Charge {
        Charge { share: self.clone(), what, bytes: 0 }
    }

    /// Charges the caller as soon as there is room.
    ///
    /// # Errors
    ///
    /// Fails if there is no room within [`WAIT_TIMEOUT`].
    pub(crate) async fn charge(&self, what: Use, bytes: u64) -> Result<Charge, NoRoom> {
        let mut charge = self.nothing(what);
        charge.grow(bytes).await?;
        Ok(charge)
    }

    /// Returns the bytes that the caller can have whatever other callers hold.
    pub(crate) fn assured(&self) -> u64 {
        self.budget.most(false)
    }

    /// Returns the most bytes that the caller can hold at once.
    pub(crate) fn most(&self) -> u64 {
        self.budget.most(true)
    }
}

impl Charge {
    /// Charges more bytes if there is room now. Returns `true` on success.
    pub(crate) fn try_grow(&mut self, bytes: u64) -> bool {
        let Share { budget, caller } = &self.share;
        let taken = budget.take(*caller, self.what, bytes)
            || (self.what != Use::Spare
                && budget.reclaim()
                && budget.take(*caller, self.what, bytes));
        self.bytes += if taken { bytes } else { 0 };
        taken
    }

    /// Charges more bytes as soon as there is room.
    ///
    /// # Errors
    ///
    /// Fails if there is no room within [`WAIT_TIMEOUT`]: a request that waits holds memory that others wait
    /// for, and has to give it up.
    pub(crate) async fn grow(&mut self, bytes: u64) -> Result<(), NoRoom> {
        if self.try_grow(bytes) {
            return Ok(());
        }
        if self.bytes + bytes > self.share.most() {
            return Err(NoRoom);
        }
        let until = Instant::now() + WAIT_TIMEOUT;
        let budget = Arc::clone(&self.share.budget);
        loop {
            // Created before the attempt, so that memory which is freed in between is not missed.
            let freed = budget.freed.notified();
            if self.try_grow(bytes) {
                return Ok(());
            }
            timeout_at(until, freed).await.map_err(|_| NoRoom)?;
        }
    }

    /// Returns all but the given bytes to the budget.
    pub(crate) fn shrink_to(&mut self, bytes: u64) {
        let Share { budget, caller } = &self.share;
        let rest = self.bytes.saturating_sub(bytes);
        budget.give_back(*caller, self.what, rest);
        self.bytes -= rest;
    }

    /// Charges up to a total if there is room now. Returns `true` on success.
    pub(crate) fn try_reach(&mut self, bytes: u64) -> bool {
        bytes <= self.bytes || self.try_grow(bytes - self.bytes)
    }

    /// Charges up to a total as soon as there is room. Fails like [`Charge::grow`].
    pub(crate) async fn reach(&mut self, bytes: u64) -> Result<(), NoRoom> {
        if bytes > self.bytes { self.grow(bytes - self.bytes).await } else { Ok(()) }
    }

    /// Returns an empty charge to the same caller for the same purpose.
    pub(crate) fn beside(&self) -> Self {
        self.share.nothing(self.what)
    }

    /// Takes over the memory of another charge, unless the caller would then hold too much. Gives the
    /// other one back in that case.
    pub(crate) fn absorb(&mut self, mut other: Self) -> Result<(), Self> {
        let from = (other.share.caller, other.what);
        if !self.share.budget.reassign(other.bytes, from, (self.share.caller, self.what)) {
            return Err(other);
        }
        self.bytes += std::mem::take(&mut other.bytes);
        Ok(())
    }

    /// Returns the bytes that are charged.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        let Share { budget, caller } = &self.share;
        budget.give_back(*caller, self.what, self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::super::caller_id::CallerIds;
    use super::*;

    const MIB: u64 = 1 << 20;

    fn budget() -> (Arc<MemoryBudget>, Share, Share) {
        // 64 MiB, of which requests have 48.
        let budget = MemoryBudget::new(0);
        let ids = CallerIds::default();
        let (one, other) = (budget.share(ids.of("one")), budget.share(ids.of("other")));
        (budget, one, other)
    }

    #[tokio::test]
    async fn who_finds_no_room_is_told_so_and_room_comes_back() {
        let (budget, one, _) = budget();
        let most = one.charge(Use::Bodies, 42 * MIB).await.unwrap();
        assert_eq!(budget.used()[Use::Bodies as usize], 42 * MIB);
        assert!(matches!(one.charge(Use::Bodies, MIB).await, Err(NoRoom)));
        drop(most);
        assert_eq!(budget.used(), [0; 6]);
        assert!(one.charge(Use::Pixels, 42 * MIB).await.is_ok());
    }

    #[tokio::test]
    async fn no_caller_shuts_out_another() {
        let (_, one, other) = budget();
        let mut greedy = one.charge(Use::Bodies, 42 * MIB).await.unwrap();
        let modest = other.charge(Use::Bodies, 6 * MIB).await.unwrap();
        assert!(!greedy.try_grow(1), "more than half, while another needs some");
        greedy.shrink_to(20 * MIB);
        assert!(greedy.try_grow(4 * MIB));
        assert!(!greedy.try_grow(MIB));
        drop(modest);
        assert!(greedy.try_grow(18 * MIB));
    }

    #[tokio::test]
    async fn whoever_waits_gets_what_is_freed() {
        let (_, one, _) = budget();
        let held = one.charge(Use::Bodies, 40 * MIB).await.unwrap();
        let waiting = tokio::spawn(async move { one.charge(Use::Bodies, 30 * MIB).await.is_ok() });
        tokio::time::sleep(Duration::from_millis(100)).await;
        drop(held);
        assert!(waiting.await.unwrap());
    }

    #[tokio::test]
    async fn half_arrived_bodies_do_not_wait_for_each_other_forever() {
        let (budget, one, other) = budget();
        let mut halves = Vec::new();
        for share in [&one, &other] {
            halves.push(share.charge(Use::Bodies, 20 * MIB).await.unwrap());
        }
        let ends = halves
            .into_iter()
            .map(|mut half| tokio::spawn(async move { half.grow(20 * MIB).await.is_err() }));
        let mut refused = 0;
        for end in ends.collect::<Vec<_>>() {
            refused += u32::from(end.await.unwrap());
        }
        assert!(refused >= 1, "one gives way, and the other may then have what it held");
        assert_eq!(budget.used(), [0; 6], "who is refused frees what it held");
    }
}
