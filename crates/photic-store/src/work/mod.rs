//! Work lists: many pictures, one question each, worked through by any number of processes.
//!
//! A job is a list that everybody who works on it has; the store keeps how far it is, in chunks, and
//! what was answered. Chunks are leased, so that one whose worker died is taken by another. Answers
//! are kept by what was asked, not by who asked or in which job: nothing is asked twice, and of an
//! answer there is only ever one. The store knows neither pictures nor questions, only digests of
//! them, and never what an answer means.

mod money;

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

pub use money::Usd;

use crate::error::Error;
use crate::handle::Tenant;

/// Names everything that an answer depends on: picture, recipe, model, question.
pub type QuestionKey = [u8; 32];

/// A list that somebody wants worked through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List<'a> {
    /// How the job is called.
    pub name: &'a str,
    /// Of the list and all that is asked about it: two lists of one name are a mistake.
    pub digest: [u8; 32],
    /// How many lines it has.
    pub items: u64,
    /// How many of them are a chunk. Of a job that is there already, its own number counts.
    pub chunk: u32,
}

/// A job, as the store knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// How the store finds it.
    pub id: i64,
    /// How the store finds whose it is.
    pub owner: i64,
    /// How many lines the list has.
    pub items: u64,
    /// How many of them are a chunk; the last may have fewer.
    pub chunk: u32,
}

impl Job {
    /// How many chunks it has, numbered from 0.
    pub fn chunks(&self) -> u64 {
        self.items.div_ceil(u64::from(self.chunk.max(1)))
    }

    /// The lines of a chunk, from 0.
    pub fn lines(&self, chunk: u64) -> std::ops::Range<usize> {
        let size = u64::from(self.chunk.max(1));
        let from = chunk.saturating_mul(size).min(self.items);
        from as usize..from.saturating_add(size).min(self.items) as usize
    }
}

/// Whoever takes chunks: one running process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worker([u8; 16]);

impl Worker {
    /// A new one.
    pub fn random() -> Result<Self, Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|_| Error::Random)?;
        Ok(Self(bytes))
    }

    /// What the store keeps of it.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// How far a job is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobStatus {
    /// Chunks that are done.
    pub done: u64,
    /// Chunks that somebody is at.
    pub taken: u64,
    /// What was spent, with what questions that are under way are expected to cost. Those of a
    /// worker that died may have been billed, so they count.
    pub spent: Usd,
}

/// A question that somebody wants to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asking {
    /// What is asked.
    pub key: QuestionKey,
    /// What it is expected to cost.
    pub estimate: Usd,
    /// What the job may cost in all.
    pub cap: Option<Usd>,
    /// For how long nobody else may ask the same, unless it is prolonged.
    pub lease: Duration,
}

/// Whether a question may be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Yes, and by nobody else meanwhile.
    Ask,
    /// It is answered.
    Known(String),
    /// Somebody is asking it right now.
    Elsewhere,
    /// It would cost more than the job may.
    Over,
}

/// Where work lists and answers are kept.
pub trait Work: Send + Sync {
    /// Opens a job, and makes it if it is not there. One that is done begins anew: its pictures may
    /// have changed, and what has not is known. [`Error::OtherJob`] if the name is taken.
    fn open_job(
        &self,
        tenant: &Tenant,
        list: &List<'_>,
    ) -> impl Future<Output = Result<Job, Error>> + Send;

    /// Takes a chunk that nobody has, or whose worker did not prolong its lease; `None` if there is
    /// none just now.
    fn take(
        &self,
        job: &Job,
        worker: &Worker,
        lease: Duration,
    ) -> impl Future<Output = Result<Option<u64>, Error>> + Send;

    /// Prolongs everything a worker has: chunks and questions under way.
    fn keep(
        &self,
        worker: &Worker,
        lease: Duration,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// Ends a chunk with what came of it; whether it was still the worker's. If it was not,
    /// somebody else's word counts.
    fn finish(
        &self,
        job: &Job,
        worker: &Worker,
        chunk: u64,
        outcome: &str,
    ) -> impl Future<Output = Result<bool, Error>> + Send;

    /// Gives a chunk back undone, with what came of it so far.
    fn leave(
        &self,
        job: &Job,
        worker: &Worker,
        chunk: u64,
        outcome: &str,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// How far a job is.
    fn standing(&self, job: &Job) -> impl Future<Output = Result<JobStatus, Error>> + Send;

    /// What came of a chunk, whole or so far.
    fn outcome(
        &self,
        job: &Job,
        chunk: u64,
    ) -> impl Future<Output = Result<Option<String>, Error>> + Send;

    /// Asks to ask. Who may has to say what came of it: [`answer`](Self::answer) or
    /// [`unanswered`](Self::unanswered).
    fn ask(
        &self,
        job: &Job,
        worker: &Worker,
        asking: &Asking,
    ) -> impl Future<Output = Result<Claim, Error>> + Send;

    /// Keeps an answer, durably once this is done, and counts what it cost. Of several answers to
    /// one question the first stays, and is returned.
    fn answer(
        &self,
        job: &Job,
        key: &QuestionKey,
        answer: &str,
        cost: Usd,
    ) -> impl Future<Output = Result<String, Error>> + Send;

    /// There is no answer: the question may be asked again. What it may have cost counts.
    fn unanswered(
        &self,
        job: &Job,
        worker: &Worker,
        key: &QuestionKey,
        cost: Usd,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// Those of these questions that are answered, in any job of the same tenant.
    fn answers(
        &self,
        job: &Job,
        keys: &[QuestionKey],
    ) -> impl Future<Output = Result<BTreeMap<QuestionKey, String>, Error>> + Send;

    /// Forgets jobs and answers of all tenants from before a moment.
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
