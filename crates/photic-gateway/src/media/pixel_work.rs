//! Work on pixels: as many jobs at once as there are processors, each with the memory it is allowed.
//!
//! Slot and memory belong to the job and not to whoever waits for it, since a job goes on for a moment after
//! its client has left. A client that leaves calls its job off; one that has not begun never begins.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use photic_pixels::{DecodeLimits, Meter};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use crate::http::Failure;
use crate::memory::{Charge, Share, Use};

/// The jobs that work on pixels.
#[derive(Debug)]
pub(crate) struct PixelWork {
    slots: Arc<Semaphore>,
    /// For the pixels of one request.
    longest: Duration,
    running: Arc<AtomicUsize>,
}

/// What a job may use, and for how long.
#[derive(Debug)]
pub(crate) struct Allowance {
    charge: Mutex<Charge>,
    /// Bytes of what was made so far, which outlive the job.
    kept: Mutex<u64>,
    /// Bytes that the picture under way takes beside pixels.
    files: Mutex<u64>,
    /// The most for one picture: no more than its caller gets at any time, so that whether it is made does not
    /// depend on others.
    assured: u64,
    most: u64,
    left: Arc<AtomicBool>,
    until: Instant,
    lacked_room: AtomicBool,
}

/// Tells a job that its client has left, when it is dropped.
#[derive(Debug)]
struct Leaving(Arc<AtomicBool>);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Counts a job that runs.
#[derive(Debug)]
struct Running(Arc<AtomicUsize>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl PixelWork {
    /// So many jobs at once, each no longer than that.
    pub(crate) fn new(slots: usize, longest: Duration) -> Self {
        Self { slots: Arc::new(Semaphore::new(slots)), longest, running: Arc::default() }
    }

    /// Jobs that run now.
    pub(crate) fn running(&self) -> usize {
        self.running.load(Ordering::Relaxed)
    }

    /// Does work on a thread that may block, once there is a slot. Returns what came of it, with the charge
    /// for the pictures in it. Dropping the future calls the work off.
    ///
    /// Fails where there was no memory for it, or where it panicked: a decoder that panics takes one request
    /// with it, and no other.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        share: &Share,
        work: impl FnOnce(&Allowance) -> T + Send + 'static,
    ) -> Result<(T, Charge), Failure> {
        let slots = Arc::clone(&self.slots);
        let slot = slots.acquire_owned().await.map_err(|_| Failure::Broken)?;
        let leaving = Leaving(Arc::default());
        let allowance = Allowance::new(share, Arc::clone(&leaving.0), self.longest);
        self.running.fetch_add(1, Ordering::Relaxed);
        let running = Running(Arc::clone(&self.running));
        let job = tokio::task::spawn_blocking(move || {
            let _held = (slot, running);
            if allowance.has_left() {
                return Err(Failure::Broken);
            }
            let done = work(&allowance);
            allowance.finish().map(|charge| (done, charge))
        });
        let done = job.await.map_err(|_| Failure::Broken)?;
        drop(leaving);
        done
    }
}

impl Allowance {
    fn new(share: &Share, left: Arc<AtomicBool>, longest: Duration) -> Self {
        Self {
            charge: Mutex::new(share.nothing(Use::Pixels)),
            kept: Mutex::new(0),
            files: Mutex::new(0),
            assured: share.assured(),
            most: share.most(),
            left,
            until: Instant::now() + longest,
            lacked_room: AtomicBool::new(false),
        }
    }

    /// The bounds for a picture whose files take so many bytes; none, where there is no room for those.
    pub(crate) fn picture(&self, files: u64) -> Option<DecodeLimits<'_>> {
        *self.files.lock().unwrap_or_else(PoisonError::into_inner) = files;
        let usual = DecodeLimits::default();
        let memory = usual.memory.min(self.assured);
        self.hold(0).then_some(DecodeLimits { memory, meter: Some(self), ..usual })
    }

    /// Ends a picture: gives back what it took, and charges for so many bytes that were made and stay. Returns
    /// whether there is room for those.
    pub(crate) fn made(&self, bytes: u64) -> bool {
        *self.files.lock().unwrap_or_else(PoisonError::into_inner) = 0;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        *kept += bytes;
        let all = *kept;
        drop(kept);
        let mut charge = self.charge.lock().unwrap_or_else(PoisonError::into_inner);
        charge.shrink_to(all);
        drop(charge);
        self.hold(0)
    }

    /// Whether a failure says something about the time or the room there was, and nothing about the picture.
    pub(crate) fn is_to_blame(&self) -> bool {
        !self.is_wanted() || self.lacked_room.load(Ordering::Relaxed)
    }

    fn has_left(&self) -> bool {
        self.left.load(Ordering::Relaxed)
    }

    fn finish(self) -> Result<Charge, Failure> {
        if self.lacked_room.load(Ordering::Relaxed) {
            return Err(Failure::NoRoom);
        }
        let kept = self.kept.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut charge = self.charge.into_inner().unwrap_or_else(PoisonError::into_inner);
        charge.shrink_to(kept);
        Ok(charge)
    }
}

impl Meter for Allowance {
    fn hold(&self, bytes: u64) -> bool {
        let kept = *self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let files = *self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let mut charge = self.charge.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = kept + files + bytes;
        if wanted > self.most {
            // No waiting would help: it is too large for this gateway, as others are for any.
            return false;
        }
        let has_room = charge.try_reach(wanted)
            || Handle::try_current()
                .is_ok_and(|waits| waits.block_on(charge.reach(wanted)).is_ok());
        if !has_room {
            self.lacked_room.store(true, Ordering::Relaxed);
        }
        has_room
    }

    fn is_wanted(&self) -> bool {
        !self.has_left() && Instant::now() < self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{CallerIds, MemoryBudget};

    fn share() -> Share {
        MemoryBudget::new(64).share(CallerIds::default().of("somebody"))
    }

    #[tokio::test]
    async fn work_whose_client_left_is_called_off_and_keeps_its_slot_until_then() {
        let pixels = Arc::new(PixelWork::new(1, Duration::from_mins(1)));
        let (begun, begins) = tokio::sync::oneshot::channel();
        let (ended, ends) = tokio::sync::oneshot::channel();
        let (shared, share) = (Arc::clone(&pixels), share());
        let other = share.clone();
        let request = tokio::spawn(async move {
            let work = move |allowance: &Allowance| {
                let _ = begun.send(());
                while allowance.is_wanted() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                let _ = ended.send(());
            };
            shared.run(&share, work).await.map(|_| ())
        });
        begins.await.unwrap();
        assert_eq!(pixels.running(), 1);
        request.abort();
        ends.await.unwrap();
        // The slot is free again, and the next job runs.
        assert_eq!(pixels.run(&other, |_| 7).await.unwrap().0, 7);
    }

    #[tokio::test]
    async fn work_past_its_time_is_not_wanted() {
        let pixels = PixelWork::new(1, Duration::ZERO);
        let (wanted, _) = pixels.run(&share(), Allowance::is_wanted).await.unwrap();
        assert!(!wanted);
    }

    #[tokio::test]
    async fn memory_is_charged_while_it_is_used_and_for_what_is_made() {
        let share = share();
        let pixels = PixelWork::new(1, Duration::from_mins(1));
        let work = |allowance: &Allowance| {
            assert!(allowance.picture(1 << 20).is_some());
            assert!(allowance.hold(10 << 20));
            assert!(!allowance.hold(60 << 20), "more than there is");
            allowance.made(3000)
        };
        let (made, charge) = pixels.run(&share, work).await.unwrap();
        assert!(made);
        assert_eq!(charge.bytes(), 3000);
    }
}
