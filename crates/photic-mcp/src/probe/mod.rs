//! Charts that a host must show to its model, and what the model said about them.
//!
//! Owns the open challenges, in memory only: what a chart shows stands in no text, no metadata and
//! no log, so whoever names its colors has seen its pixels. Every challenge is judged once.

mod verdict;

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use photic_pixels::chart::{Chart, PALETTE, PLAIN_COLORS, colors};

pub(crate) use verdict::{Finding, Verdict, judge};

/// Cells of a chart.
pub(crate) const CELLS: u32 = 16;
/// Pixels of a chart: large enough to survive any host's own shrinking.
pub(crate) const SIZE: (u32, u32) = (512, 384);
/// Challenges that wait for an answer; the oldest give way.
const MOST: usize = 32;
/// How long they wait.
const PATIENCE: Duration = Duration::from_hours(1);

/// The open challenges of a server.
#[derive(Debug, Default)]
pub(crate) struct Probe {
    open: Mutex<VecDeque<Challenge>>,
}

struct Challenge {
    name: String,
    shown: Chart,
    /// A chart that nobody is shown: answers that fit it too did not come from pixels.
    hidden: Chart,
    since: Instant,
}

impl std::fmt::Debug for Challenge {
    /// Never the charts.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<challenge {}>", self.name)
    }
}

/// What was judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Judged {
    pub(crate) hits: u32,
    pub(crate) control_hits: u32,
    pub(crate) finding: Finding,
}

/// Why an answer was not judged; the challenge stays open, and nothing was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// No such challenge, or no longer.
    Unknown,
    /// Not one color for each cell of the shown chart.
    Answer,
    /// Not one color for each cell of the hidden chart.
    Control,
}

impl Probe {
    /// A new chart, by the name of its challenge.
    pub(crate) fn challenge(&self) -> Result<(String, Chart), getrandom::Error> {
        let name = format!("{:016x}", getrandom::u64()?);
        let shown = Chart::independent(getrandom::u64()?);
        let hidden = Chart::independent(getrandom::u64()?);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        while open.len() >= MOST {
            open.pop_front();
        }
        let challenge =
            Challenge { name: name.clone(), shown: shown.clone(), hidden, since: Instant::now() };
        open.push_back(challenge);
        Ok((name, shown))
    }

    /// Judges an answer, once.
    pub(crate) fn answer(&self, name: &str, answer: &str, control: &str) -> Result<Judged, Unfit> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|challenge| challenge.since.elapsed() < PATIENCE);
        let known = open.iter().position(|challenge| challenge.name == name);
        let at = known.ok_or(Unfit::Unknown)?;
        let said = colors(answer);
        // No color at all is an answer: nothing was seen.
        if !said.is_empty() && said.len() != CELLS as usize {
            return Err(Unfit::Answer);
        }
        let guessed = colors(control);
        if guessed.len() != CELLS as usize && !said.is_empty() {
            return Err(Unfit::Control);
        }
        let challenge = open.remove(at).ok_or(Unfit::Unknown)?;
        let (hits, control_hits) =
            (hits(&challenge.shown, &said), hits(&challenge.hidden, &guessed));
        Ok(Judged { hits, control_hits, finding: judge(hits, control_hits, CELLS) })
    }
}

/// The names of all colors, as the question lists them.
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
        // A guess is known too well once in two thousand times: then it says so.
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
        assert_eq!(probe.answer("0", &shown.words(), GUESS), Err(Unfit::Unknown));
        assert_eq!(probe.answer(&name, "red, green", GUESS), Err(Unfit::Answer));
        assert_eq!(probe.answer(&name, &shown.words(), "red"), Err(Unfit::Control));
        assert!(probe.answer(&name, &shown.words(), GUESS).is_ok());
        assert_eq!(probe.answer(&name, &shown.words(), GUESS), Err(Unfit::Unknown));
    }

    #[test]
    fn open_challenges_are_bounded_and_told_to_nobody() {
        let probe = Probe::default();
        let (first, _) = probe.challenge().unwrap();
        for _ in 0..MOST {
            probe.challenge().unwrap();
        }
        assert_eq!(probe.open.lock().unwrap().len(), MOST);
        assert_eq!(probe.answer(&first, GUESS, GUESS), Err(Unfit::Unknown));
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
