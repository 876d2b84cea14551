//! A pool of reusable buffers for request bodies.
//!
//! Buffers of 1 MiB and more are mapped ([`Pages`]), so their memory goes back to the system as soon
//! as they are freed. Getting it again costs a page fault every 4 KiB: measured, more than everything
//! else that the gateway does with a large body. Up to 96 MiB of unused buffers are therefore kept
//! for reuse.
//!
//! A buffer is charged to the caller whose bytes it holds, as they arrive. Unused buffers are charged
//! to the gateway itself, and are freed as soon as a request needs their memory.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::budget::{Charge, MemoryBudget, NoRoom, Reclaim, Share, Use};
use super::caller_id::CallerIds;
use super::pages::Pages;

/// Minimum size of a pooled buffer. The allocator reuses smaller ones by itself.
pub(crate) const WORTH_KEEPING: usize = 64 << 10;
/// Maximum bytes of all unused buffers together.
const MAX_UNUSED_BYTES: usize = 96 << 20;
/// Maximum size of a reused buffer, in multiples of the room that is needed: the caller is charged for
/// all of it.
const MAX_EXCESS: usize = 4;
/// Time after which an unused buffer is freed.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes that are charged at once, so that the lock is not taken for every piece.
const STEP: usize = 256 << 10;

/// A pool of unused buffers.
#[derive(Debug)]
pub(crate) struct Buffers {
    idle: Mutex<Vec<Idle>>,
    share: Share,
}

#[derive(Debug)]
struct Idle {
    bytes: Pages,
    since: Instant,
    charge: Charge,
}

/// A buffer that returns to its pool when it is dropped.
#[derive(Debug)]
pub(crate) struct Buffer {
    bytes: Pages,
    home: Weak<Buffers>,
    /// The charge to the caller that fills it.
    charge: Option<Charge>,
    /// Bytes that take memory although they may be unused: the room of a reused buffer.
    resident: usize,
}

impl Buffers {
    /// Creates a pool whose unused buffers are charged to a budget.
    pub(crate) fn within(budget: &Arc<MemoryBudget>) -> Arc<Self> {
        let share = budget.share(CallerIds::default().of("the gateway itself"));
        let pool = Arc::new(Self { idle: Mutex::default(), share });
        let reclaim: Weak<dyn Reclaim> = Arc::downgrade(&(Arc::clone(&pool) as Arc<dyn Reclaim>));
        budget.reclaim_from(reclaim);
        pool
    }

    /// Returns an empty buffer with at least this room, a reused one if possible.
    pub(crate) fn take(self: &Arc<Self>, room: usize, mut charge: Option<Charge>) -> Buffer {
        let home = if room < WORTH_KEEPING { Weak::new() } else { Arc::downgrade(self) };
        let kept = (room >= WORTH_KEEPING).then(|| self.fitting(room, charge.as_mut())).flatten();
        let resident = kept.as_ref().map_or(0, Pages::room);
        let bytes = kept.unwrap_or_else(|| Pages::with_room(room));
        Buffer { bytes, home, charge, resident }
    }

    /// Frees buffers that were not used for [`IDLE_TIMEOUT`].
    pub(crate) fn trim(&self) {
        self.lock().retain(|idle| idle.since.elapsed() < IDLE_TIMEOUT);
    }

    /// Returns the bytes of all unused buffers together.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> u64 {
        self.lock().iter().map(|idle| idle.bytes.room() as u64).sum()
    }

    /// Takes the smallest unused buffer that is large enough, and charges it to the caller. One that is
    /// far too large stays in the pool. If all are too small, or the caller would hold too much with
    /// the one that fits, it is freed for a new one: growing it would copy its old bytes for nothing.
    fn fitting(&self, room: usize, charge: Option<&mut Charge>) -> Option<Pages> {
        let mut idle = self.lock();
        let fits = |idle: &Idle| (idle.bytes.room() < room, idle.bytes.room().abs_diff(room));
        let best = (0..idle.len()).min_by_key(|&index| fits(&idle[index]))?;
        if idle[best].bytes.room() / MAX_EXCESS > room {
            return None;
        }
        let Idle { bytes, charge: spare, .. } = idle.swap_remove(best);
        drop(idle);
        let refused = match charge {
            _ if bytes.room() < room => Some(spare),
            Some(charge) => charge.absorb(spare).err(),
            None => None,
        };
        // Freed while it is still charged.
        if refused.is_some() {
            drop(bytes);
            return None;
        }
        Some(bytes)
    }

    /// Keeps a buffer that is no longer in use, with what was charged for it.
    fn keep(&self, mut bytes: Pages, charge: Option<Charge>) {
        bytes.clear();
        let mut spare = self.share.nothing(Use::Spare);
        // Taken before requests that wait for memory are woken, so that they find the buffer.
        let mut idle = self.lock();
        // Unused memory may be of any amount, so nothing comes back.
        let left = charge.and_then(|charge| spare.absorb(charge).err());
        debug_assert!(left.is_none(), "unused memory is never refused");
        let kept: usize = idle.iter().map(|idle| idle.bytes.room()).sum();
        if kept + bytes.room() <= MAX_UNUSED_BYTES && spare.try_reach(bytes.room() as u64) {
            spare.shrink_to(bytes.room() as u64);
            idle.push(Idle { bytes, since: Instant::now(), charge: spare });
            return;
        }
        drop(idle);
        // Freed while it is still charged.
        drop(bytes);
    }

    /// Locks the list. A poisoned lock is taken: the list is valid after every step.
    fn lock(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reclaim for Buffers {
    fn reclaim(&self) {
        let all = std::mem::take(&mut *self.lock());
        drop(all);
    }
}

impl Buffer {
    /// Appends a piece as soon as there is memory for it.
    ///
    /// # Errors
    ///
    /// Fails like [`Charge::grow`] if there is none in time.
    pub(crate) async fn extend(&mut self, piece: &[u8]) -> Result<(), NoRoom> {
        let length = self.len() + piece.len();
        let held = length.next_multiple_of(STEP).max(self.resident);
        let moves = length > self.bytes.room();
        // A reallocation holds the bytes twice for a moment.
        let twice = if moves { self.len() } else { 0 };
        if let Some(charge) = &mut self.charge {
            charge.reach((held + twice) as u64).await?;
        }
        self.bytes.extend(piece);
        if let Some(charge) = self.charge.as_mut().filter(|_| moves) {
            charge.shrink_to(held as u64);
        }
        Ok(())
    }

    /// Moves the bytes to a buffer with more room. Both are charged while there are two.
    ///
    /// # Errors
    ///
    /// Fails like [`Charge::grow`] if there is no memory for it in time.
    pub(crate) async fn move_to(
        &mut self,
        buffers: &Arc<Buffers>,
        room: usize,
    ) -> Result<(), NoRoom> {
        let charge = self.charge.as_ref().map(Charge::beside);
        let mut larger = buffers.take(room, charge);
        larger.extend(self.bytes.as_ref()).await?;
        *self = larger;
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.as_ref().len()
    }

    /// Returns the bytes for sharing. The buffer returns to its pool when the last slice is dropped.
    pub(crate) fn freeze(self) -> Bytes {
        Bytes::from_owner(self)
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        self.bytes.as_ref()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let charge = self.charge.take();
        // The unused part of a buffer takes no memory. A mostly unused one is not worth keeping.
        let is_used = self.len().max(self.resident) * 2 >= self.bytes.room();
        match self.home.upgrade().filter(|_| is_used) {
            Some(home) => home.keep(std::mem::take(&mut self.bytes), charge),
            // Freed while it is still charged.
            None => drop(std::mem::take(&mut self.bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Wake, Waker};

    use super::*;

    fn pool() -> Arc<Buffers> {
        Buffers::within(&MemoryBudget::new(256))
    }

    /// Returns a buffer with bytes in it.
    async fn filled(buffers: &Arc<Buffers>, size: usize) -> Buffer {
        let mut buffer = buffers.take(size, None);
        buffer.extend(&vec![0; size]).await.unwrap();
        buffer
    }

    #[tokio::test]
    async fn a_buffer_comes_back_when_its_last_reader_is_done() {
        let buffers = pool();
        let buffer = filled(&buffers, 1 << 20).await;
        let at = buffer.as_ref().as_ptr();
        let bytes = buffer.freeze();
        let slice = bytes.slice(1..);
        drop(bytes);
        assert!(buffers.lock().is_empty());
        drop(slice);
        let again = buffers.take(1 << 19, None);
        assert_eq!((again.len(), again.as_ref().as_ptr()), (0, at));
    }

    #[tokio::test]
    async fn one_that_is_too_small_makes_way() {
        let buffers = pool();
        drop(filled(&buffers, 1 << 20).await.freeze());
        let larger = buffers.take(3 << 20, None);
        assert_eq!((larger.bytes.room(), buffers.bytes()), (3 << 20, 0));
    }

    #[tokio::test]
    async fn small_buffers_are_not_pooled() {
        let buffers = pool();
        drop(filled(&buffers, 1000).await.freeze());
        assert!(buffers.lock().is_empty());
    }

    #[tokio::test]
    async fn no_more_is_kept_than_agreed() {
        let buffers = pool();
        let mut taken = Vec::new();
        for _ in 0..5 {
            taken.push(filled(&buffers, MAX_UNUSED_BYTES / 4 + 1).await);
        }
        drop(taken);
        assert_eq!(buffers.lock().len(), 3);
    }

    #[tokio::test]
    async fn a_caller_pays_for_what_arrived_and_for_what_it_was_given() {
        let budget = MemoryBudget::new(256);
        let buffers = Buffers::within(&budget);
        let share = budget.share(CallerIds::default().of("caller"));
        let bodies = || budget.used()[Use::Bodies as usize];
        let mut buffer = buffers.take(32 << 20, Some(share.nothing(Use::Bodies)));
        buffer.extend(b"{").await.unwrap();
        assert_eq!(bodies(), STEP as u64, "not what was promised");
        drop(buffer.freeze());
        assert_eq!(bodies(), 0);
        drop(filled(&buffers, 32 << 20).await);
        let again = buffers.take(32 << 20, Some(share.nothing(Use::Bodies)));
        assert_eq!(bodies(), 32 << 20, "these pages are there already");
        drop(again);
        assert_eq!((bodies(), budget.used()[Use::Spare as usize]), (0, 32 << 20));
    }

    /// Every byte of a buffer is charged to one caller at any time.
    #[tokio::test]
    async fn a_buffer_that_changes_hands_stays_charged_once() {
        let budget = MemoryBudget::new(0);
        let buffers = Buffers::within(&budget);
        let ids = CallerIds::default();
        let [one, other] = ["one", "other"].map(|name| budget.share(ids.of(name)));
        let mut buffer = buffers.take(20 << 20, Some(one.nothing(Use::Bodies)));
        buffer.extend(&vec![0; 20 << 20]).await.unwrap();
        // No room for a second charge of this size.
        let rest = other.charge(Use::Bodies, 20 << 20).await.unwrap();
        drop(buffer);
        assert_eq!(budget.used()[Use::Spare as usize], 20 << 20);
        let again = buffers.take(20 << 20, Some(one.nothing(Use::Bodies)));
        assert_eq!((again.resident, budget.used()[Use::Bodies as usize]), (20 << 20, 40 << 20));
        drop(again);
        // Whoever may not hold so much gets a new one, and the old one is gone.
        let small = one.charge(Use::Bodies, 1 << 20).await.unwrap();
        let none = buffers.take(20 << 20, Some(other.nothing(Use::Bodies)));
        assert_eq!((none.resident, budget.used().iter().sum::<u64>()), (0, 21 << 20));
        drop((rest, small));
    }

    #[tokio::test]
    async fn both_are_charged_while_bytes_move() {
        let budget = MemoryBudget::new(0);
        let buffers = Buffers::within(&budget);
        let one = budget.share(CallerIds::default().of("one"));
        let mut buffer = buffers.take(1 << 20, Some(one.nothing(Use::Bodies)));
        buffer.extend(&vec![7; 1 << 20]).await.unwrap();
        let rest = one.charge(Use::Bodies, 41 << 20).await.unwrap();
        assert_eq!(buffer.move_to(&buffers, 2 << 20).await, Err(NoRoom));
        drop(rest);
        buffer.move_to(&buffers, 2 << 20).await.unwrap();
        assert_eq!((buffer.as_ref(), buffer.bytes.room()), (&vec![7; 1 << 20][..], 2 << 20));
        assert_eq!(budget.used()[Use::Bodies as usize], 1 << 20);
    }

    #[tokio::test]
    async fn unused_buffers_make_way() {
        let budget = MemoryBudget::new(0);
        let one = budget.share(CallerIds::default().of("one"));
        let buffers = Buffers::within(&budget);
        let mut buffer = buffers.take(10 << 20, None);
        buffer.extend(&vec![0; 10 << 20]).await.unwrap();
        drop(buffer);
        assert_eq!(budget.used()[Use::Spare as usize], 10 << 20);
        assert!(one.charge(Use::Bodies, 42 << 20).await.is_ok());
        assert_eq!((budget.used()[Use::Spare as usize], buffers.bytes()), (0, 0));
    }

    #[tokio::test]
    async fn a_small_body_gets_no_huge_buffer() {
        let budget = MemoryBudget::new(256);
        let buffers = Buffers::within(&budget);
        let share = budget.share(CallerIds::default().of("caller"));
        drop(filled(&buffers, 32 << 20).await);
        let small = buffers.take(1 << 20, Some(share.nothing(Use::Bodies)));
        assert_eq!((small.resident, buffers.bytes()), (0, 32 << 20));
        let large = buffers.take(8 << 20, Some(share.nothing(Use::Bodies)));
        assert_eq!((large.resident, buffers.bytes()), (32 << 20, 0));
    }

    /// Notes if the pool was locked in every call.
    struct LockedWaker {
        buffers: Arc<Buffers>,
        calls: AtomicUsize,
        locked: AtomicUsize,
    }

    impl Wake for LockedWaker {
        fn wake(self: Arc<Self>) {
            self.calls.fetch_add(1, Ordering::SeqCst);
            let is_locked = self.buffers.idle.try_lock().is_err();
            self.locked.fetch_add(usize::from(is_locked), Ordering::SeqCst);
        }
    }

    /// A request that waits for memory, and looks for unused buffers as soon as it is woken, must not
    /// look before the buffer is among them. It cannot while the pool is locked.
    #[tokio::test]
    async fn who_waits_finds_the_buffer_that_became_unused() {
        let budget = MemoryBudget::new(0);
        let buffers = Buffers::within(&budget);
        let one = budget.share(CallerIds::default().of("one"));
        let mut buffer = buffers.take(20 << 20, Some(one.nothing(Use::Bodies)));
        buffer.extend(&vec![0; 20 << 20]).await.unwrap();
        let waker = Arc::new(LockedWaker {
            buffers: Arc::clone(&buffers),
            calls: AtomicUsize::new(0),
            locked: AtomicUsize::new(0),
        });
        let mut wait = std::pin::pin!(one.charge(Use::Bodies, 40 << 20));
        let given = Waker::from(Arc::clone(&waker));
        let mut context = Context::from_waker(&given);
        assert!(wait.as_mut().poll(&mut context).is_pending());
        drop(buffer);
        let (calls, locked) = (&waker.calls, &waker.locked);
        assert!(calls.load(Ordering::SeqCst) > 0, "it was woken");
        assert_eq!(calls.load(Ordering::SeqCst), locked.load(Ordering::SeqCst));
        assert!(wait.as_mut().poll(&mut context).is_ready());
    }
}
