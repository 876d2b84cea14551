//! Buffers for bodies, used again. Large allocations are returned to the system as soon as they
//! are freed, and getting them back costs a page fault every 4 KiB: measured, more than everything
//! else a gateway does with a large body.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use bytes::Bytes;

/// Below this the allocator keeps memory by itself.
pub(crate) const WORTH_KEEPING: usize = 64 << 10;
/// What unused buffers may take together.
const MOST: usize = 96 << 20;
/// How long one stays unused before it is given up.
const IDLE: Duration = Duration::from_secs(5);

/// The buffers that nobody uses at the moment.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    idle: Mutex<Vec<Idle>>,
}

#[derive(Debug)]
struct Idle {
    bytes: Vec<u8>,
    since: Instant,
}

/// A buffer that finds its way back when its last reader is done.
#[derive(Debug)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    home: Weak<Buffers>,
}

impl Buffers {
    /// A buffer with room for about so much.
    pub(crate) fn take(self: &Arc<Self>, room: usize) -> Buffer {
        let home = if room < WORTH_KEEPING { Weak::new() } else { Arc::downgrade(self) };
        let kept = (room >= WORTH_KEEPING).then(|| self.fitting(room)).flatten();
        let bytes = kept.unwrap_or_else(|| Vec::with_capacity(room));
        Buffer { bytes, home }
    }

    /// Gives up what was not used lately.
    pub(crate) fn trim(&self) {
        self.lock().retain(|idle| idle.since.elapsed() < IDLE);
    }

    /// What unused buffers take together.
    pub(crate) fn bytes(&self) -> u64 {
        self.lock().iter().map(|idle| idle.bytes.capacity() as u64).sum()
    }

    /// The smallest that is large enough. If none is, the largest makes way for one that will be:
    /// to grow it would copy what nobody wants.
    fn fitting(&self, room: usize) -> Option<Vec<u8>> {
        let mut idle = self.lock();
        let fits =
            |idle: &Idle| (idle.bytes.capacity() < room, idle.bytes.capacity().abs_diff(room));
        let best = (0..idle.len()).min_by_key(|&index| fits(&idle[index]))?;
        Some(idle.swap_remove(best).bytes).filter(|bytes| bytes.capacity() >= room)
    }

    fn keep(&self, mut bytes: Vec<u8>) {
        bytes.clear();
        let mut idle = self.lock();
        let kept: usize = idle.iter().map(|idle| idle.bytes.capacity()).sum();
        if kept + bytes.capacity() <= MOST {
            idle.push(Idle { bytes, since: Instant::now() });
        }
    }

    /// A list of vectors is sound whatever its last holder was doing.
    fn lock(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Buffer {
    pub(crate) fn extend(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The bytes, to be shared; the buffer goes home when the last of them is dropped.
    pub(crate) fn freeze(mut self) -> Bytes {
        if self.home.strong_count() == 0 {
            return Bytes::from(std::mem::take(&mut self.bytes));
        }
        Bytes::from_owner(self)
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(home) = self.home.upgrade() {
            home.keep(std::mem::take(&mut self.bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_comes_back_when_its_last_reader_is_done() {
        let buffers = Arc::new(Buffers::default());
        let mut buffer = buffers.take(1 << 20);
        buffer.extend(b"body");
        let at = buffer.as_ref().as_ptr();
        let bytes = buffer.freeze();
        let slice = bytes.slice(1..);
        drop(bytes);
        assert!(buffers.lock().is_empty());
        drop(slice);
        let again = buffers.take(1 << 19);
        assert_eq!((again.len(), again.as_ref().as_ptr()), (0, at));
    }

    #[test]
    fn one_that_is_too_small_makes_way() {
        let buffers = Arc::new(Buffers::default());
        drop(buffers.take(1 << 20).freeze());
        let larger = buffers.take(3 << 20);
        assert_eq!((larger.bytes.capacity(), buffers.bytes()), (3 << 20, 0));
    }

    #[test]
    fn small_ones_are_nobodys_business() {
        let buffers = Arc::new(Buffers::default());
        drop(buffers.take(1000).freeze());
        assert!(buffers.lock().is_empty());
    }

    #[test]
    fn no_more_is_kept_than_agreed() {
        let buffers = Arc::new(Buffers::default());
        let taken: Vec<Buffer> = (0..5).map(|_| buffers.take(MOST / 4 + 1)).collect();
        drop(taken);
        assert_eq!(buffers.lock().len(), 3);
    }
}
