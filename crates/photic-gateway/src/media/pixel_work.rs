//! Runs jobs on pixels: at most one per processor, each within its memory.
//!
//! The job owns its slot and its memory, because it continues for a moment after its client has
//! disconnected. A disconnect cancels the job. A job that has not begun then never begins.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use photic_pixels::{DecodeLimits, Meter};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use crate::http::Failure;
use crate::memory::{Charge, Share, Use};

/// Runs jobs on pixels.
#[derive(Debug)]
pub(crate) struct PixelWork {
    slots: Arc<Semaphore>,
    /// Time limit of one request.
    timeout: Duration,
    running: Arc<AtomicUsize>,
}

/// The memory and time that a job may use.
#[derive(Debug)]
pub(crate) struct Allowance {
    charge: Mutex<Charge>,
    /// Bytes of the images prepared so far, which outlive the job.
    kept: Mutex<u64>,
    /// Bytes of the current image's files, beside its pixels.
    files: Mutex<u64>,
    /// Maximum bytes for one image. The caller can always have them, so the result does not depend on
    /// other callers.
    assured: u64,
    most: u64,
    /// Set when the client has disconnected.
    cancelled: Arc<AtomicBool>,
    until: Instant,
    /// Set if there was no memory in time.
    lacked_room: AtomicBool,
}

/// Cancels a job when it is dropped.
#[derive(Debug)]
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Counts a running job until it is dropped.
#[derive(Debug)]
struct Running(Arc<AtomicUsize>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl PixelWork {
    /// Creates slots for so many jobs at once, each with a time limit.
    pub(crate) fn new(slots: usize, timeout: Duration) -> Self {
        Self { slots: Arc::new(Semaphore::new(slots)), timeout, running: Arc::default() }
    }

    /// Returns the number of running jobs.
    pub(crate) fn running(&self) -> usize {
        self.running.load(Ordering::Relaxed)
    }

    /// Runs a job on a blocking thread as soon as there is a slot. Returns its result, with the charge
    /// for the images in it. Dropping the future cancels the job.
    ///
    /// # Errors
    ///
    /// Fails if there was no memory for the job, or if it panicked: a panic of a decoder fails only
    /// one request.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        share: &Share,
        work: impl FnOnce(&Allowance) -> T + Send + 'static,
    ) -> Result<(T, Charge), Failure> {
        let slots = Arc::clone(&self.slots);
        let slot = slots.acquire_owned().await.map_err(|_| Failure::Broken)?;
        let cancel = CancelOnDrop(Arc::default());
        let allowance = Allowance::new(share, Arc::clone(&cancel.0), self.timeout);
        self.running.fetch_add(1, Ordering::Relaxed);
        let running = Running(Arc::clone(&self.running));
        let job = tokio::task::spawn_blocking(move || {
            let _slot = (slot, running);
            if allowance.is_cancelled() {
                return Err(Failure::Broken);
            }
            let done = work(&allowance);
            allowance.finish().map(|charge| (done, charge))
        });
        let done = job.await.map_err(|_| Failure::Broken)?;
        drop(cancel);
        done
    }
}

impl Allowance {
    fn new(share: &Share, cancelled: Arc<AtomicBool>, timeout: Duration) -> Self {
        Self {
            charge: Mutex::new(share.nothing(Use::Pixels)),
            kept: Mutex::new(0),
            files: Mutex::new(0),
            assured: share.assured(),
            most: share.most(),
            cancelled,
            until: Instant::now() + timeout,
            lacked_room: AtomicBool::new(false),
        }
    }

    /// Returns the limits for an image whose files take so many bytes, or `None` if there is no memory
    /// for the files.
    pub(crate) fn picture(&self, files: u64) -> Option<DecodeLimits<'_>> {
        *self.files.lock().unwrap_or_else(PoisonError::into_inner) = files;
        let usual = DecodeLimits::default();
        let memory = usual.memory.min(self.assured);
        self.hold(0).then_some(DecodeLimits { memory, meter: Some(self), ..usual })
    }

    /// Ends an image: returns its memory, and charges for the bytes of the result, which stay. Returns
    /// `true` if there is memory for them.
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

    /// Returns `true` if a failure was caused by a lack of time or memory, not by the image.
    pub(crate) fn is_to_blame(&self) -> bool {
        !self.is_wanted() || self.lacked_room.load(Ordering::Relaxed)
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
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
            // Waiting would not help: it is too large for the memory of this gateway.
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
        !self.is_cancelled() && Instant::now() < self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{CallerIds, MemoryBudget};

    fn share() -> Share {
        MemoryBudget::new(64).share(CallerIds::default().of("caller"))
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
