//! Probes: charts that a host must show to its model, and the model's answers.
//!
//! Open challenges are kept in memory only. The colors of a chart appear in no text, metadata or
//! log, so a model that names them has seen the pixels. Every challenge is judged once.

mod verdict;

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use photic_pixels::chart::{Chart, PALETTE, PLAIN_COLORS, colors};

pub(crate) use verdict::{Finding, Verdict, judge};

/// Cells of a chart.
pub(crate) const CELLS: u32 = 16;
/// Size of a chart in pixels, large enough for hosts that downscale.
pub(crate) const SIZE: (u32, u32) = (512, 384);
/// Largest number of open challenges; the oldest are dropped.
const MAX_CHALLENGES: usize = 32;
/// Lifetime of a challenge.
const CHALLENGE_LIFETIME: Duration = Duration::from_hours(1);

/// The open challenges of a server.
#[derive(Debug, Default)]
pub(crate) struct Probe {
    open: Mutex<VecDeque<Challenge>>,
}

struct Challenge {
    name: String,
    shown: Chart,
    /// A chart that is not shown: an answer that fits it did not come from pixels.
    hidden: Chart,
    since: Instant,
}

impl std::fmt::Debug for Challenge {
    /// Never shows the charts.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<challenge {}>", self.name)
    }
}

/// Result of a judged answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ProbeResult {
    pub(crate) hits: u32,
    pub(crate) control_hits: u32,
    pub(crate) finding: Finding,
}

/// Reason why an answer was not judged. The challenge stays open, and nothing is revealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerError {
    /// The challenge does not exist or has expired.
    Unknown,
    /// The answer does not have one color for each cell of the shown chart.
    Answer,
    /// The control does not have one color for each cell of the hidden chart.
    Control,
}

impl Probe {
    /// Creates a challenge. Returns its name and the chart to show.
    pub(crate) fn challenge(&self) -> Result<(String, Chart), getrandom::Error> {
        let name = format!("{:016x}", getrandom::u64()?);
        let shown = Chart::independent(getrandom::u64()?);
        let hidden = Chart::independent(getrandom::u64()?);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        while open.len() >= MAX_CHALLENGES {
            open.pop_front();
        }
        let challenge =
            Challenge { name: name.clone(), shown: shown.clone(), hidden, since: Instant::now() };
        open.push_back(challenge);
        Ok((name, shown))
    }

    /// Judges an answer and closes the challenge.
    pub(crate) fn answer(
        &self,
        name: &str,
        answer: &str,
        control: &str,
    ) -> Result<ProbeResult, AnswerError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|challenge| challenge.since.elapsed() < CHALLENGE_LIFETIME);
        let known = open.iter().position(|challenge| challenge.name == name);
        let at = known.ok_or(AnswerError::Unknown)?;
        let said = colors(answer);
        // An answer without colors is valid: nothing was seen.
        if !said.is_empty() && said.len() != CELLS as usize {
            return Err(AnswerError::Answer);
        }
        let guessed = colors(control);
        if guessed.len() != CELLS as usize && !said.is_empty() {
            return Err(AnswerError::Control);
        }
        let challenge = open.remove(at).ok_or(AnswerError::Unknown)?;
        let (hits, control_hits) =
            (hits(&challenge.shown, &said), hits(&challenge.hidden, &guessed));
        Ok(ProbeResult { hits, control_hits, finding: judge(hits, control_hits, CELLS) })
    }
}

/// Returns the color names in the order of the question.
pub(crate) fn names() -> Vec<&'static str> {
    PALETTE[..PLAIN_COLORS].iter().map(|(name, _)| *name).collect()
}

fn hits(chart: &Chart, said: &[usize]) -> u32 {
    chart.cells().zip(said).filter(|(cell, said)| cell == *said).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUESS: &str =
        "red, red, red, red / red, red, red, red / red, red, red, red / red, red, red, red";

    #[test]
    fn whoever_names_the_shown_chart_sees() {
        let probe = Probe::default();
        // A guess matches the hidden chart too well once in two thousand times, which is reported.
        let tries = (0..4).map(|_| {
            let (name, shown) = probe.challenge().unwrap();
            probe.answer(&name, &shown.words(), GUESS).unwrap()
        });
        let judged = tries.into_iter().find(|judged| !judged.finding.leaked).unwrap();
        assert_eq!((judged.hits, judged.finding.verdict), (CELLS, Verdict::Sees));
    }

    #[test]
    fn whoever_sees_nothing_may_say_so() {
        let probe = Probe::default();
        let (name, _) = probe.challenge().unwrap();
        let judged = probe.answer(&name, "I see no image.", "").unwrap();
        assert_eq!((judged.hits, judged.finding.verdict), (0, Verdict::Blind));
    }

    #[test]
    fn whoever_knows_the_hidden_chart_did_not_look() {
        let probe = Probe::default();
        let (name, shown) = probe.challenge().unwrap();
        let hidden = probe.open.lock().unwrap()[0].hidden.words();
        let judged = probe.answer(&name, &shown.words(), &hidden).unwrap();
        assert_eq!((judged.control_hits, judged.finding.verdict), (CELLS, Verdict::CannotTell));
    }

    #[test]
    fn a_challenge_is_judged_once_and_only_when_the_answer_is_whole() {
        let probe = Probe::default();
        let (name, shown) = probe.challenge().unwrap();
        assert_eq!(probe.answer("0", &shown.words(), GUESS), Err(AnswerError::Unknown));
        assert_eq!(probe.answer(&name, "red, green", GUESS), Err(AnswerError::Answer));
        assert_eq!(probe.answer(&name, &shown.words(), "red"), Err(AnswerError::Control));
        assert!(probe.answer(&name, &shown.words(), GUESS).is_ok());
        assert_eq!(probe.answer(&name, &shown.words(), GUESS), Err(AnswerError::Unknown));
    }

    #[test]
    fn open_challenges_are_bounded_and_told_to_nobody() {
        let probe = Probe::default();
        let (first, _) = probe.challenge().unwrap();
        for _ in 0..MAX_CHALLENGES {
            probe.challenge().unwrap();
        }
        assert_eq!(probe.open.lock().unwrap().len(), MAX_CHALLENGES);
        assert_eq!(probe.answer(&first, GUESS, GUESS), Err(AnswerError::Unknown));
        let told = format!("{probe:?}");
        assert!(names().iter().all(|color| !told.contains(color)), "{told}");
    }

    #[test]
    fn two_challenges_differ() {
        let probe = Probe::default();
        let ((one, first), (other, second)) =
            (probe.challenge().unwrap(), probe.challenge().unwrap());
        assert!(one != other && first != second);
    }
}
