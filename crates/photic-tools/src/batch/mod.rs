//! Batches: runs `inspect` on a list. Takes chunks, asks about pictures and stores answers until
//! the list is done, the money is spent, or a stop is requested.
//!
//! This module coordinates one process. [`WorkStore`] coordinates several processes that work on
//! one list. It never asks a question that has an answer, never asks while the provider requested a
//! pause, and never starts a question that could exceed the cost limit.

mod bill;
mod line;
mod outcome;
mod pace;

use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use photic_store::work::{Job, WorkerId};
use photic_store::{Error, Usd, WorkStore};
use tokio::time::Instant;

use bill::Bill;
pub use bill::TokenPrice;
use line::LineResult;
use outcome::Outcome;
pub use outcome::{BatchAnswer, StoredRefusal, Tokens};
use pace::Pace;

use crate::arguments::InspectArguments;
use crate::refusal::Refusal;
use crate::tools::Tools;

/// Longest time for which an unavailable store is retried.
const STORE_TIMEOUT: Duration = Duration::from_mins(2);
/// Interval for checking whether other workers left something to do.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// Options of a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchOptions {
    /// Largest number of concurrent questions of this process.
    pub at_once: usize,
    /// Largest cost of the job, over all its workers.
    pub cap: Option<Usd>,
    /// Prices of tokens; `None` counts them as free.
    pub price: Option<TokenPrice>,
    /// Time after which a silent worker counts as dead.
    pub lease: Duration,
    /// Number of attempts before a question counts as failed.
    pub attempts: u32,
    /// Seed of random waits.
    pub seed: u64,
}

impl Default for BatchOptions {
    fn default() -> Self {
        Self {
            at_once: 8,
            cap: None,
            price: None,
            lease: Duration::from_secs(30),
            attempts: 6,
            seed: 0,
        }
    }
}

/// Progress of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Lines of the list.
    pub items: u64,
    /// Lines with an outcome, of all workers.
    pub done: u64,
    /// Questions asked by this process, retries included.
    pub asked: u64,
    /// Cost of the job so far, of all workers.
    pub spent: Usd,
    /// Set while the provider requests a pause.
    pub is_waiting: bool,
}

/// Reason why a batch ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchEnd {
    /// Every line has an outcome.
    Done,
    /// The next question could exceed the cost limit.
    Capped,
    /// A stop was requested.
    Stopped,
    /// No question can succeed: this refusal would repeat for all.
    Hopeless(Refusal),
}

/// Outcome of a line, with its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineOutcome {
    /// The model was asked.
    Answered(BatchAnswer),
    /// The picture could not be read.
    Refused(StoredRefusal),
    /// The model did not answer.
    Failed(StoredRefusal),
    /// The line is not processed yet.
    Pending,
}

/// A list that this process works on.
#[derive(Debug)]
pub struct Batch<'b, W> {
    tools: &'b Tools,
    work: &'b W,
    job: Job,
    items: &'b [InspectArguments],
    options: BatchOptions,
    /// Replaced whenever the store was unavailable: the leases of the old identifier may be lost,
    /// and the store tells which.
    worker: Mutex<WorkerId>,
    /// Its name as `provider/model`.
    model: String,
    pace: Mutex<Pace>,
    bill: Mutex<Bill>,
    asked: AtomicU64,
    stopping: AtomicBool,
}

/// A leased chunk.
struct Chunk {
    outcomes: Vec<Outcome>,
    left: usize,
}

impl<'b, W: WorkStore> Batch<'b, W> {
    /// Creates a batch for a job whose list has one question per line. Refused if no model can be
    /// asked.
    pub fn new(
        tools: &'b Tools,
        work: &'b W,
        job: Job,
        items: &'b [InspectArguments],
        options: BatchOptions,
    ) -> Result<Self, Refusal> {
        let model = tools.asked()?.name();
        let no_names = |_| {
            let says = "the system gives no random numbers";
            Refusal::new(crate::RefusalCode::Unreadable, says, "try again")
        };
        Ok(Self {
            tools,
            work,
            job,
            items,
            options,
            worker: Mutex::new(WorkerId::random().map_err(no_names)?),
            model,
            pace: Mutex::new(Pace::new(options.at_once, options.seed)),
            bill: Mutex::new(Bill::new(options.price)),
            asked: AtomicU64::new(0),
            stopping: AtomicBool::new(false),
        })
    }

    /// Works until the job is done by this or other processes. When `stop` is ready, running
    /// questions are finished and the rest is left for later. Dropping the future stops at once. An
    /// unavailable store is retried for some minutes.
    pub async fn run(
        &self,
        stop: impl Future<Output = ()>,
        tell: &(dyn Fn(Progress) + Send + Sync),
    ) -> Result<BatchEnd, Error> {
        let mut stop = std::pin::pin!(stop);
        let mut unavailable_since: Option<Instant> = None;
        loop {
            let mut chunks: BTreeMap<u64, Chunk> = BTreeMap::new();
            let asked = self.asked();
            let ended = self.work_on(&mut chunks, stop.as_mut(), tell).await;
            // Also after an error, so that others need not wait for the leases to expire.
            for (chunk, held) in chunks {
                let so_far = outcome::write(&held.outcomes);
                let left = self.work.leave(&self.job, &self.worker(), chunk, &so_far).await;
                if ended.is_ok() {
                    left?;
                }
            }
            let is_unavailable = matches!(ended, Err(Error::Unavailable(_)));
            if is_unavailable && !self.stopping.load(Ordering::Relaxed) {
                // The store was available meanwhile if questions were asked.
                let since = unavailable_since
                    .filter(|_| self.asked() == asked)
                    .unwrap_or_else(Instant::now);
                if since.elapsed() < STORE_TIMEOUT {
                    unavailable_since = Some(since);
                    let worker = WorkerId::random()?;
                    *self.worker.lock().unwrap_or_else(PoisonError::into_inner) = worker;
                    tokio::time::sleep(CHECK_INTERVAL).await;
                    continue;
                }
            }
            return ended;
        }
    }

    async fn work_on(
        &self,
        chunks: &mut BTreeMap<u64, Chunk>,
        mut stop: Pin<&mut impl Future<Output = ()>>,
        tell: &(dyn Fn(Progress) + Send + Sync),
    ) -> Result<BatchEnd, Error> {
        let mut queue: VecDeque<(u64, usize)> = VecDeque::new();
        let mut under_way = FuturesUnordered::new();
        let mut renewals = tokio::time::interval(self.options.lease / 3);
        let mut checks = tokio::time::interval(CHECK_INTERVAL);
        let mut ending: Option<BatchEnd> = None;
        let mut is_over = false;
        let mut nothing_to_take = false;
        let mut progress = Progress { items: self.job.items, ..Progress::default() };
        let mut by_chunks = 0;
        loop {
            let step = async {
                while ending.is_none() && !is_over && under_way.len() < self.pace().lanes() {
                    if queue.is_empty() && !nothing_to_take {
                        match self.work.take(&self.job, &self.worker(), self.options.lease).await? {
                            Some(chunk) => queue.extend(self.begin(chunks, chunk)),
                            None => nothing_to_take = true,
                        }
                    }
                    let Some((chunk, line)) = queue.pop_front() else { break };
                    under_way.push(self.one(chunk, line));
                }
                if under_way.is_empty() {
                    if let Some(ended) = ending.take() {
                        return Ok(Some(ended));
                    }
                    if is_over {
                        return Ok(Some(BatchEnd::Capped));
                    }
                }
                tokio::select! {
                    Some((chunk, line, one)) = under_way.next() => {
                        // A finished question may have cost less than reserved.
                        is_over = false;
                        let outcome = match one? {
                            LineResult::Ended(outcome) => Some(outcome),
                            LineResult::Over => {
                                is_over = true;
                                queue.push_front((chunk, line));
                                None
                            }
                            LineResult::Left => None,
                            LineResult::Hopeless(outcome, refusal) => {
                                self.stopping.store(true, Ordering::Relaxed);
                                ending.get_or_insert(BatchEnd::Hopeless(refusal));
                                Some(outcome)
                            }
                        };
                        let all = outcome.and_then(|one| self.end(chunks, chunk, line, one));
                        if let Some(all) = all {
                            self.work.finish(&self.job, &self.worker(), chunk, &all).await?;
                            by_chunks += u64::from(self.job.chunk);
                        }
                    }
                    () = &mut stop, if ending.is_none() => {
                        self.stopping.store(true, Ordering::Relaxed);
                        ending = Some(BatchEnd::Stopped);
                    }
                    _ = renewals.tick() => {
                        self.work.keep(&self.worker(), self.options.lease).await?;
                    }
                    _ = checks.tick() => {
                        let standing = self.work.status(&self.job).await?;
                        if standing.done >= self.job.chunks() {
                            tell(Progress { done: progress.items, spent: standing.spent, ..progress });
                            return Ok(Some(BatchEnd::Done));
                        }
                        nothing_to_take = false;
                        by_chunks = standing.done * u64::from(self.job.chunk);
                        progress.spent = standing.spent;
                    }
                }
                let ours = chunks.values().map(|chunk| chunk.outcomes.len() - chunk.left);
                progress.done = (by_chunks + ours.sum::<usize>() as u64).min(progress.items);
                progress.asked = self.asked.load(Ordering::Relaxed);
                progress.is_waiting = self.pace().wait(Instant::now().into_std()).is_some();
                tell(progress);
                Ok(None)
            };
            match step.await {
                Ok(None) => {}
                Ok(Some(ended)) => return Ok(ended),
                Err(error) => {
                    // Running questions are paid for, so their answers are stored.
                    while let Some((chunk, line, one)) = under_way.next().await {
                        let Ok(LineResult::Ended(outcome)) = one else { continue };
                        if let Some(all) = self.end(chunks, chunk, line, outcome) {
                            let _ = self.work.finish(&self.job, &self.worker(), chunk, &all).await;
                        }
                    }
                    return Err(error);
                }
            }
        }
    }

    /// Returns the lines of a chunk that was taken.
    fn begin(&self, chunks: &mut BTreeMap<u64, Chunk>, chunk: u64) -> Vec<(u64, usize)> {
        let lines = self.job.lines(chunk);
        let outcomes = vec![Outcome::Pending; lines.len()];
        chunks.insert(chunk, Chunk { left: outcomes.len(), outcomes });
        lines.map(|line| (chunk, line)).collect()
    }

    /// Records the outcome of a line. Returns the outcome of the chunk if it was its last line.
    fn end(
        &self,
        chunks: &mut BTreeMap<u64, Chunk>,
        chunk: u64,
        line: usize,
        outcome: Outcome,
    ) -> Option<String> {
        let held = chunks.get_mut(&chunk)?;
        *held.outcomes.get_mut(line - self.job.lines(chunk).start)? = outcome;
        held.left -= 1;
        if held.left > 0 {
            return None;
        }
        chunks.remove(&chunk).map(|held| outcome::write(&held.outcomes))
    }

    /// Returns the number of questions this process asked.
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }

    /// Returns the outcomes of the lines of a chunk, in order.
    pub async fn lines(&self, chunk: u64) -> Result<Vec<LineOutcome>, Error> {
        let text = self.work.outcome(&self.job, chunk).await?.unwrap_or_default();
        let outcomes = outcome::read(&text, self.job.lines(chunk).len());
        let keys = outcomes.iter().filter_map(|outcome| match outcome {
            Outcome::Answered(key) => Some(*key),
            Outcome::Refused(_) | Outcome::Failed(_) | Outcome::Pending => None,
        });
        let answers = self.work.answers(&self.job, &keys.collect::<Vec<_>>()).await?;
        let line = |outcome| match outcome {
            Outcome::Answered(key) => {
                let told = answers.get(&key).and_then(|text| serde_json::from_str(text).ok());
                told.map_or(LineOutcome::Pending, LineOutcome::Answered)
            }
            Outcome::Refused(why) => LineOutcome::Refused(why),
            Outcome::Failed(why) => LineOutcome::Failed(why),
            Outcome::Pending => LineOutcome::Pending,
        };
        Ok(outcomes.into_iter().map(line).collect())
    }

    fn worker(&self) -> WorkerId {
        *self.worker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn bill(&self) -> MutexGuard<'_, Bill> {
        self.bill.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
