//! Sight comes and goes: a blind model is shown nothing, and the next one that sees is shown
//! exactly what it would have been shown anyway.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::exam::{Exam, Trial, trials_among};
use super::profiles::Twist;

proptest! {
    #![proptest_config(super::config())]

    #[test]
    fn a_blind_model_between_two_that_see_changes_nothing(trial in trials_among(3, &[Twist::Generic])) {
        restored(&trial)?;
    }
}

pub(super) fn restored(trial: &Trial) -> Result<(), TestCaseError> {
    let lowered = |twist| Exam::of(trial.talk(), trial.from, trial.to, twist);
    let (first, blind, again) =
        (lowered(Twist::Generic), lowered(Twist::TextOnly), lowered(Twist::Generic));
    let seen = blind.seen();
    if !(seen.images.is_empty() && seen.documents.is_empty()) {
        return blind.fail("a blind model is shown something");
    }
    if first.body != again.body {
        return first.fail("not the same bytes as before");
    }
    Ok(())
}
