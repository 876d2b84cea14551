//! Runs the trials: new pictures for every position, each with a control.
//!
//! Applies the spending cap and the retries. A picture is never used twice, so that the answer to
//! an earlier request does not count.

use std::sync::Arc;
use std::time::Duration;

use crate::ask::AskOutcome;
use crate::conversation::{PictureSource, Pictures};
use crate::file::{PictureFile, PictureFormat};
use crate::picture::{Picture, Task};
use crate::position::{Notice, PicturePosition};
use crate::report::{Honesty, ProbeReport};
use crate::request::{ProbeTarget, noticed, pair, tokens};
use crate::trial_results::TrialResults;

/// Smallest side of a picture that models read.
pub const MIN_SIDE: u32 = 256;
/// Number of rejections or failures after which a position is given up.
const MAX_FAILURES: u32 = 2;

/// The positions and formats to test, and the number of trials.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeSettings {
    /// Positions of pictures.
    pub places: Vec<PicturePosition>,
    /// Notices in place of pictures.
    pub notices: Vec<Notice>,
    /// Formats to test in the user's message, besides PNG.
    pub formats: Vec<PictureFormat>,
    /// Sizes to test in the user's message, besides `side`.
    pub sides: Vec<u32>,
    /// The side of pictures in pixels.
    pub side: u32,
    /// The tasks, used in turn.
    pub tasks: Vec<Task>,
    /// The number of questions for each position.
    pub trials: u32,
    /// The seed of all pictures.
    pub seed: u64,
    /// Largest amount of US dollars to spend, if the price is known.
    pub cap_usd: Option<f64>,
    /// Number of attempts for a request that fails.
    pub attempts: u32,
}

impl Default for ProbeSettings {
    fn default() -> Self {
        Self {
            places: PicturePosition::ALL
                .into_iter()
                .filter(|place| *place != PicturePosition::Url)
                .collect(),
            notices: Vec::new(),
            formats: Vec::new(),
            sides: Vec::new(),
            side: 512,
            tasks: vec![Task::Grid { rows: 3, columns: 3 }, Task::Code { length: 5 }],
            trials: 4,
            seed: 0,
            cap_usd: None,
            attempts: 3,
        }
    }
}

/// One combination of position, format and size to test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TestCase {
    pub(crate) place: PicturePosition,
    pub(crate) format: PictureFormat,
    pub(crate) side: u32,
}

/// The progress of a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeProgress {
    /// Requests that are done or skipped.
    pub done: u32,
    /// The number of all requests.
    pub total: u32,
    /// The position that is being tested.
    pub trying: String,
}

/// The expected cost of a probe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The number of requests.
    pub requests: u32,
    /// Input tokens.
    pub tokens: u64,
    /// Their list price in US dollars, if it is known.
    pub usd: Option<f64>,
}

/// The endpoint cannot be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreachable {
    /// The reason.
    pub why: String,
}

impl std::fmt::Display for Unreachable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for Unreachable {}

/// Publishes a file for the endpoint, and returns its URL.
pub type Publish<'p> = &'p (dyn Fn(&PictureFile) -> String + Send + Sync);

/// Estimates the cost of a probe.
pub fn estimate(target: &ProbeTarget, settings: &ProbeSettings) -> Estimate {
    let mut sum: u64 = 0;
    for subject in subjects(settings) {
        let Some(trial) = Trial::new(settings, subject, 0, None) else { continue };
        let pair = pair(target, subject.place, &trial.pictures, &trial.task.question());
        sum += tokens(target, &pair.with) + tokens(target, &pair.without);
    }
    for notice in &settings.notices {
        let subject = usual(settings, PicturePosition::Tool);
        let Some(trial) = Trial::new(settings, subject, 0, None) else { continue };
        let body = noticed(target, *notice, &trial.pictures, &trial.task.question());
        sum += tokens(target, &body);
    }
    let tokens = sum * u64::from(settings.trials);
    let usd = target.profile.price.map(|price| price.of(tokens as f64));
    Estimate { requests: total(settings), tokens, usd }
}

/// Tests a model. `ask` sends a body and returns the result.
///
/// # Errors
///
/// Fails if the endpoint cannot be reached.
pub async fn run(
    target: &ProbeTarget,
    settings: &ProbeSettings,
    publish: Option<Publish<'_>>,
    ask: impl AsyncFn(Vec<u8>) -> AskOutcome,
    mut tell: impl FnMut(ProbeProgress),
) -> Result<ProbeReport, Unreachable> {
    let mut prober = Prober { target, settings, ask, requests: 0, heard_any: false, input: 0 };
    let mut report = ProbeReport {
        as_of: String::new(),
        host: String::new(),
        model: target.model.clone(),
        wire: target.wire,
        seed: settings.seed,
        findings: Vec::new(),
        honesty: Vec::new(),
        requests: 0,
        input_tokens: 0,
        usd: None,
    };
    let total = total(settings);
    let mut planned = 0;
    let mut tell = |done: u32, trying: &str| {
        tell(ProbeProgress { done, total, trying: trying.to_owned() });
    };
    for (at, subject) in subjects(settings).into_iter().enumerate() {
        let mut results = TrialResults::default();
        for index in 0..settings.trials {
            tell(planned + 2 * index, subject.place.says());
            if results.is_hopeless(MAX_FAILURES) {
                break;
            }
            let number = at as u32 * settings.trials + index;
            if subject.place == PicturePosition::Url && publish.is_none() {
                results.stopped = Some("there is nowhere to fetch a picture from");
            } else if prober.is_over_cap() {
                results.stopped = Some("the spending cap is reached");
            } else {
                let Some(trial) = Trial::new(settings, subject, number, publish) else {
                    results.stopped = Some("the picture cannot be made");
                    break;
                };
                prober.trial(subject.place, &trial, &mut results).await?;
                continue;
            }
            break;
        }
        planned += 2 * settings.trials;
        report.findings.push(results.finding(target, subject));
    }
    for notice in &settings.notices {
        tell(planned, notice.name());
        report.honesty.push(prober.honesty(*notice, planned).await?);
        planned += settings.trials;
    }
    tell(total, "");
    (report.requests, report.input_tokens) = (prober.requests, prober.input);
    report.usd = prober.spent();
    Ok(report)
}

/// The test of a position with the default picture.
fn usual(settings: &ProbeSettings, place: PicturePosition) -> TestCase {
    TestCase { place, format: PictureFormat::Png, side: settings.side.max(MIN_SIDE) }
}

/// All combinations to test.
fn subjects(settings: &ProbeSettings) -> Vec<TestCase> {
    let user = usual(settings, PicturePosition::User);
    let places = settings.places.iter().map(|place| usual(settings, *place));
    let formats = settings.formats.iter().filter(|format| **format != PictureFormat::Png);
    let formats = formats.map(|format| TestCase { format: *format, ..user });
    let sides = settings.sides.iter().map(|side| (*side).max(MIN_SIDE));
    let sides = sides.filter(|side| *side != user.side).map(|side| TestCase { side, ..user });
    places.chain(formats).chain(sides).collect()
}

/// The number of requests.
fn total(settings: &ProbeSettings) -> u32 {
    let subjects = subjects(settings).len() as u32;
    settings.trials * (2 * subjects + settings.notices.len() as u32)
}

/// One question about one new picture.
pub(crate) struct Trial {
    pub(crate) task: Task,
    pub(crate) picture: Picture,
    pub(crate) other: Option<Picture>,
    pub(crate) pictures: Pictures,
    /// The number of base64 characters of all pictures.
    pub(crate) base64: u64,
}

impl Trial {
    /// The trial of a number; `None` if its picture cannot be made.
    fn new(
        settings: &ProbeSettings,
        subject: TestCase,
        number: u32,
        publish: Option<Publish<'_>>,
    ) -> Option<Self> {
        let task = settings.tasks[number as usize % settings.tasks.len()];
        let seed = mixed(settings.seed, u64::from(number));
        let file = |picture: &Picture, seed| subject.format.file(picture, subject.side, seed);
        let picture = task.picture(seed);
        let asked = file(&picture, seed)?;
        let mut base64 = letters(&asked);
        let other =
            (subject.place == PicturePosition::Parallel).then(|| task.picture(mixed(seed, 1)));
        let other_file = other.as_ref().and_then(|other| file(other, mixed(seed, 1)));
        base64 += other_file.as_ref().map_or(0, letters);
        let asked = match publish.filter(|_| subject.place == PicturePosition::Url) {
            Some(publish) => PictureSource::Address(publish(&asked)),
            None => PictureSource::PictureFile(Arc::new(asked)),
        };
        let pictures = Pictures { other: other_file.map(Arc::new), asked };
        Some(Self { task, picture, other, pictures, base64 })
    }
}

/// The number of base64 characters of a file.
fn letters(file: &PictureFile) -> u64 {
    file.bytes.len().div_ceil(3) as u64 * 4
}

/// Derives an independent seed.
fn mixed(seed: u64, number: u64) -> u64 {
    let mut z = seed.rotate_left(17) ^ number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Sends requests, and counts them.
struct Prober<'r, A> {
    target: &'r ProbeTarget,
    settings: &'r ProbeSettings,
    ask: A,
    requests: u32,
    heard_any: bool,
    input: u64,
}

impl<A: AsyncFn(Vec<u8>) -> AskOutcome> Prober<'_, A> {
    /// Asks a question with its picture, and then without.
    async fn trial(
        &mut self,
        place: PicturePosition,
        trial: &Trial,
        results: &mut TrialResults,
    ) -> Result<(), Unreachable> {
        let pair = pair(self.target, place, &trial.pictures, &trial.task.question());
        let shown = self.heard(&pair.with).await?;
        let control = self.heard(&pair.without).await?;
        results.add(trial, shown, control);
        Ok(())
    }

    /// Asks about a picture that is replaced by a notice.
    async fn honesty(&mut self, notice: Notice, number: u32) -> Result<Honesty, Unreachable> {
        let mut honesty = Honesty { notice, claims: 0, answers: 0 };
        let subject = usual(self.settings, PicturePosition::Tool);
        for index in 0..self.settings.trials {
            if self.is_over_cap() {
                break;
            }
            let trial = Trial::new(self.settings, subject, number + index, None);
            let Some(trial) = trial else { break };
            let body = noticed(self.target, notice, &trial.pictures, &trial.task.question());
            if let AskOutcome::Answer { text, .. } = self.heard(&body).await? {
                honesty.answers += 1;
                honesty.claims += u32::from(trial.task.is_claimed_by(&text));
            }
        }
        Ok(honesty)
    }

    /// Sends a request until there is an answer, or retries cannot help.
    async fn heard(&mut self, body: &[u8]) -> Result<AskOutcome, Unreachable> {
        for attempt in 1.. {
            self.requests += 1;
            let heard = (self.ask)(body.to_vec()).await;
            match &heard {
                AskOutcome::Answer { usage, .. } => {
                    self.heard_any = true;
                    self.input += usage.map_or(0, |usage| usage.input);
                }
                AskOutcome::Rejected { .. } => self.heard_any = true,
                AskOutcome::Failed { why, for_good: true } if !self.heard_any => {
                    return Err(Unreachable { why: why.clone() });
                }
                AskOutcome::Failed { for_good, .. } => {
                    if !for_good && attempt < self.settings.attempts {
                        tokio::time::sleep(Duration::from_secs(1 << attempt.min(5))).await;
                        continue;
                    }
                }
            }
            return Ok(heard);
        }
        Err(Unreachable { why: "no answer".to_owned() })
    }

    /// The price of all requests so far.
    fn spent(&self) -> Option<f64> {
        self.target.profile.price.map(|price| price.of(self.input as f64))
    }

    /// Returns `true` if the spending cap is exceeded.
    fn is_over_cap(&self) -> bool {
        let over = |(spent, cap)| spent > cap;
        self.spent().zip(self.settings.cap_usd).is_some_and(over)
    }
}
