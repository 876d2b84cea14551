//! Collects the results of one position and turns them into a finding.

use photic::rejection::Class;

use crate::ask::AskOutcome;
use crate::billing::{Billed, ExtraTokens};
use crate::position::PicturePosition;
use crate::report::ProbeFinding;
use crate::request::ProbeTarget;
use crate::run::{TestCase, Trial};
use crate::verdict::{PROOF, Score, Verdict, judge, leaks};

/// The results of one position.
#[derive(Debug, Default)]
pub(crate) struct TrialResults {
    shown: Score,
    control: Score,
    /// The score against the other picture, if there are two.
    other: Score,
    rejections: Vec<(u16, Class, String)>,
    /// `true` if the control without a picture was rejected as well.
    words_rejected: bool,
    failures: Vec<String>,
    /// Extra tokens of requests with pictures, and the base64 characters of the pictures.
    excess: Vec<(u64, u64)>,
    millis: Vec<u64>,
    /// The reason why there are no more trials.
    pub(crate) stopped: Option<&'static str>,
}

impl TrialResults {
    /// Adds the results of one trial.
    pub(crate) fn add(&mut self, trial: &Trial, shown: AskOutcome, control: AskOutcome) {
        let mut usages = [None, None];
        match shown {
            AskOutcome::Answer { text, usage, took } => {
                self.shown.add(trial.task, trial.picture.hits(&text));
                if let Some(other) = &trial.other {
                    self.other.add(trial.task, other.hits(&text));
                }
                self.millis.push(took.as_millis() as u64);
                usages[0] = usage;
            }
            AskOutcome::Rejected { status, class, text } => {
                self.rejections.push((status, class, text));
            }
            AskOutcome::Failed { why, .. } => self.failures.push(why),
        }
        match control {
            AskOutcome::Answer { text, usage, .. } => {
                self.control.add(trial.task, trial.picture.hits(&text));
                usages[1] = usage;
            }
            AskOutcome::Rejected { .. } => self.words_rejected = true,
            AskOutcome::Failed { why, .. } => self.failures.push(why),
        }
        if let [Some(with), Some(without)] = usages {
            self.excess.push((with.input.saturating_sub(without.input), trial.base64));
        }
    }

    /// Returns `true` if there are only rejections or failures, and enough of them.
    pub(crate) fn is_hopeless(&self, enough: u32) -> bool {
        let bad = self.rejections.len() + self.failures.len();
        self.shown.chances.is_empty() && bad >= enough as usize
    }

    /// The finding.
    pub(crate) fn finding(self, target: &ProbeTarget, subject: TestCase) -> ProbeFinding {
        let (verdict, why) = self.verdict();
        let pictures = if subject.place == PicturePosition::Parallel { 2 } else { 1 };
        let one = target.profile.image_tokens(subject.side, subject.side, None);
        let (billed, billed_tokens) = self.billed(one * pictures);
        let rejected = (verdict == Verdict::Rejects).then(|| self.rejections.first()).flatten();
        ProbeFinding {
            place: subject.place,
            format: subject.format,
            side: subject.side,
            verdict,
            why,
            class: rejected.map(|(_, class, _)| *class),
            hits: self.shown.hits,
            cells: self.shown.cells(),
            luck: self.shown.luck(),
            control_hits: self.control.hits,
            control_cells: self.control.cells(),
            other_hits: (!self.other.chances.is_empty()).then_some(self.other.hits),
            billed,
            billed_tokens,
            estimated_tokens: one * pictures,
            millis: median(self.millis),
        }
    }

    /// The verdict and its reason.
    fn verdict(&self) -> (Verdict, Option<String>) {
        if self.shown.chances.is_empty() {
            return self.unanswered();
        }
        if leaks(&self.control) {
            let why = "pictures that were not shown are known, too";
            return (Verdict::CannotTell, Some(why.to_owned()));
        }
        match judge(&self.shown, &self.control) {
            Verdict::Sees => (Verdict::Sees, None),
            _ if !self.other.chances.is_empty() && self.other.luck() <= PROOF => {
                (Verdict::Weak, Some("answers are about the other picture".to_owned()))
            }
            Verdict::CannotTell => {
                let why = self.failures.first().map(String::as_str).or(self.stopped);
                (Verdict::CannotTell, Some(why.unwrap_or("too few answers fit").to_owned()))
            }
            verdict => (verdict, None),
        }
    }

    /// The verdict if no request was answered.
    fn unanswered(&self) -> (Verdict, Option<String>) {
        let first = self.rejections.first();
        match (first, self.failures.first(), self.stopped) {
            (Some((status, _, text)), _, _) if self.words_rejected => {
                let why = format!("without a picture it is turned down, too: {status} {text}");
                (Verdict::CannotTell, Some(why))
            }
            (Some((status, class, text)), _, _) => {
                let name = serde_json::to_value(class).unwrap_or_default();
                let name = name.as_str().filter(|_| *class != Class::Unrelated);
                let name = name.map(|name| format!("{name}, ")).unwrap_or_default();
                (Verdict::Rejects, Some(format!("{name}status {status}: {text}")))
            }
            (None, Some(failure), _) => (Verdict::CannotTell, Some(failure.clone())),
            (None, None, stopped) => {
                (Verdict::CannotTell, Some(stopped.unwrap_or("nothing was asked").to_owned()))
            }
        }
    }

    /// The way in which pictures were billed, and the median of billed tokens.
    fn billed(&self, as_image: u64) -> (Billed, Option<u64>) {
        let Some(billed) = median(self.excess.iter().map(|(billed, _)| *billed).collect()) else {
            return (Billed::Unknown, None);
        };
        let base64 = median(self.excess.iter().map(|(_, base64)| *base64).collect());
        let excess = ExtraTokens { billed, as_image, base64: base64.unwrap_or_default() };
        (excess.billed_as(), Some(billed))
    }
}

/// The median.
fn median(mut numbers: Vec<u64>) -> Option<u64> {
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied()
}
