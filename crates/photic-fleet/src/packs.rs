//! Packs blobs: blobs that arrive while an object is written become one object, because a bucket
//! charges per request.
//!
//! A blob does not wait if nothing is being written, and callers are told only after their bytes
//! are stored. These are the queues; [`BucketBlobs`](crate::BucketBlobs) writes the objects.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use photic_store::{BlobError, BlobId};
use tokio::sync::oneshot;

/// Largest shared object in bytes. When this much waits, it is written at once.
const MAX_OBJECT_BYTES: usize = 8 << 20;

/// Tenant and day of an object.
pub(crate) type Folder = (i64, i32);

/// The queues of blobs to store.
#[derive(Debug, Default)]
pub(crate) struct Packs {
    queues: Mutex<BTreeMap<Folder, Queue>>,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Job>,
    bytes: usize,
    /// Number of objects being written.
    writing: usize,
}

/// Blobs of a caller that waits.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) blobs: Vec<(BlobId, Bytes)>,
    bytes: usize,
    pub(crate) done: oneshot::Sender<Outcome>,
}

/// The result of storing the blobs of a job.
pub(crate) type Outcome = Result<(), Arc<BlobError>>;

impl Job {
    /// Creates a job, and the receiver of its outcome.
    pub(crate) fn new(blobs: Vec<(BlobId, Bytes)>) -> (Self, oneshot::Receiver<Outcome>) {
        let (done, outcome) = oneshot::channel();
        let bytes = blobs.iter().map(|(_, bytes)| bytes.len()).sum();
        (Self { blobs, bytes, done }, outcome)
    }
}

impl Packs {
    /// Adds a job. Returns the jobs to write now, if any.
    pub(crate) fn add(&self, folder: Folder, job: Job) -> Option<Vec<Job>> {
        let mut queues = self.queues();
        let queue = queues.entry(folder).or_default();
        queue.bytes += job.bytes;
        queue.waiting.push_back(job);
        queue.take()
    }

    /// Records that an object is written. Returns the jobs to write next.
    pub(crate) fn next(&self, folder: Folder) -> Option<Vec<Job>> {
        let mut queues = self.queues();
        let queue = queues.get_mut(&folder)?;
        queue.writing = queue.writing.saturating_sub(1);
        let next = queue.take();
        if next.is_none() && queue.writing == 0 {
            queues.remove(&folder);
        }
        next
    }

    fn queues(&self) -> MutexGuard<'_, BTreeMap<Folder, Queue>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    /// Takes the jobs of the next object, if one is due.
    fn take(&mut self) -> Option<Vec<Job>> {
        if self.waiting.is_empty() || (self.writing > 0 && self.bytes < MAX_OBJECT_BYTES) {
            return None;
        }
        let mut jobs = Vec::new();
        let mut bytes = 0;
        while let Some(job) =
            self.waiting.pop_front_if(|job| bytes == 0 || bytes + job.bytes <= MAX_OBJECT_BYTES)
        {
            bytes += job.bytes;
            jobs.push(job);
        }
        self.bytes -= bytes;
        self.writing += 1;
        Some(jobs)
    }
}
