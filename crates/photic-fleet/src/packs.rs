//! Packing: what is stored while something else is being stored becomes one object with all that
//! comes meanwhile, for a bucket counts requests.
//!
//! Nobody waits when nothing is being stored, and nobody is told that bytes are stored before they
//! are. Objects are written by a task of their own: one who stops waiting takes nobody along.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use photic_store::{BlobError, BlobId};
use tokio::sync::oneshot;

use crate::blobs::BucketBlobs;

/// Most bytes of an object that several share. When so many wait, they wait no longer.
const MOST: usize = 8 << 20;

/// Of whom, and of which day, an object is.
type Folder = (i64, i32);

/// What waits to be stored.
#[derive(Debug, Default)]
pub(crate) struct Packs {
    queues: Mutex<BTreeMap<Folder, Queue>>,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Job>,
    bytes: usize,
    /// How many objects are being written.
    writing: usize,
}

/// What somebody stores, and waits for.
#[derive(Debug)]
struct Job {
    blobs: Vec<(BlobId, Bytes)>,
    bytes: usize,
    done: oneshot::Sender<Result<(), Arc<BlobError>>>,
}

impl Packs {
    /// Takes in a job; what is to be written now, if anything is.
    fn add(&self, folder: Folder, job: Job) -> Option<Vec<Job>> {
        let mut queues = self.queues();
        let queue = queues.entry(folder).or_default();
        queue.bytes += job.bytes;
        queue.waiting.push_back(job);
        queue.take()
    }

    /// Says that an object is written; what is to be written next.
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
    /// The jobs of an object, if one is due.
    fn take(&mut self) -> Option<Vec<Job>> {
        if self.waiting.is_empty() || (self.writing > 0 && self.bytes < MOST) {
            return None;
        }
        let mut jobs = Vec::new();
        let mut bytes = 0;
        while let Some(job) =
            self.waiting.pop_front_if(|job| bytes == 0 || bytes + job.bytes <= MOST)
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
    /// Stores blobs of a day, with what others store meanwhile.
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
            Err(_) => Err(BlobError::Unavailable("nobody stores blobs any more".into())),
        }
    }

    /// Writes object after object, as long as something waits.
    async fn write_packs(self, folder: Folder, jobs: Vec<Job>) {
        let mut next = Some(jobs);
        while let Some(jobs) = next {
            let all = jobs.iter().flat_map(|job| job.blobs.iter().cloned());
            // What several store is stored once.
            let all: BTreeMap<BlobId, Bytes> = all.collect();
            let all: Vec<(BlobId, Bytes)> = all.into_iter().collect();
            let stored = self.write(folder, &all).await.map_err(Arc::new);
            for job in jobs {
                // Who stopped waiting need not know.
                let _ = job.done.send(stored.clone());
            }
            next = self.packs().next(folder);
        }
    }
}
