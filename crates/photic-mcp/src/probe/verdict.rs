//! What answers to charts prove, by exact binomial tails.
//!
//! Owns the thresholds. Every cell of a chart is one of ten colors, each drawn by itself, so the
//! hits of somebody who cannot see are binomial at one in ten, whatever the strategy.

use photic_pixels::chart::chance_of_at_least;
use serde::Serialize;

/// A guess is right so often.
const CHANCE: f64 = 0.1;
/// Whoever sees names at least so many cells rightly; models confuse pink with red, not more.
const SIGHT: f64 = 0.75;
/// Luck this small is not luck: eyes.
const SEES: f64 = 1e-6;
/// An eye this unlucky is none.
const BLIND: f64 = 1e-3;
/// The chart that was not shown must not be known better than this.
const LEAK: f64 = 1e-3;

/// What a probe found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// The model sees the pixels of tool results.
    Sees,
    /// It does not.
    Blind,
    /// The answers fit neither, or the hidden chart was known as well.
    CannotTell,
}

/// Hits, and what they prove.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Finding {
    pub(crate) verdict: Verdict,
    /// How likely so many hits are without sight.
    pub(crate) luck: f64,
    /// The hidden chart was known, too.
    pub(crate) leaked: bool,
}

/// Judges hits on the chart that was shown and on the one that was not, out of `cells` each.
pub(crate) fn judge(hits: u32, control_hits: u32, cells: u32) -> Finding {
    let luck = tail(hits, cells, CHANCE);
    let leaked = tail(control_hits, cells, CHANCE) < LEAK;
    let verdict = if leaked {
        Verdict::CannotTell
    } else if luck < SEES {
        Verdict::Sees
    } else if tail(cells - hits, cells, 1.0 - SIGHT) < BLIND {
        Verdict::Blind
    } else {
        Verdict::CannotTell
    };
    Finding { verdict, luck, leaked }
}

/// The chance of so many hits or more.
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
        assert!(judge(10, 0, 16).luck < SEES && judge(9, 0, 16).luck > SEES);
        assert!(judge(0, 0, 16).luck > 0.999);
    }
}
