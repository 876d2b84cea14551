//! Work lists: many pictures, one question each, processed by any number of workers.
//!
//! A job is a list that all its workers have. The store keeps its progress in chunks, and the
//! answers. Chunks are leased, so that another worker takes over when one dies. Answers are stored
//! by question, not by job: no question is asked twice, and each has one answer. The store knows
//! only digests of pictures and questions, and does not interpret answers.

mod money;

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

pub use money::Usd;

use crate::error::Error;
use crate::handle::Tenant;
use crate::random::random_bytes;

/// Digest of everything an answer depends on: picture, recipe, model, question.
pub type QuestionKey = [u8; 32];

/// A list to process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkList<'a> {
    /// Name of the job.
    pub name: &'a str,
    /// Digest of the list and the question. Two lists with one name are an error.
    pub digest: [u8; 32],
    /// Number of lines.
    pub items: u64,
    /// Lines per chunk. An existing job keeps its own number.
    pub chunk: u32,
}

/// A job in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Row number of the job.
    pub id: i64,
    /// Row number of its tenant.
    pub owner: i64,
    /// Number of lines.
    pub items: u64,
    /// Lines per chunk. The last chunk may have fewer.
    pub chunk: u32,
}

impl Job {
    /// Returns the number of chunks.
    pub fn chunks(&self) -> u64 {
        self.items.div_ceil(u64::from(self.chunk.max(1)))
    }

    /// Returns the lines of a chunk; both are counted from 0.
    pub fn lines(&self, chunk: u64) -> std::ops::Range<usize> {
        let size = u64::from(self.chunk.max(1));
        let from = chunk.saturating_mul(size).min(self.items);
        from as usize..from.saturating_add(size).min(self.items) as usize
    }
}

/// Identifier of a worker process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerId([u8; 16]);

impl WorkerId {
    /// Creates a random identifier.
    pub fn random() -> Result<Self, Error> {
        Ok(Self(random_bytes()?))
    }

    /// Returns the bytes of the identifier.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// Progress of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobStatus {
    /// Chunks that are done.
    pub done: u64,
    /// Chunks that are leased to a worker.
    pub taken: u64,
    /// Money spent, with the estimates of questions under way. Questions of dead workers count,
    /// because they may have been billed.
    pub spent: Usd,
}

/// A question to claim before it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuestionRequest {
    /// The question.
    pub key: QuestionKey,
    /// Estimated cost.
    pub estimate: Usd,
    /// Largest cost of the whole job.
    pub cap: Option<Usd>,
    /// Time for which no other worker may ask it, unless the lease is renewed.
    pub lease: Duration,
}

/// Outcome of claiming a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The worker may ask it. Other workers may not meanwhile.
    Ask,
    /// The question has an answer.
    Known(String),
    /// Another worker is asking it.
    Elsewhere,
    /// It would exceed the largest cost of the job.
    Over,
}

/// A storage of work lists and answers.
pub trait WorkStore: Send + Sync {
    /// Opens a job. Creates it if it does not exist. A finished job starts again, because its
    /// pictures may have changed; unchanged ones already have answers. Fails with
    /// [`Error::OtherJob`] if the name belongs to another list.
    fn open_job(
        &self,
        tenant: &Tenant,
        list: &WorkList<'_>,
    ) -> impl Future<Output = Result<Job, Error>> + Send;

    /// Leases a chunk that is free or whose lease expired; `None` if there is none at the moment.
    fn take(
        &self,
        job: &Job,
        worker: &WorkerId,
        lease: Duration,
    ) -> impl Future<Output = Result<Option<u64>, Error>> + Send;

    /// Renews all leases of a worker: chunks and questions.
    fn keep(
        &self,
        worker: &WorkerId,
        lease: Duration,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// Finishes a chunk with its outcome. Returns false if the worker had lost its lease; the
    /// outcome of the new owner counts then.
    fn finish(
        &self,
        job: &Job,
        worker: &WorkerId,
        chunk: u64,
        outcome: &str,
    ) -> impl Future<Output = Result<bool, Error>> + Send;

    /// Returns an unfinished chunk, with its outcome so far.
    fn leave(
        &self,
        job: &Job,
        worker: &WorkerId,
        chunk: u64,
        outcome: &str,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// Returns the progress of a job.
    fn status(&self, job: &Job) -> impl Future<Output = Result<JobStatus, Error>> + Send;

    /// Returns the final or preliminary outcome of a chunk.
    fn outcome(
        &self,
        job: &Job,
        chunk: u64,
    ) -> impl Future<Output = Result<Option<String>, Error>> + Send;

    /// Claims a question. A worker that gets [`Claim::Ask`] must call [`answer`](Self::answer) or
    /// [`unanswered`](Self::unanswered) afterwards.
    fn ask(
        &self,
        job: &Job,
        worker: &WorkerId,
        asking: &QuestionRequest,
    ) -> impl Future<Output = Result<Claim, Error>> + Send;

    /// Stores an answer durably and adds its cost. The first answer to a question stays and is
    /// returned.
    fn answer(
        &self,
        job: &Job,
        key: &QuestionKey,
        answer: &str,
        cost: Usd,
    ) -> impl Future<Output = Result<String, Error>> + Send;

    /// Releases a question without an answer and adds its possible cost. It may be asked again.
    fn unanswered(
        &self,
        job: &Job,
        worker: &WorkerId,
        key: &QuestionKey,
        cost: Usd,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// Returns the answers to those questions that have one, from any job of the tenant.
    fn answers(
        &self,
        job: &Job,
        keys: &[QuestionKey],
    ) -> impl Future<Output = Result<BTreeMap<QuestionKey, String>, Error>> + Send;

    /// Deletes jobs and answers of all tenants that are older than `before`.
    fn forget_work(&self, before: SystemTime) -> impl Future<Output = Result<(), Error>> + Send;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_every_line_once() {
        let job = |items, chunk| Job { id: 1, owner: 1, items, chunk };
        for (items, chunk) in [(0, 100), (1, 100), (100, 100), (101, 100), (250, 100), (5, 1)] {
            let job = job(items, chunk);
            let lines: Vec<usize> = (0..job.chunks()).flat_map(|chunk| job.lines(chunk)).collect();
            assert_eq!(lines, (0..items as usize).collect::<Vec<_>>(), "{items} in {chunk}s");
        }
        assert!(job(5, 2).lines(7).is_empty());
    }
}
