//! Packs blobs: blobs that arrive while an object is written become one object, because a bucket
//! charges per request.
//!
//! A blob does not wait if nothing is being written, and callers are told only after their bytes
//! are stored. A separate task writes the objects, so a caller that stops waiting does not affect
//! others.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use photic_store::{BlobError, BlobId};
use tokio::sync::oneshot;

use crate::blobs::BucketBlobs;

/// Largest shared object in bytes. When this much waits, it is written at once.
const MAX_OBJECT_BYTES: usize = 8 << 20;

/// Tenant and day of an object.
type Folder = (i64, i32);

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
struct Job {
    blobs: Vec<(BlobId, Bytes)>,
    bytes: usize,
    done: oneshot::Sender<Result<(), Arc<BlobError>>>,
}

impl Packs {
    /// Adds a job. Returns the jobs to write now, if any.
    fn add(&self, folder: Folder, job: Job) -> Option<Vec<Job>> {
        let mut queues = self.queues();
        let queue = queues.entry(folder).or_default();
        queue.bytes += job.bytes;
        queue.waiting.push_back(job);
        queue.take()
    }

    /// Records that an object is written. Returns the jobs to write next.
    fn next(&self, folder: Folder) -> Option<Vec<Job>> {
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

impl BucketBlobs {
    /// Stores blobs of a day together with others that arrive meanwhile.
    pub(crate) async fn pack(
        &self,
        folder: Folder,
        blobs: Vec<(BlobId, Bytes)>,
    ) -> Result<(), BlobError> {
        let (done, outcome) = oneshot::channel();
        let bytes = blobs.iter().map(|(_, bytes)| bytes.len()).sum();
        if let Some(jobs) = self.packs().add(folder, Job { blobs, bytes, done }) {
            tokio::spawn(self.clone().write_packs(folder, jobs));
        }
        match outcome.await {
            Ok(stored) => stored.map_err(|error| BlobError::Unavailable(error.into())),
            Err(_) => Err(BlobError::Unavailable("the blob writer has stopped".into())),
        }
    }

    /// Writes objects while jobs wait.
    async fn write_packs(self, folder: Folder, jobs: Vec<Job>) {
        let mut next = Some(jobs);
        while let Some(jobs) = next {
            let all = jobs.iter().flat_map(|job| job.blobs.iter().cloned());
            // Equal blobs of several callers are stored once.
            let all: BTreeMap<BlobId, Bytes> = all.collect();
            let all: Vec<(BlobId, Bytes)> = all.into_iter().collect();
            let stored = self.write(folder, &all).await.map_err(Arc::new);
            for job in jobs {
                // The caller may have stopped waiting.
                let _ = job.done.send(stored.clone());
            }
            next = self.packs().next(folder);
        }
    }
}
