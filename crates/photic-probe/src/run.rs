//! The trials: for every place fresh pictures, each with its blind control.
//!
//! Owns the order of things, the spending cap and the patience. Must never show a picture twice:
//! an answer that is late by a request must not fit.

use std::sync::Arc;
use std::time::Duration;

use crate::ask::Heard;
use crate::conversation::{Pictures, Shown};
use crate::file::{File, Format};
use crate::picture::{Picture, Task};
use crate::place::{Notice, Place};
use crate::report::{Honesty, Report};
use crate::request::{Target, noticed, pair, tokens};
use crate::tally::Tally;

/// Models do not read smaller pictures.
pub const SMALLEST: u32 = 256;
/// Rejections or failures after which a place is given up.
const ENOUGH: u32 = 2;

/// What to try, and how often.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Where pictures stand.
    pub places: Vec<Place>,
    /// What stands where none is shown.
    pub notices: Vec<Notice>,
    /// Formats to try in the user's message, beside PNG.
    pub formats: Vec<Format>,
    /// Sizes to try in the user's message, beside `side`.
    pub sides: Vec<u32>,
    /// The sides of pictures, in pixels.
    pub side: u32,
    /// What is asked, in turn.
    pub tasks: Vec<Task>,
    /// Questions for each place.
    pub trials: u32,
    /// What all pictures are made from.
    pub seed: u64,
    /// Most US dollars to spend, where the price is known.
    pub cap_usd: Option<f64>,
    /// How often a request that fails is sent.
    pub attempts: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            places: Place::ALL.into_iter().filter(|place| *place != Place::Url).collect(),
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

/// What is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Subject {
    pub(crate) place: Place,
    pub(crate) format: Format,
    pub(crate) side: u32,
}

/// How far a probe is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Requests that need not be sent any more.
    pub done: u32,
    /// All requests.
    pub total: u32,
    /// What is being tried.
    pub trying: String,
}

/// What a probe will take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Requests.
    pub requests: u32,
    /// Tokens of input.
    pub tokens: u64,
    /// Their list price in US dollars, if it is known.
    pub usd: Option<f64>,
}

/// Nobody can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreachable {
    /// Why.
    pub why: String,
}

impl std::fmt::Display for Unreachable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for Unreachable {}

/// Puts a file where the endpoint can fetch it, and says where.
pub type Publish<'p> = &'p (dyn Fn(&File) -> String + Send + Sync);

/// What a probe will take.
pub fn estimate(target: &Target, settings: &Settings) -> Estimate {
    let mut sum: u64 = 0;
    for subject in subjects(settings) {
        let Some(trial) = Trial::new(settings, subject, 0, None) else { continue };
        let pair = pair(target, subject.place, &trial.pictures, &trial.task.question());
        sum += tokens(target, &pair.with) + tokens(target, &pair.without);
    }
    for notice in &settings.notices {
        let subject = usual(settings, Place::Tool);
        let Some(trial) = Trial::new(settings, subject, 0, None) else { continue };
        let body = noticed(target, *notice, &trial.pictures, &trial.task.question());
        sum += tokens(target, &body);
    }
    let tokens = sum * u64::from(settings.trials);
    let usd = target.profile.price.map(|price| price.of(tokens as f64));
    Estimate { requests: total(settings), tokens, usd }
}

/// Probes a model. `ask` sends a body and returns what came back.
pub async fn run(
    target: &Target,
    settings: &Settings,
    publish: Option<Publish<'_>>,
    ask: impl AsyncFn(Vec<u8>) -> Heard,
    mut tell: impl FnMut(Progress),
) -> Result<Report, Unreachable> {
    let mut asker = Asker { target, settings, ask, requests: 0, heard_any: false, input: 0 };
    let mut report = Report {
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
        tell(Progress { done, total, trying: trying.to_owned() });
    };
    for (at, subject) in subjects(settings).into_iter().enumerate() {
        let mut tally = Tally::default();
        for index in 0..settings.trials {
            tell(planned + 2 * index, subject.place.says());
            if tally.is_hopeless(ENOUGH) {
                break;
            }
            let number = at as u32 * settings.trials + index;
            if subject.place == Place::Url && publish.is_none() {
                tally.stopped = Some("there is nowhere to fetch a picture from");
            } else if asker.is_over_cap() {
                tally.stopped = Some("the spending cap is reached");
            } else {
                let Some(trial) = Trial::new(settings, subject, number, publish) else {
                    tally.stopped = Some("the picture cannot be made");
                    break;
                };
                asker.trial(subject.place, &trial, &mut tally).await?;
                continue;
            }
            break;
        }
        planned += 2 * settings.trials;
        report.findings.push(tally.finding(target, subject));
    }
    for notice in &settings.notices {
        tell(planned, notice.name());
        report.honesty.push(asker.honesty(*notice, planned).await?);
        planned += settings.trials;
    }
    tell(total, "");
    (report.requests, report.input_tokens) = (asker.requests, asker.input);
    report.usd = asker.spent();
    Ok(report)
}

fn usual(settings: &Settings, place: Place) -> Subject {
    Subject { place, format: Format::Png, side: settings.side.max(SMALLEST) }
}

fn subjects(settings: &Settings) -> Vec<Subject> {
    let user = usual(settings, Place::User);
    let places = settings.places.iter().map(|place| usual(settings, *place));
    let formats = settings.formats.iter().filter(|format| **format != Format::Png);
    let formats = formats.map(|format| Subject { format: *format, ..user });
    let sides = settings.sides.iter().map(|side| (*side).max(SMALLEST));
    let sides = sides.filter(|side| *side != user.side).map(|side| Subject { side, ..user });
    places.chain(formats).chain(sides).collect()
}

fn total(settings: &Settings) -> u32 {
    let subjects = subjects(settings).len() as u32;
    settings.trials * (2 * subjects + settings.notices.len() as u32)
}

/// One question about one fresh picture.
pub(crate) struct Trial {
    pub(crate) task: Task,
    pub(crate) picture: Picture,
    pub(crate) other: Option<Picture>,
    pub(crate) pictures: Pictures,
    /// Letters of base64 of all of them.
    pub(crate) base64: u64,
}

impl Trial {
    /// The trial of a number; `None` if its picture cannot be made.
    fn new(
        settings: &Settings,
        subject: Subject,
        number: u32,
        publish: Option<Publish<'_>>,
    ) -> Option<Self> {
        let task = settings.tasks[number as usize % settings.tasks.len()];
        let seed = mixed(settings.seed, u64::from(number));
        let file = |picture: &Picture, seed| subject.format.file(picture, subject.side, seed);
        let picture = task.picture(seed);
        let asked = file(&picture, seed)?;
        let mut base64 = letters(&asked);
        let other = (subject.place == Place::Parallel).then(|| task.picture(mixed(seed, 1)));
        let other_file = other.as_ref().and_then(|other| file(other, mixed(seed, 1)));
        base64 += other_file.as_ref().map_or(0, letters);
        let asked = match publish.filter(|_| subject.place == Place::Url) {
            Some(publish) => Shown::Address(publish(&asked)),
            None => Shown::File(Arc::new(asked)),
        };
        let pictures = Pictures { other: other_file.map(Arc::new), asked };
        Some(Self { task, picture, other, pictures, base64 })
    }
}

fn letters(file: &File) -> u64 {
    file.bytes.len().div_ceil(3) as u64 * 4
}

/// Seeds that have nothing to do with each other.
fn mixed(seed: u64, number: u64) -> u64 {
    let mut z = seed.rotate_left(17) ^ number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Whoever asks, and what was asked so far.
struct Asker<'r, A> {
    target: &'r Target,
    settings: &'r Settings,
    ask: A,
    requests: u32,
    heard_any: bool,
    input: u64,
}

impl<A: AsyncFn(Vec<u8>) -> Heard> Asker<'_, A> {
    /// A question with its picture, and then without.
    async fn trial(
        &mut self,
        place: Place,
        trial: &Trial,
        tally: &mut Tally,
    ) -> Result<(), Unreachable> {
        let pair = pair(self.target, place, &trial.pictures, &trial.task.question());
        let shown = self.heard(&pair.with).await?;
        let control = self.heard(&pair.without).await?;
        tally.add(trial, shown, control);
        Ok(())
    }

    async fn honesty(&mut self, notice: Notice, number: u32) -> Result<Honesty, Unreachable> {
        let mut honesty = Honesty { notice, claims: 0, answers: 0 };
        let subject = usual(self.settings, Place::Tool);
        for index in 0..self.settings.trials {
            if self.is_over_cap() {
                break;
            }
            let trial = Trial::new(self.settings, subject, number + index, None);
            let Some(trial) = trial else { break };
            let body = noticed(self.target, notice, &trial.pictures, &trial.task.question());
            if let Heard::Answer { text, .. } = self.heard(&body).await? {
                honesty.answers += 1;
                honesty.claims += u32::from(trial.task.is_claimed_by(&text));
            }
        }
        Ok(honesty)
    }

    /// Asks until there is an answer, or no hope of one.
    async fn heard(&mut self, body: &[u8]) -> Result<Heard, Unreachable> {
        for attempt in 1.. {
            self.requests += 1;
            let heard = (self.ask)(body.to_vec()).await;
            match &heard {
                Heard::Answer { usage, .. } => {
                    self.heard_any = true;
                    self.input += usage.map_or(0, |usage| usage.input);
                }
                Heard::Rejected { .. } => self.heard_any = true,
                Heard::Failed { why, for_good: true } if !self.heard_any => {
                    return Err(Unreachable { why: why.clone() });
                }
                Heard::Failed { for_good, .. } => {
                    if !for_good && attempt < self.settings.attempts {
                        tokio::time::sleep(Duration::from_secs(1 << attempt.min(5))).await;
                        continue;
                    }
                }
            }
            return Ok(heard);
        }
        Err(Unreachable { why: "nobody answers".to_owned() })
    }

    fn spent(&self) -> Option<f64> {
        self.target.profile.price.map(|price| price.of(self.input as f64))
    }

    fn is_over_cap(&self) -> bool {
        let over = |(spent, cap)| spent > cap;
        self.spent().zip(self.settings.cap_usd).is_some_and(over)
    }
}
