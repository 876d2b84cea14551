//! Processes one line of a list, from its picture to its outcome.

use std::sync::atomic::Ordering;
use std::time::Duration;

use photic_store::work::{Claim, QuestionKey, QuestionRequest};
use photic_store::{Error, Usd, WorkStore};
use tokio::time::Instant;

use super::Batch;
use super::outcome::{BatchAnswer, Outcome, json};
use crate::inspect::{Blame, InspectFailure, Ready};
use crate::refusal::Refusal;

/// Largest number of pauses that a provider may request before a question counts as failed.
const MAX_PAUSES: u32 = 60;
/// Number of consecutive failures after which the batch gives up.
const MAX_FAILURES: usize = 10;
/// Pause while another worker asks the question.
const RETRY_PAUSE: Duration = Duration::from_millis(300);
/// Interval at which a wait checks for a stop.
const STOP_INTERVAL: Duration = Duration::from_millis(200);
/// Longest time for which storing an answer is retried.
const STORE_TIMEOUT: Duration = Duration::from_mins(2);

/// Result of processing a line.
pub(super) enum LineResult {
    Ended(Outcome),
    /// The question would exceed the cost limit.
    Over,
    /// The batch was stopped before the line was finished.
    Left,
    /// No other question would succeed either.
    Hopeless(Outcome, Refusal),
}

impl<W: WorkStore> Batch<'_, W> {
    /// Processes one line and returns it with its result.
    pub(super) async fn one(
        &self,
        chunk: u64,
        line: usize,
    ) -> (u64, usize, Result<LineResult, Error>) {
        (chunk, line, self.done(line).await)
    }

    async fn done(&self, line: usize) -> Result<LineResult, Error> {
        let Some(item) = self.items.get(line) else { return Ok(LineResult::Left) };
        let refused = |refusal: &Refusal| Ok(LineResult::Ended(Outcome::Refused(refusal.into())));
        let question = match self.tools.question(item).await {
            Ok(question) => question,
            Err(refusal) => return refused(&refusal),
        };
        let key = *question.key().as_bytes();
        if !self.work.answers(&self.job, &[key]).await?.is_empty() {
            return Ok(LineResult::Ended(Outcome::Answered(key)));
        }
        match self.tools.ready(question).await {
            Ok(ready) => self.ask(key, &ready).await,
            Err(refusal) => refused(&refusal),
        }
    }

    async fn ask(&self, key: QuestionKey, ready: &Ready) -> Result<LineResult, Error> {
        let (mut attempts, mut waits) = (0, 0);
        loop {
            if self.stopping.load(Ordering::Relaxed) {
                return Ok(LineResult::Left);
            }
            if self.left_alone(&key).await {
                continue;
            }
            match self.work.ask(&self.job, &self.worker(), &self.asking(key, ready)).await? {
                Claim::Ask => {}
                Claim::Known(_) => return Ok(LineResult::Ended(Outcome::Answered(key))),
                Claim::Over => return Ok(LineResult::Over),
                Claim::Elsewhere => {
                    tokio::time::sleep(RETRY_PAUSE).await;
                    continue;
                }
            }
            self.asked.fetch_add(1, Ordering::Relaxed);
            let failure = match self.tools.put(ready).await {
                Ok(reply) => {
                    let cost = self.bill().charge(ready.tokens(), reply.usage);
                    let told = self.told(ready, Some(reply.text), reply.usage);
                    self.keep(&key, &told, cost).await?;
                    self.pace().went_well();
                    return Ok(LineResult::Ended(Outcome::Answered(key)));
                }
                Err(failure) => failure,
            };
            if failure.blame == Blame::Picture {
                let cost = match failure.usage {
                    None => Usd::ZERO,
                    usage => self.bill().charge(ready.tokens(), usage),
                };
                let told = self.told(ready, None, failure.usage);
                let told = BatchAnswer { refused: Some((&failure.refusal).into()), ..told };
                self.keep(&key, &told, cost).await?;
                self.pace().went_well();
                return Ok(LineResult::Ended(Outcome::Answered(key)));
            }
            let cost = if failure.may_be_billed {
                self.bill().estimate(ready.tokens())
            } else {
                Usd::ZERO
            };
            self.work.unanswered(&self.job, &self.worker(), &key, cost).await?;
            match failure.blame {
                Blame::Load(wait) if waits < MAX_PAUSES => {
                    self.pace().too_much(Instant::now().into_std(), wait, waits);
                    waits += 1;
                }
                Blame::Moment if attempts + 1 < self.options.attempts => {
                    let wait = self.pace().backoff(attempts, short(&key));
                    attempts += 1;
                    self.pause(wait).await;
                }
                Blame::Everything => return Ok(hopeless(&failure)),
                Blame::Load(_) | Blame::Moment | Blame::Picture | Blame::Unclear => {
                    return Ok(if self.pace().gave_up() < MAX_FAILURES {
                        LineResult::Ended(Outcome::Failed((&failure.refusal).into()))
                    } else {
                        hopeless(&failure)
                    });
                }
            }
        }
    }

    /// Waits if the provider requested a pause. Returns whether it did. The wait has a random part,
    /// so that workers do not all return at the same moment.
    async fn left_alone(&self, key: &QuestionKey) -> bool {
        let now = Instant::now().into_std();
        let Some(wait) = self.pace().wait(now) else { return false };
        let apart = self.pace().backoff(0, short(key)) / 2;
        self.pause(wait + apart).await;
        true
    }

    fn asking(&self, key: QuestionKey, ready: &Ready) -> QuestionRequest {
        let estimate = self.bill().estimate(ready.tokens());
        QuestionRequest { key, estimate, cap: self.options.cap, lease: self.options.lease }
    }

    fn told(
        &self,
        ready: &Ready,
        answer: Option<String>,
        usage: Option<photic::reply::Usage>,
    ) -> BatchAnswer {
        let (model, media_type) = (self.model.clone(), ready.media_type.to_owned());
        BatchAnswer { answer, refused: None, model, media_type, tokens: usage.map(Into::into) }
    }

    /// Stores a paid answer. Retries while the store is unavailable.
    async fn keep(&self, key: &QuestionKey, told: &BatchAnswer, cost: Usd) -> Result<(), Error> {
        let (text, since) = (json(told), Instant::now());
        loop {
            match self.work.answer(&self.job, key, &text, cost).await {
                Err(Error::Unavailable(_)) if since.elapsed() < STORE_TIMEOUT => {
                    tokio::time::sleep(RETRY_PAUSE).await;
                }
                kept => return kept.map(|_| ()),
            }
        }
    }

    /// Waits unless the batch is stopping.
    async fn pause(&self, wait: Duration) {
        let until = Instant::now() + wait;
        while !self.stopping.load(Ordering::Relaxed) && Instant::now() < until {
            tokio::time::sleep_until(until.min(Instant::now() + STOP_INTERVAL)).await;
        }
    }
}

fn hopeless(failure: &InspectFailure) -> LineResult {
    LineResult::Hopeless(Outcome::Failed((&failure.refusal).into()), failure.refusal.clone())
}

/// Returns the first eight bytes of a key, as input of random waits.
fn short(key: &QuestionKey) -> u64 {
    key.iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}
