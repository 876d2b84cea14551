//! One budget for everything that requests make the gateway hold.
//!
//! Memory is charged when it is used, to whoever causes it, until it is freed: a [`Charge`] lives beside the
//! bytes or in the work it stands for. No caller may take all of it, so that none can shut out the others.

mod bytes;
mod caller;
mod size;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

pub(crate) use bytes::charged;
pub(crate) use caller::{CallerId, CallerIds};
pub(crate) use size::default_mib;

use crate::buffers::Buffers;
use crate::failure::Failure;

/// How long somebody waits for room before it is told to come again.
const PATIENCE: Duration = Duration::from_secs(2);
/// What caches may take of the budget together.
const CACHES: u64 = 4;

/// What memory is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Bodies of requests.
    Bodies,
    /// Pictures that were fetched for requests.
    Fetched,
    /// Pixels, and the pictures made of them.
    Pixels,
    /// Replies that are gathered to be translated.
    Replies,
    /// Buffers that nobody uses at the moment.
    Spare,
}

impl Use {
    /// All of them.
    pub(crate) const ALL: [Self; 5] =
        [Self::Bodies, Self::Fetched, Self::Pixels, Self::Replies, Self::Spare];

    /// Its name in metrics.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Bodies => "bodies",
            Self::Fetched => "fetched",
            Self::Pixels => "pixels",
            Self::Replies => "replies",
            Self::Spare => "spare",
        }
    }
}

/// The memory that the gateway may use.
#[derive(Debug)]
pub(crate) struct MemoryBudget {
    total: u64,
    /// What requests may take together: the caches have the rest.
    requests: u64,
    state: Mutex<State>,
    freed: Notify,
    /// Where unused memory can be had from.
    spare: OnceLock<Weak<Buffers>>,
}

#[derive(Debug, Default)]
struct State {
    used: u64,
    by_use: [u64; Use::ALL.len()],
    by_caller: HashMap<CallerId, u64>,
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
    /// A budget of so many MiB, at least 64.
    pub(crate) fn new(mib: u32) -> Arc<Self> {
        let total = u64::from(mib.max(64)) << 20;
        Arc::new(Self {
            total,
            requests: total - total / CACHES,
            state: Mutex::default(),
            freed: Notify::new(),
            spare: OnceLock::new(),
        })
    }

    /// All of it, in bytes.
    pub(crate) const fn total(&self) -> u64 {
        self.total
    }

    /// What one cache may take: as configured, as far as all caches fit into their part.
    pub(crate) fn cache(&self, mib: u32) -> usize {
        let most = (self.total - self.requests) / 4;
        usize::try_from((u64::from(mib) << 20).min(most)).unwrap_or(usize::MAX)
    }

    /// Names the pool whose unused buffers make way for whatever is needed.
    pub(crate) fn reclaim_from(&self, buffers: &Arc<Buffers>) {
        let _ = self.spare.set(Arc::downgrade(buffers));
    }

    /// The share of a caller.
    pub(crate) fn share(self: &Arc<Self>, caller: CallerId) -> Share {
        Share { budget: Arc::clone(self), caller }
    }

    /// Bytes in use now, by use.
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
        state.used += bytes;
        state.by_use[what as usize] += bytes;
        *state.by_caller.entry(caller).or_default() += bytes;
        true
    }

    /// What one caller may hold: half, and most of it while nobody else needs any. The last eighth is for
    /// whoever comes next.
    const fn most(&self, is_alone: bool) -> u64 {
        if is_alone { self.requests / 8 * 7 } else { self.requests / 2 }
    }

    fn give_back(&self, caller: CallerId, what: Use, bytes: u64) {
        if bytes == 0 {
            return;
        }
        let mut state = self.lock();
        state.used -= bytes;
        state.by_use[what as usize] -= bytes;
        if let Some(own) = state.by_caller.get_mut(&caller) {
            *own -= bytes;
            if *own == 0 {
                state.by_caller.remove(&caller);
            }
        }
        drop(state);
        self.freed.notify_waiters();
    }

    /// Gives up what nobody uses. Returns whether there was any.
    fn reclaim(&self) -> bool {
        let spare = self.lock().by_use[Use::Spare as usize];
        let buffers = self.spare.get().and_then(Weak::upgrade).filter(|_| spare > 0);
        buffers.inspect(|buffers| buffers.clear()).is_some()
    }

    /// Sums are right whenever the lock is free.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Share {
    /// Nothing yet; it can grow.
    pub(crate) fn nothing(&self, what: Use) -> Charge {
        Charge { share: self.clone(), what, bytes: 0 }
    }

    /// Charges the caller, once there is room. Fails if there is none for too long.
    pub(crate) async fn charge(&self, what: Use, bytes: u64) -> Result<Charge, Failure> {
        let mut charge = self.nothing(what);
        charge.grow(bytes).await?;
        Ok(charge)
    }

    /// What the caller gets whoever else needs some.
    pub(crate) fn assured(&self) -> u64 {
        self.budget.most(false)
    }

    /// The most that this caller could ever hold at once.
    pub(crate) fn most(&self) -> u64 {
        self.budget.most(true)
    }
}

impl Charge {
    /// Charges so much more, if there is room right now.
    pub(crate) fn try_grow(&mut self, bytes: u64) -> bool {
        let Share { budget, caller } = &self.share;
        let taken = budget.take(*caller, self.what, bytes)
            || (self.what != Use::Spare
                && budget.reclaim()
                && budget.take(*caller, self.what, bytes));
        self.bytes += if taken { bytes } else { 0 };
        taken
    }

    /// Charges so much more, once there is room. Fails if there is none for too long: whoever waits holds
    /// what it has, and must give it up for those who wait for that.
    pub(crate) async fn grow(&mut self, bytes: u64) -> Result<(), Failure> {
        if self.try_grow(bytes) {
            return Ok(());
        }
        if self.bytes + bytes > self.share.most() {
            return Err(Failure::NoRoom);
        }
        let until = Instant::now() + PATIENCE;
        let budget = Arc::clone(&self.share.budget);
        loop {
            // Told of what is freed from here on, so that nothing is missed in between.
            let freed = budget.freed.notified();
            if self.try_grow(bytes) {
                return Ok(());
            }
            timeout_at(until, freed).await.map_err(|_| Failure::NoRoom)?;
        }
    }

    /// Gives back all but so much.
    pub(crate) fn shrink_to(&mut self, bytes: u64) {
        let Share { budget, caller } = &self.share;
        let rest = self.bytes.saturating_sub(bytes);
        budget.give_back(*caller, self.what, rest);
        self.bytes -= rest;
    }

    /// Charges up to so much in all, if there is room right now.
    pub(crate) fn try_reach(&mut self, bytes: u64) -> bool {
        bytes <= self.bytes || self.try_grow(bytes - self.bytes)
    }

    /// Charges up to so much in all, once there is room.
    pub(crate) async fn reach(&mut self, bytes: u64) -> Result<(), Failure> {
        if bytes > self.bytes { self.grow(bytes - self.bytes).await } else { Ok(()) }
    }

    /// What is charged.
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
        assert!(matches!(one.charge(Use::Bodies, MIB).await, Err(Failure::NoRoom)));
        drop(most);
        assert_eq!(budget.used(), [0; 5]);
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
        assert_eq!(budget.used(), [0; 5], "who is refused frees what it held");
    }

    #[tokio::test]
    async fn unused_buffers_make_way() {
        let (budget, one, _) = budget();
        let buffers = Buffers::within(&budget);
        let mut buffer = buffers.take(10 << 20, None);
        buffer.extend(&vec![0; 10 << 20]).await.unwrap();
        drop(buffer);
        assert_eq!(budget.used()[Use::Spare as usize], 10 * MIB);
        assert!(one.charge(Use::Bodies, 42 * MIB).await.is_ok());
        assert_eq!((budget.used()[Use::Spare as usize], buffers.bytes()), (0, 0));
    }
}
