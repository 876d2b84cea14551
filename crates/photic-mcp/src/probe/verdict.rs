//! Verdicts on answers, by exact binomial tails.
//!
//! Every cell has one of ten colors, drawn independently. The hits of a blind model are therefore
//! binomial with probability one tenth, whatever its strategy.

use photic_pixels::chart::chance_of_at_least;
use serde::Serialize;

/// Probability that a guessed cell is right.
const GUESS_PROBABILITY: f64 = 0.1;
/// Share of cells that a seeing model names rightly at least. Models confuse pink with red, not
/// more.
const SIGHT_ACCURACY: f64 = 0.75;
/// Largest probability of the hits by guessing that counts as seeing.
const SEES_BELOW: f64 = 1e-6;
/// Largest probability of the misses with sight that counts as blind.
const BLIND_BELOW: f64 = 1e-3;
/// Smallest allowed probability of the hits on the hidden chart.
const LEAK_BELOW: f64 = 1e-3;

/// Verdict of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// The model sees the pixels of tool results.
    Sees,
    /// The model does not see them.
    Blind,
    /// The answers fit neither, or the hidden chart was known as well.
    CannotTell,
}

/// Verdict with its evidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Finding {
    pub(crate) verdict: Verdict,
    /// Probability of so many hits without sight.
    pub(crate) luck: f64,
    /// Set if the hidden chart was known, too.
    pub(crate) leaked: bool,
}

/// Judges the hits on the shown and the hidden chart, out of `cells` each.
pub(crate) fn judge(hits: u32, control_hits: u32, cells: u32) -> Finding {
    let luck = tail(hits, cells, GUESS_PROBABILITY);
    let leaked = tail(control_hits, cells, GUESS_PROBABILITY) < LEAK_BELOW;
    let verdict = if leaked {
        Verdict::CannotTell
    } else if luck < SEES_BELOW {
        Verdict::Sees
    } else if tail(cells - hits, cells, 1.0 - SIGHT_ACCURACY) < BLIND_BELOW {
        Verdict::Blind
    } else {
        Verdict::CannotTell
    };
    Finding { verdict, luck, leaked }
}

/// Returns the probability of at least so many hits.
fn tail(hits: u32, cells: u32, chance: f64) -> f64 {
    chance_of_at_least(hits, std::iter::repeat_n(chance, cells as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_by_hits() {
        for hits in 0..=16 {
            let expected = match hits {
                0..=5 => Verdict::Blind,
                6..=9 => Verdict::CannotTell,
                _ => Verdict::Sees,
            };
            assert_eq!(judge(hits, 1, 16).verdict, expected, "{hits} hits");
        }
    }

    #[test]
    fn knowing_the_hidden_chart_spoils_every_verdict() {
        for hits in 0..=16 {
            assert!(!judge(hits, 6, 16).leaked);
            let leaked = judge(hits, 7, 16);
            assert_eq!((leaked.verdict, leaked.leaked), (Verdict::CannotTell, true));
        }
    }

    #[test]
    fn guessing_never_passes_for_sight() {
        assert!(judge(10, 0, 16).luck < SEES_BELOW && judge(9, 0, 16).luck > SEES_BELOW);
        assert!(judge(0, 0, 16).luck > 0.999);
    }
}
